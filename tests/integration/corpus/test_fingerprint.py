"""The fingerprint: changes with what one may see, and with nothing else."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from corpus.fingerprint import fingerprint
from corpus.models import Document, EmbeddingVersion, Source
from corpus.scope import scope
from tests.factories.corpus import DocumentFactory, SourceFactory

pytestmark = pytest.mark.django_db

OPEN = scope(license_classes=["public", "open_commercial"])


def test_it_is_one_statement_whatever_the_corpus_holds():
    DocumentFactory.create_batch(3)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        value = fingerprint(scope())

    assert len(queries) == 1
    assert len(value) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"license_class": "public"},
        {"status": "superseded"},
        {"content_sha256": "0" * 64},
        {"extra": {"chunking": {"chunk_tokens": 400}}},
        {"no_derivatives": True},
    ],
)
def test_it_changes_with_each_thing_that_changes_answers(change):
    document = DocumentFactory()
    before = fingerprint(scope())

    Document.objects.filter(pk=document.pk).update(**change)

    assert fingerprint(scope()) != before


def test_it_changes_with_a_retraction_and_with_the_embedding():
    document = DocumentFactory(source=SourceFactory())
    plain = fingerprint(scope())
    EmbeddingVersion.objects.create(name="hash@8", dimensions=8, is_active=True)
    embedded = fingerprint(scope())
    Source.objects.filter(pk=document.source_id).update(is_retracted=True)

    assert len({plain, embedded, fingerprint(scope())}) == 3


def test_what_the_scope_hides_does_not_enter_it():
    DocumentFactory(license_class="public")
    before = fingerprint(OPEN)

    hidden = DocumentFactory(license_class="restricted")
    DocumentFactory(license_class="public", state="needs_ocr", chunk_count=0)
    after = fingerprint(OPEN)
    hidden.delete()

    assert before == after == fingerprint(OPEN)
    assert fingerprint(scope()) == fingerprint(OPEN)


def test_names_and_dates_do_not_enter_it():
    document = DocumentFactory()
    before = fingerprint(scope())

    Document.objects.filter(pk=document.pk).update(file_name="other.md", title="Other")

    assert fingerprint(scope()) == before


def test_a_denied_scope_has_a_fingerprint_and_touches_no_table():
    with CaptureQueriesContext(connection) as queries:
        value = fingerprint(scope(license_classes=[]))

    assert len(queries) == 0
    assert len(value) == 64
