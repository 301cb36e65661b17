"""Fixity: what is kept is compared with what was taken in, and a difference is said everywhere."""

import json
from datetime import timedelta

import pytest
from click.testing import CliRunner
from django.urls import reverse
from django.utils import timezone

from corpus import fixity, storage, tasks, waiting
from corpus.audit.models import AuditEvent
from corpus.cli import corpus as commands
from corpus.models import Chunk, Document
from sci_rag_site.health import database
from sci_rag_site.health.findings import Status
from tests.integration.corpus.ingesting import paper, take, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def document(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    take(write(tmp_path, "a.md", paper("90 days")))
    return Document.objects.get()


def flip_a_byte(document):
    path = storage.path_of(document.file_sha256)
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(content)


def found():
    (item,) = fixity.verify(Document.objects.all())
    return item.fixity


def test_what_was_not_touched_is_unchanged_and_the_check_is_dated(document):
    assert found() == ""

    document.refresh_from_db()
    assert document.fixity == ""
    assert timezone.now() - document.fixity_checked_at < timedelta(minutes=1)


def test_a_flipped_bit_a_lost_file_and_a_changed_passage_each_have_their_name(document):
    flip_a_byte(document)
    assert found() == "original_changed"

    storage.remove(document.file_sha256)
    assert found() == "original_missing"

    Chunk.objects.filter(ordinal=0).update(body="Something else.")
    assert found() == "passages_changed"


def test_a_restored_file_is_unchanged_again(document):
    original = storage.path_of(document.file_sha256).read_bytes()
    flip_a_byte(document)
    found()

    storage.path_of(document.file_sha256).write_bytes(original)

    assert found() == ""
    document.refresh_from_db()
    assert document.fixity == ""


def test_the_task_finds_a_flipped_bit_within_one_cycle(document, tmp_path):
    take(write(tmp_path, "b.md", paper("30 days")))
    flip_a_byte(document)

    tasks.verify_originals()
    tasks.verify_originals()

    assert list(Document.objects.exclude(fixity="").values_list("pk", flat=True)) == [document.pk]
    assert not Document.objects.filter(fixity_checked_at__isnull=True).exists()


def test_the_part_ends_when_its_time_is_up_and_the_next_goes_on(document, tmp_path):
    take(write(tmp_path, "b.md", paper("30 days")))

    assert fixity.verify_due(seconds=0) == 1
    assert fixity.verify_due(seconds=0) == 1
    assert fixity.verify_due(seconds=0) == 0


def test_the_command_names_what_changed_and_exits_with_one(document):
    whole = CliRunner().invoke(commands, ["verify"])
    flip_a_byte(document)
    changed = CliRunner().invoke(commands, ["verify", "--json"])

    assert (whole.exit_code, changed.exit_code) == (0, 1)
    assert json.loads(changed.stdout) == {
        "checked": 1,
        "changed": [{"document": str(document.pk), "title": "A paper", "reason": "original_changed"}],
    }


def test_readers_librarians_and_the_doctor_are_told(document, librarian, client):
    flip_a_byte(document)
    found()
    client.force_login(librarian)

    page = client.get(reverse("document", args=[document.pk])).content.decode()
    desk = client.get(reverse("admin:corpus_document_change", args=[document.pk])).content.decode()
    listed = client.get(reverse("admin:corpus_document_changelist"), {"standing": "changed"}).content.decode()

    assert "Changed since ingested" in page
    assert "The original file is not the one taken in" in desk
    assert "A paper" in listed
    assert {str(item.label): item.count for item in waiting.waiting(librarian)}[
        "Documents changed since they were taken in"
    ] == 1
    findings = {item.name: item for item in database.corpus()}
    assert findings["changed documents"].status is Status.FAIL


def test_the_doctor_says_when_no_check_came_round(document):
    Document.objects.update(ingested_at=timezone.now() - timedelta(days=30))
    assert {item.name: item.status for item in database.corpus()}["unverified documents"] is Status.WARN

    found()

    assert {item.name: item.status for item in database.corpus()}["unverified documents"] is Status.OK


def test_a_change_is_put_on_record_once(document):
    flip_a_byte(document)
    found()
    found()

    record = AuditEvent.objects.get(kind="fixity.changed")
    assert record.about == {"document": str(document.pk), "was": "", "now": "original_changed"}
