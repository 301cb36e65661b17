"""Routes of the site."""

from django.contrib import admin
from django.urls import include, path

from sci_rag_site import views
from sci_rag_site.health.page import page as doctor_page
from sci_rag_site.health.system_page import page as system_page
from sci_rag_site.metrics.views import metrics

admin.autodiscover()

urlpatterns = [
    path("", include("answers.urls")),
    path("", include("answers.notebook.urls")),
    path("", include("corpus.urls")),
    path("", include("evaluation.urls")),
    path("", include("retrieval.urls")),
    path("", include("evaluation.calibration.urls")),
    path("", include("corpus.urls_accounts")),
    path("theme/", views.set_theme, name="theme"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("doctor/", doctor_page, name="doctor"),
    path("system/", system_page, name="system"),
    path("admin/", admin.site.urls),
    path("api/", include("sci_rag_site.api")),
]

handler400 = "sci_rag_site.views.bad_request"
handler403 = "sci_rag_site.views.forbidden"
handler404 = "sci_rag_site.views.not_found"
handler500 = "sci_rag_site.views.server_error"
