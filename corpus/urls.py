"""Routes of the corpus pages."""

from django.urls import include, path

from corpus import views, views_access, views_library, views_runs, views_uploads
from corpus.views_pages import page_image

urlpatterns = [
    path("", include("corpus.usage.urls")),
    path("", include("corpus.campaigns.urls")),
    path("documents/", views.documents, name="documents"),
    path("documents/why/", views_access.why, name="why"),
    path("documents/why/request/", views_access.access_request, name="access_request"),
    path("documents/upload/", views_uploads.upload, name="upload"),
    path("documents/upload/file/", views_uploads.upload_file, name="upload_file"),
    path("documents/upload/manifest/", views_uploads.upload_manifest, name="upload_manifest"),
    path("documents/upload/library/", views_library.upload_library, name="upload_library"),
    path("documents/<uuid:document_id>/", views.document, name="document"),
    path("documents/<uuid:document_id>/pages/<int:number>.webp", page_image, name="page_image"),
    path("runs/", views_runs.run_list, name="runs"),
    path("runs/<uuid:run_id>/", views_runs.run, name="run"),
    path("runs/<uuid:run_id>/events/", views_runs.run_events, name="run_events"),
    path("runs/<uuid:run_id>/cancel/", views_runs.run_cancel, name="run_cancel"),
    path("runs/<uuid:run_id>/retry/", views_runs.run_retry, name="run_retry"),
    path("passages/<uuid:passage_id>/", views.passage, name="passage"),
]
