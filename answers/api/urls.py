"""Routes of answers' part of the API."""

from django.urls import path

from answers.api.answering import AnswerView
from answers.notebook.api import Notes

urlpatterns = [
    path("answer", AnswerView.as_view(), name="api_answer"),
    path("notes", Notes.as_view(), name="api_notes"),
]
