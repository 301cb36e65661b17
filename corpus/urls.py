"""Routes of the corpus pages."""

from django.urls import path

from corpus import views

urlpatterns = [
    path("documents/", views.documents, name="documents"),
    path("documents/<uuid:document_id>/", views.document, name="document"),
    path("passages/<uuid:passage_id>/", views.passage, name="passage"),
]
