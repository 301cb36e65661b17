"""Rows of the knowledge graph for tests."""

import factory
from factory.django import DjangoModelFactory

from retrieval import models
from retrieval.graph.naming import entity_id, key_of
from tests.factories.corpus import ChunkFactory


class EntityFactory(DjangoModelFactory):
    class Meta:
        model = models.Entity

    name = factory.Sequence(lambda n: f"Feedstock {n}")
    type = "material"
    key = factory.LazyAttribute(lambda row: key_of(row.name))
    id = factory.LazyAttribute(lambda row: entity_id(entity_type=row.type, key=row.key))


class MentionFactory(DjangoModelFactory):
    class Meta:
        model = models.Mention

    entity = factory.SubFactory(EntityFactory)
    chunk = factory.SubFactory(ChunkFactory)
    document = factory.LazyAttribute(lambda row: row.chunk.document)
    start = 0
    surface = factory.LazyAttribute(lambda row: row.entity.name)
    surface_key = factory.LazyAttribute(lambda row: key_of(row.surface))


class DescriptionFactory(DjangoModelFactory):
    class Meta:
        model = models.Description

    entity = factory.SubFactory(EntityFactory)
    chunk = factory.SubFactory(ChunkFactory)
    document = factory.LazyAttribute(lambda row: row.chunk.document)
    start = 0
    quote = factory.LazyAttribute(lambda row: row.chunk.body)


class RelationshipFactory(DjangoModelFactory):
    class Meta:
        model = models.Relationship

    source = factory.SubFactory(EntityFactory)
    target = factory.SubFactory(EntityFactory)
    chunk = factory.SubFactory(ChunkFactory)
    document = factory.LazyAttribute(lambda row: row.chunk.document)
    type = "produces"
    start = 0
    quote = factory.LazyAttribute(lambda row: f"{row.source.name} produces {row.target.name}.")
    confidence = 1.0
