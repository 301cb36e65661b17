"""Routes of asking and of stored answers."""

from django.urls import path

from answers import views, views_conversations, views_exports, views_feedback, views_notices

urlpatterns = [
    path("", views.ask, name="ask"),
    path("scope/", views.scope_line, name="scope"),
    path("ask/stream/", views.answer_stream, name="answer_stream"),
    path("answers/", views_conversations.history, name="answers"),
    path("answers/<uuid:answer_id>/", views.answer, name="answer"),
    path("answers/<uuid:answer_id>/wrong/", views_feedback.wrong, name="answer_wrong"),
    path("answers/<uuid:answer_id>/acquire/", views_feedback.acquire, name="answer_acquire"),
    path("answers/<uuid:answer_id>/export/<slug:form>/", views_exports.answer_export, name="answer_export"),
    path("conversations/<uuid:conversation_id>/", views_conversations.conversation, name="conversation"),
    path(
        "conversations/<uuid:conversation_id>/rename/", views_conversations.rename, name="conversation_rename"
    ),
    path(
        "conversations/<uuid:conversation_id>/delete/", views_conversations.delete, name="conversation_delete"
    ),
    path(
        "conversations/<uuid:conversation_id>/export/<slug:form>/",
        views_exports.conversation_export,
        name="conversation_export",
    ),
    path("notices/", views_notices.notices, name="notices"),
    path("notices/read/", views_notices.notices_read, name="notices_read"),
]
