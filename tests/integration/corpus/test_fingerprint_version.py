"""The second version of the fingerprint: passages and successors enter it, and the first is told apart."""

import pytest

from corpus import fingerprint_form
from corpus.fingerprint import fingerprint, seal_passages
from corpus.ingestion import ingest
from corpus.inputs import from_paths
from corpus.models import Chunk, Document
from corpus.scope import scope
from evaluation.reports.comparison import Incomparable, compare
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.integration.corpus.ingesting import HashEmbedder, paper, write

pytestmark = pytest.mark.django_db
OPEN = scope(license_classes=["public"])


def test_a_chunker_that_cuts_other_passages_of_the_same_words_changes_it():
    document = DocumentFactory()
    chunk = ChunkFactory(document=document, ordinal=0, content="Straw gave 210 litres.")
    seal_passages(document.pk)
    before = fingerprint(scope())

    Chunk.objects.filter(pk=chunk.pk).update(content="Straw gave 21")
    assert fingerprint(scope()) == before
    seal_passages(document.pk)

    assert fingerprint(scope()) != before


@pytest.mark.django_db(transaction=True)
def test_what_is_taken_in_is_sealed_and_the_same_files_give_the_same(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    path = write(tmp_path, "a.md", paper("90 days"))

    def taken() -> tuple[str, str]:
        ingest(from_paths([path]), embedder=HashEmbedder())
        found = Document.objects.get()
        return found.passages_sha256, fingerprint(scope())

    first = taken()
    Document.objects.all().delete()

    assert (len(first[0]), taken()) == (64, first)


def test_a_successor_enters_it_as_far_as_the_scope_knows_of_it():
    old, new = DocumentFactory(license_class="public"), DocumentFactory(license_class="public")
    hidden = DocumentFactory(license_class="restricted")
    Document.objects.filter(pk=old.pk).update(status="superseded")
    unlinked = fingerprint(OPEN)

    Document.objects.filter(pk=old.pk).update(superseded_by=new)
    linked = fingerprint(OPEN)
    Document.objects.filter(pk=old.pk).update(superseded_by=hidden)

    assert linked != unlinked
    assert fingerprint(OPEN) == unlinked
    assert fingerprint(scope()) != unlinked


def test_a_fingerprint_says_its_version():
    value = fingerprint(scope())

    assert (len(value), value[:2]) == (64, "2-")
    assert [fingerprint_form.version_of(each) for each in (value, "a" * 64, "")] == [2, 1, 0]


def test_reports_under_another_version_are_not_comparable_and_say_why():
    def report(value: str) -> dict[str, object]:
        same = {"kind": "retrieval", "question_set": {"sha256": "q"}, "judge": "", "questions": []}
        return same | {"fingerprint": value, "numbers": {"configurations": [{"name": "full_deep"}]}}

    with pytest.raises(Incomparable, match="made under fingerprint version 1, not comparable"):
        compare(report("a" * 64), report(fingerprint_form.marked("a" * 64)))
    with pytest.raises(Incomparable, match=r"differs \(2-aaaaaaaaaa and 2-bbbbbbbbbb\)"):
        compare(report(fingerprint_form.marked("a" * 64)), report(fingerprint_form.marked("b" * 64)))
