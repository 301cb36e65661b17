"""Deleting a document: nothing made from it stays, and the certificate shows it."""

import uuid

import pytest

from corpus import storage
from corpus.actions import deletion
from corpus.actions.supersession import supersede
from corpus.models import Chunk, ChunkEmbedding, Document, IngestionItem, RightsDecision, Source
from tests.integration.corpus.ingesting import only, paper, take, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"


def test_a_document_goes_with_everything_and_the_certificate_counts_it(tmp_path):
    kept = only(take(write(tmp_path, "kept.md", paper("30 days")))).document
    gone = only(take(write(tmp_path, "gone.md", paper("90 days")))).document
    file_sha256 = Document.objects.get(pk=gone).file_sha256

    certificate = deletion.delete(document_id=gone)

    assert certificate.is_complete
    assert set(certificate.before) == set(certificate.after)
    assert certificate.before["documents"] == 1
    assert certificate.before["chunks (document)"] == 3
    assert certificate.before["chunk embeddings (document)"] == 3
    assert certificate.before["original file"] == 1
    assert not storage.path_of(file_sha256).exists()
    assert list(Document.objects.values_list("pk", flat=True)) == [kept]
    assert (Chunk.objects.count(), ChunkEmbedding.objects.count(), Source.objects.count()) == (3, 3, 1)


def test_the_record_of_the_run_and_of_rights_outlives_the_document(tmp_path):
    gone = only(take(write(tmp_path, "gone.md", paper("90 days")))).document
    RightsDecision.objects.create(
        document_id=gone, document_title="A", signal="quoted from it", evidence="and more", note="of A",
        from_class="unknown", to_class="public", process="test",
    )  # fmt: skip

    assert deletion.delete(document_id=gone).is_complete

    decision = RightsDecision.objects.get()
    assert (decision.document_id, decision.to_class, decision.process) == (gone, "public", "test")
    assert (decision.document_title, decision.signal, decision.evidence, decision.note) == ("",) * 4
    item = IngestionItem.objects.get()
    assert (item.outcome, item.document) == ("ready", None)


def test_a_work_that_can_be_found_by_its_identifier_stays(tmp_path):
    gone = only(take(write(tmp_path, "gone.md", paper("90 days")))).document
    Source.objects.update(identifier_type="doi", identifier_value="10.1000/abc")

    deletion.delete(document_id=gone)

    assert Source.objects.count() == 1


def test_what_the_document_superseded_is_current_again(tmp_path):
    old = Document.objects.get(pk=only(take(write(tmp_path, "old.md", paper("30 days")))).document)
    new = Document.objects.get(pk=only(take(write(tmp_path, "new.md", paper("90 days")))).document)
    supersede(old=old, new=new)

    assert deletion.delete(document_id=new.pk).is_complete

    old.refresh_from_db()
    assert (old.status, old.superseded_by) == ("current", None)


def test_looking_first_deletes_nothing(tmp_path):
    held = only(take(write(tmp_path, "held.md", paper("90 days")))).document

    certificate = deletion.preview(document_id=held)

    assert certificate.before["chunks (document)"] == 3
    assert Document.objects.count() == 1


def test_a_document_that_is_not_there_is_an_error():
    with pytest.raises(Document.DoesNotExist):
        deletion.delete(document_id=uuid.uuid4())


def test_the_same_text_can_be_taken_in_again_after_deletion(tmp_path):
    path = write(tmp_path, "a.md", paper("90 days"))
    deletion.delete(document_id=only(take(path)).document)

    assert only(take(path)).outcome == "ready"
