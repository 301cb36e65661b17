"""Routes of asking and of stored answers."""

from django.urls import path

from answers import views

urlpatterns = [
    path("", views.ask, name="ask"),
    path("scope/", views.scope_line, name="scope"),
    path("ask/stream/", views.answer_stream, name="answer_stream"),
    path("answers/", views.history, name="answers"),
    path("answers/<uuid:answer_id>/", views.answer, name="answer"),
]
