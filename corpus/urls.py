"""Routes of the corpus pages."""

from django.urls import path

from corpus import views
from corpus.views_pages import page_image

urlpatterns = [
    path("documents/", views.documents, name="documents"),
    path("documents/<uuid:document_id>/", views.document, name="document"),
    path("documents/<uuid:document_id>/pages/<int:number>.webp", page_image, name="page_image"),
    path("passages/<uuid:passage_id>/", views.passage, name="passage"),
]
