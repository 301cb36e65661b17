"""Routes of the knowledge graph."""

from django.urls import path

from retrieval import views_extractions, views_graph

urlpatterns = [
    path("graph/", views_graph.entities, name="entities"),
    path("graph/entities/<uuid:entity_id>/", views_graph.entity, name="entity"),
    path("graph/entities/<uuid:entity_id>/passages/", views_graph.entity_passages, name="entity_passages"),
    path("graph/entities/<uuid:entity_id>/evidence/", views_graph.entity_evidence, name="entity_evidence"),
    path("graph/runs/", views_extractions.extractions, name="extractions"),
    path("graph/runs/<uuid:extraction_id>/", views_extractions.extraction, name="extraction"),
    path(
        "graph/runs/<uuid:extraction_id>/events/",
        views_extractions.extraction_events,
        name="extraction_events",
    ),
]
