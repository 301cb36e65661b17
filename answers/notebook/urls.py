"""Routes of the notebook."""

from django.urls import path

from answers.notebook import views, views_exports, views_sources

urlpatterns = [
    path("notes/", views.notes, name="notes"),
    path("notes/new/", views.note_new, name="note_new"),
    path("notes/export/<slug:form>/", views_exports.notes_export, name="notes_export"),
    path("notes/<uuid:note_id>/", views.note, name="note"),
    path("notes/<uuid:note_id>/edit/", views.note_edit, name="note_edit"),
    path("notes/<uuid:note_id>/delete/", views.note_delete, name="note_delete"),
    path("notes/<uuid:note_id>/restore/", views.note_restore, name="note_restore"),
    path("notes/<uuid:note_id>/sources/", views_sources.note_cite, name="note_cite"),
    path("notes/<uuid:note_id>/sources/<int:number>/", views_sources.note_source, name="note_source"),
    path("notes/<uuid:note_id>/export/<slug:form>/", views_exports.note_export, name="note_export"),
    path("answers/<uuid:answer_id>/note/", views_sources.answer_note, name="answer_note"),
]
