"""Routes of calibration."""

from django.urls import path

from evaluation.calibration import views

urlpatterns = [
    path("calibration/", views.calibrations, name="calibrations"),
    path("calibration/new/", views.calibration_new, name="calibration_new"),
    path("calibration/<uuid:queue_id>/", views.calibration, name="calibration"),
    path("calibration/<uuid:queue_id>/agreement/", views.calibration_agreement, name="calibration_agreement"),
    path("calibration/<uuid:queue_id>/finish/", views.calibration_finish, name="calibration_finish"),
    path("calibration/<uuid:queue_id>/labels.jsonl", views.calibration_labels, name="calibration_labels"),
    path("calibration/items/<uuid:item_id>/", views.calibration_item, name="calibration_item"),
    path("calibration/items/<uuid:item_id>/skip/", views.calibration_skip, name="calibration_skip"),
]
