"""Rows of the corpus for tests."""

import hashlib
from datetime import date

import factory
from factory.django import DjangoModelFactory

from corpus import models
from corpus.rights import LicenseClass


class SourceFactory(DjangoModelFactory):
    class Meta:
        model = models.Source

    identifier_type = "doi"
    identifier_value = factory.Sequence(lambda n: f"10.1234/work.{n}")
    title = factory.Sequence(lambda n: f"Work {n}")
    year = 2020


class EditorialEventFactory(DjangoModelFactory):
    class Meta:
        model = models.EditorialEvent

    source = factory.SubFactory(SourceFactory)
    kind = models.EditorialEvent.Kind.RETRACTION
    origin = models.EditorialEvent.Origin.CROSSREF
    happened_on = date(2020, 1, 1)


class DocumentFactory(DjangoModelFactory):
    """A document that is ready, with its rights established, and without passages of its own."""

    class Meta:
        model = models.Document

    title = factory.Sequence(lambda n: f"Document {n}")
    authors = ["Ada Lovelace"]
    year = 2020
    journal = "Journal of Biochar"
    license_class = LicenseClass.OPEN_COMMERCIAL.value
    content_sha256 = factory.Sequence(lambda n: hashlib.sha256(f"content {n}".encode()).hexdigest())
    file_sha256 = factory.Sequence(lambda n: hashlib.sha256(f"file {n}".encode()).hexdigest())
    file_name = factory.Sequence(lambda n: f"document-{n}.md")
    media_type = "text/markdown"
    parser = "markdown 1"
    page_count = 1
    chunk_count = 1
    state = models.Document.State.READY


class ChunkFactory(DjangoModelFactory):
    class Meta:
        model = models.Chunk

    document = factory.SubFactory(DocumentFactory)
    ordinal = factory.Sequence(lambda n: n)
    body = factory.Sequence(lambda n: f"Passage {n} speaks of biochar.")
    content = factory.LazyAttribute(lambda row: f"{row.document.title}\n{row.body}")
    token_count = 5
    content_sha256 = factory.LazyAttribute(lambda row: hashlib.sha256(row.body.encode()).hexdigest())
    rank_key = factory.Sequence(lambda n: n)
    search_heading = factory.LazyAttribute(lambda row: row.document.title)
    search_body = factory.LazyAttribute(lambda row: row.body)


class IngestionRunFactory(DjangoModelFactory):
    class Meta:
        model = models.IngestionRun

    origin = "papers/manifest.jsonl"


class IngestionItemFactory(DjangoModelFactory):
    class Meta:
        model = models.IngestionItem

    run = factory.SubFactory(IngestionRunFactory)
    path = factory.Sequence(lambda n: f"papers/{n}.pdf")
    outcome = models.IngestionItem.Outcome.READY
