"""Routes of retrieval's part of the API."""

from django.urls import path

from retrieval.api import views

urlpatterns = [
    path("query", views.QueryView.as_view(), name="api_query"),
    path("entities", views.Entities.as_view(), name="api_entities"),
]
