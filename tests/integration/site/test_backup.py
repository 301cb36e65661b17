"""Backups of a database that is in use: what is in them, what is refused, and that they can be had back."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from django.db import connection
from django.utils import timezone

from corpus import storage
from corpus.actions import rights
from corpus.audit.models import AuditEvent
from corpus.backups import BackupRun
from corpus.models import Document
from sci_rag_site import tasks
from sci_rag_site.backup import checking, drill, making, questions, restoring, state, unfinished
from sci_rag_site.backup.errors import BackupError, Newer, Unfit
from sci_rag_site.commands import preparation
from sci_rag_site.health import database
from sci_rag_site.health.findings import Status
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.factories.evaluation import QuestionFactory

pytestmark = pytest.mark.django_db
# A backup is of one moment, which a test's own transaction is not.
in_the_open = pytest.mark.django_db(transaction=True)


def quiet(*_: object) -> None:
    """Progress that nobody looks at."""


def made(path: Path) -> making.Made:
    return making.make(path, passphrase=None, by="ada", say=quiet, progress=quiet)


def checked(path: Path) -> checking.Checked:
    return checking.check(path, passphrase=None, progress=quiet)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """A document with an original, a passage, a decision about its rights, and a question about it."""
    original = tmp_path / "paper.md"
    original.write_text("Biochar holds water.")
    sha256 = hashlib.sha256(original.read_bytes()).hexdigest()
    storage.store(original, sha256)
    document = DocumentFactory(file_sha256=sha256)
    ChunkFactory(document=document, body="Biochar holds “water”\tand \\ lines\nof their own.", ordinal=0)
    QuestionFactory(question="What holds water?")
    return document


@in_the_open
def test_a_backup_of_a_corpus_can_be_had_back_with_everything_equal(
    tmp_path: Path, document: Document, librarian: Any, settings: Any
) -> None:
    rights.set_license(documents=[document], license_class="restricted", by=librarian, evidence="")
    settings.VAR_DIR = tmp_path
    (tmp_path / "drill-killed").mkdir()
    tmp_path.chmod(0o755)

    backup = made(tmp_path / "b.backup")
    tasks.drill_backups()
    assert not BackupRun.objects.filter(kind="drill").exists()
    assert drill.due()
    drilled = drill.drill(drill.last_backup(), passphrase_file=None, by="the worker")

    told = drilled.told
    assert (told["documents"], told["passages"], told["originals"], told["questions"]) == (1, 1, 1, 1)
    assert told["fingerprint"] == backup.fingerprint == state.corpus_state().fingerprint
    # The last record is of the backup itself.
    assert told["links"] == int(state.audit_head().partition(":")[0]) - 1 > 0
    assert told["fingerprint_compared"]
    assert not list(tmp_path.glob("drill-*"))
    assert AuditEvent.objects.get(kind=AuditEvent.Kind.EXPORTED).about["what"] == "backup"
    # The backup's own record was written while it was made.
    assert told["rows"] == backup.rows
    records = {row.kind: row for row in BackupRun.objects.all()}
    assert {row.state for row in records.values()} == {BackupRun.State.DONE}
    assert (records["backup"].by_name, records["drill"].by_name) == ("ada", "the worker")
    assert records["backup"].size == (tmp_path / "b.backup").stat().st_size
    assert not drill.due()
    settings.SCI_RAG_DRILL_WEEKLY = True
    tasks.drill_backups()
    assert BackupRun.objects.filter(kind="drill").count() == 1


@in_the_open
def test_a_backup_is_of_its_owner_only_and_says_what_is_in_it(tmp_path: Path, document: Document) -> None:
    backup = made(tmp_path / "b")

    found = checked(tmp_path / "b")
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600
    assert found.manifest["tables"]["corpus_document"]["rows"] == 1
    assert found.manifest["fingerprint"] == backup.fingerprint
    assert [one["kind"] for one in found.manifest["questions"]] == ["question"]
    assert questions.differing(found.manifest["questions"]) == []
    assert "TABLE DATA public corpus_chunk" in found.contents
    assert " EXTENSION " not in found.contents


@in_the_open
def test_a_changed_row_is_another_hash_and_a_changed_corpus_finds_something_else(
    tmp_path: Path, document: Document
) -> None:
    made(tmp_path / "b")
    before, stored = state.rows(quiet), checked(tmp_path / "b").manifest["questions"]

    document.chunks.all().delete()

    after = state.rows(quiet)
    changed = {name for name in before if before[name] != after[name]}
    assert {"corpus_chunk"} <= changed <= {"corpus_chunk", "corpus_backuprun"}
    assert questions.differing(stored) == [stored[0]["id"]]


@in_the_open
def test_originals_that_are_missing_or_changed_are_counted_and_stop_nothing(
    tmp_path: Path, document: Document
) -> None:
    DocumentFactory(file_sha256="f" * 64)
    storage.path_of(document.file_sha256).write_text("something else")

    backup = made(tmp_path / "b")

    assert backup.missing == ("f" * 64,)
    assert backup.changed == (document.file_sha256,)
    assert checked(tmp_path / "b").manifest["missing"] == ["f" * 64]


def test_what_is_there_is_never_replaced_and_no_room_is_noticed_first(
    tmp_path: Path, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b").write_text("dear")
    media.mkdir()

    for path, words in (
        (tmp_path / "b", "there already"),
        (tmp_path / "no" / "b", "no folder"),
        (media / "b", "lost with them"),
    ):
        with pytest.raises(Unfit, match=words):
            made(path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=1000, total=10**12))
    with pytest.raises(Unfit, match="MB left"):
        made(tmp_path / "c")
    assert (tmp_path / "b").read_text() == "dear"
    assert not BackupRun.objects.exists()


@in_the_open
def test_a_backup_that_fails_leaves_its_reason_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making, "_copy_originals", full)

    with pytest.raises(BackupError, match="no room left"):
        made(tmp_path / "b")

    (row,) = BackupRun.objects.all()
    assert (row.state, row.finished_at is not None) == (BackupRun.State.FAILED, True)
    assert list(tmp_path.glob("*")) == []


@pytest.fixture
def half_restored() -> Iterator[None]:
    unfinished.begin("/backups/b")
    yield
    unfinished.end()


@pytest.mark.usefixtures("half_restored")
def test_while_a_restore_has_not_ended_nothing_else_begins_and_all_say_how_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match="sci-rag restore /backups/b --replace"):
        preparation.migrate()
    with pytest.raises(Unfit, match="did not end"):
        made(tmp_path / "b")
    (found,) = list(database.database())
    assert (found.status, "did not end" in found.message) == (Status.FAIL, True)
    assert "--replace" in found.fix
    assert "sci_rag_restore_unfinished" not in {table.name for table in state.tables()}


@in_the_open
def test_what_does_not_fit_here_is_named_before_anything_is_touched(
    tmp_path: Path, document: Document
) -> None:
    made(tmp_path / "b")
    whole = checked(tmp_path / "b")
    newer = replace(whole, manifest=whole.manifest | {"migrations": ["corpus.9999_of_tomorrow"]})
    offered = {"vector": "1", "pg_trgm": "1", "unaccent": "1"}

    checking.require_fit(whole, server=whole.manifest["server"], offered=offered)
    with pytest.raises(Newer, match=r"corpus\.9999_of_tomorrow"):
        checking.require_fit(newer, server=whole.manifest["server"], offered=offered)
    with pytest.raises(Unfit, match="this server is 15"):
        checking.require_fit(whole, server=150_009, offered=offered)
    with pytest.raises(Unfit, match="does not offer the extension 'pg_trgm'"):
        checking.require_fit(whole, server=whole.manifest["server"], offered={})
    with pytest.raises(Unfit, match="The database is not empty"):
        restoring.restore(tmp_path / "b", passphrase=None, replace=False, by="ada", say=quiet, progress=quiet)
    assert Document.objects.count() == 1
    assert unfinished.told() == ""


def test_a_record_that_never_ended_is_known_for_one() -> None:
    row = BackupRun.objects.create(kind="backup", path="/b")
    assert not row.was_killed
    BackupRun.objects.update(started_at=timezone.now() - timezone.timedelta(days=2))
    row.refresh_from_db()
    assert row.was_killed
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM corpus_backuprun WHERE finished_at IS NULL")
        assert cursor.fetchone() == (1,)
