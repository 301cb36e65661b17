"""Routes of campaigns."""

from django.urls import path

from corpus.campaigns import views, views_review, views_runs

urlpatterns = [
    path("campaigns/", views.campaigns, name="campaigns"),
    path("campaigns/new/", views.campaign_new, name="campaign_new"),
    path("campaigns/runs/<uuid:run_id>/", views_runs.campaign_run, name="campaign_run"),
    path("campaigns/runs/<uuid:run_id>/events/", views_runs.campaign_run_events, name="campaign_run_events"),
    path("campaigns/runs/<uuid:run_id>/cancel/", views_runs.campaign_run_cancel, name="campaign_run_cancel"),
    path("campaigns/<uuid:campaign_id>/", views.campaign, name="campaign"),
    path("campaigns/<uuid:campaign_id>/flow.svg", views.campaign_flow, name="campaign_flow"),
    path("campaigns/<uuid:campaign_id>/search/", views.campaign_search, name="campaign_search"),
    path("campaigns/<uuid:campaign_id>/works/", views.campaign_works, name="campaign_works"),
    path("campaigns/<uuid:campaign_id>/screen/", views.campaign_screen, name="campaign_screen"),
    path("campaigns/<uuid:campaign_id>/review/", views_review.campaign_review, name="campaign_review"),
    path("campaigns/<uuid:campaign_id>/review/undo/", views_review.campaign_undo, name="campaign_undo"),
    path("campaigns/<uuid:campaign_id>/build/", views.campaign_build, name="campaign_build"),
]
