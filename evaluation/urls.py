"""Routes of evaluation."""

from django.urls import path

from evaluation import (
    views_answers,
    views_compression,
    views_import,
    views_questions,
    views_reported,
    views_runs,
)

urlpatterns = [
    path("evaluation/", views_runs.evaluations, name="evaluations"),
    path("evaluation/start/", views_runs.evaluation_start, name="evaluation_start"),
    path(
        "evaluation/start/answers/", views_answers.evaluation_start_answers, name="evaluation_start_answers"
    ),
    path("evaluation/compression/", views_compression.compression_decisions, name="compression_decisions"),
    path(
        "evaluation/compression/<uuid:decision_id>/",
        views_compression.compression_decision,
        name="compression_decision",
    ),
    path("evaluation/compare/", views_runs.evaluation_compare, name="evaluation_compare"),
    path("evaluation/<uuid:evaluation_id>/", views_runs.evaluation, name="evaluation"),
    path("evaluation/<uuid:evaluation_id>/events/", views_runs.evaluation_events, name="evaluation_events"),
    path("evaluation/<uuid:evaluation_id>/cancel/", views_runs.evaluation_cancel, name="evaluation_cancel"),
    path(
        "evaluation/<uuid:evaluation_id>/plots/<slug:plot>.svg",
        views_runs.evaluation_plot,
        name="evaluation_plot",
    ),
    path(
        "evaluation/<uuid:evaluation_id>/report.<slug:form>",
        views_runs.evaluation_report,
        name="evaluation_report",
    ),
    path(
        "evaluation/<uuid:evaluation_id>/questions/<int:number>/",
        views_runs.evaluation_question,
        name="evaluation_question",
    ),
    path(
        "evaluation/<uuid:evaluation_id>/continue/",
        views_answers.evaluation_continue,
        name="evaluation_continue",
    ),
    path("evaluation/<uuid:evaluation_id>/retry/", views_answers.evaluation_retry, name="evaluation_retry"),
    path(
        "evaluation/<uuid:evaluation_id>/answers/<int:number>/",
        views_answers.evaluation_answer,
        name="evaluation_answer",
    ),
    path("questions/", views_questions.question_sets, name="question_sets"),
    path("questions/<uuid:question_id>/", views_questions.question, name="question"),
    path("questions/<uuid:question_id>/edit/", views_questions.question_edit, name="question_edit"),
    path("questions/<uuid:question_id>/sign/", views_questions.question_sign, name="question_sign"),
    path("questions/<uuid:question_id>/unsign/", views_questions.question_unsign, name="question_unsign"),
    path("questions/<uuid:question_id>/retire/", views_questions.question_retire, name="question_retire"),
    path("questions/in/<str:set_name>/", views_questions.questions, name="questions"),
    path("questions/reported/", views_reported.reported_answers, name="reported_answers"),
    path("questions/reported/<uuid:report_id>/", views_reported.reported_question, name="reported_question"),
    path(
        "questions/reported/<uuid:report_id>/dismiss/",
        views_reported.reported_dismiss,
        name="reported_dismiss",
    ),
    path("questions/in/<str:set_name>/import/", views_import.questions_import, name="questions_import"),
    path("questions/in/<str:set_name>/new/", views_questions.question_new, name="question_new"),
    path(
        "questions/in/<str:set_name>/export.<slug:form>",
        views_questions.questions_export,
        name="questions_export",
    ),
]
