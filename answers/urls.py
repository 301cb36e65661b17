"""Routes of asking and of stored answers."""

from django.urls import path

from answers import views, views_notices

urlpatterns = [
    path("", views.ask, name="ask"),
    path("scope/", views.scope_line, name="scope"),
    path("ask/stream/", views.answer_stream, name="answer_stream"),
    path("answers/", views.history, name="answers"),
    path("answers/<uuid:answer_id>/", views.answer, name="answer"),
    path("notices/", views_notices.notices, name="notices"),
    path("notices/read/", views_notices.notices_read, name="notices_read"),
]
