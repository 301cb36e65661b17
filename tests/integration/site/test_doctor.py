"""The doctor sees what is broken and says what mends it."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from django.db import OperationalError, connection
from django.utils import timezone

from corpus.models import Document, EmbeddingVersion
from retrieval.graph.communities import queries, scopes
from retrieval.graph.community_models import CommunityBuild
from sci_rag_site.commands.doctor import doctor
from sci_rag_site.health import configuration, database, findings, probes
from sci_rag_site.health.findings import Finding, Status

EVERYTHING = {
    *("configuration", "domain profile", "parser", "embedding model", "answering model"),
    *("broker", "worker", "disk", "database", "pgvector", "migrations", "embeddings", "vector index"),
    *("communities", "documents", "unknown licences", "documents without text", "retracted works"),
    "unchecked works",
}

pytestmark = pytest.mark.django_db


def examined(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(doctor, ["--json", *arguments], catch_exceptions=False)
    return result.exit_code, json.loads(result.stdout)


def one(found: Any, name: str) -> Finding:
    return next(item for item in found if item.name == name)


# Its records are compared as of one moment, which a test's own transaction is not.
@pytest.mark.django_db(transaction=True)
def test_a_new_installation_has_nothing_that_fails() -> None:
    code, report = examined()

    assert code == 0
    assert report["counts"]["fail"] == 0
    assert {item["name"] for item in report["checks"]} >= EVERYTHING


def test_communities_that_serve_nobody_or_an_older_graph_are_named() -> None:
    assert one(database.communities(), "communities").message == "none built"
    scope = scopes.scope_named("open")
    build = CommunityBuild.objects.create(
        scope_name="open", scope=scope.selection.as_dict(), graph_sha256=queries.stamp(scope), method="hand",
        is_current=True, finished_at=timezone.now(),
    )  # fmt: skip
    assert one(database.communities(), "communities").message == "up to date: open"

    CommunityBuild.objects.update(graph_sha256="0" * 64)
    outdated = one(database.communities(), "communities")
    CommunityBuild.objects.filter(pk=build.pk).update(documents_read=1)
    unused = one(database.communities(), "communities")

    assert (outdated.status, outdated.message) == (Status.WARN, "The graph has changed since: open.")
    assert unused.message == "Not used, since documents they were read from are out: open."
    assert outdated.fix == unused.fix == "Run 'sci-rag graph communities'."


def test_whatever_is_not_ok_says_what_to_do() -> None:
    _, report = examined()

    assert all(item["fix"] for item in report["checks"] if item["status"] != "ok")


@pytest.mark.django_db(transaction=True)
def test_the_readable_form_has_a_line_each_and_a_sum() -> None:
    result = CliRunner().invoke(doctor, [])

    assert result.exit_code == 0
    assert "ok    database: PostgreSQL 18" in result.output
    assert result.output.splitlines()[-1].endswith("0 failed.")


def test_a_probe_embeds_once_and_says_that_no_model_writes() -> None:
    _, report = examined("--probe")

    found = {item["name"]: item["message"] for item in report["checks"]}
    assert "384 dimensions" in found["probe: embedding"]
    assert found["probe: generation"] == "no model is set"


@pytest.mark.django_db(transaction=True)
def test_a_model_that_does_not_answer_fails_the_probe(settings: Any) -> None:
    settings.SCI_RAG_LLM_MODEL = "openai/nothing"
    settings.SCI_RAG_LLM_API_BASE = "http://127.0.0.1:9/v1"
    settings.SCI_RAG_LLM_API_KEY = "sk-canary"

    found = one(probes.one_generation(), "probe: generation")

    assert found.status is Status.FAIL
    assert "sk-canary" not in repr(found)


def test_the_key_of_a_model_is_never_shown(settings: Any) -> None:
    settings.SCI_RAG_LLM_MODEL = "openai/some-model"
    settings.SCI_RAG_LLM_API_KEY = "sk-canary"
    settings.SECRET_KEY = "canary-key-" * 6

    _, report = examined()

    assert "canary" not in json.dumps(report)
    assert "a key" in json.dumps(report)


def test_a_database_that_is_away_fails_and_stops_what_rests_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise OperationalError("connection refused\nIs it running?")

    monkeypatch.setattr(connection, "cursor", refused)

    code, report = examined()

    assert code == 1
    assert report["checks"][-1]["name"] == "database"
    assert "connection refused" in report["checks"][-1]["message"]


def test_a_missing_migration_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "unapplied_migrations", lambda: ["corpus.0099_x"])

    found = one(database.migrations(), "migrations")

    assert found.status is Status.FAIL
    assert "manage.py migrate" in found.fix


def test_an_old_pgvector_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "OLDEST_PGVECTOR", (99,))

    assert one(database.pgvector(), "pgvector").status is Status.FAIL


def test_settings_that_name_another_version_than_the_corpus_has_are_pointed_out() -> None:
    EmbeddingVersion.objects.create(name="other@8", dimensions=8, is_active=True)

    found = one(database.embeddings(), "embeddings")

    assert found.status is Status.WARN
    assert "sci-rag embed reindex" in found.fix


def test_a_version_that_nothing_can_make_fails() -> None:
    EmbeddingVersion.objects.create(name="all-MiniLM-L6-v2@999", dimensions=999, is_active=True)

    assert one(database.embeddings(), "embeddings").status is Status.FAIL


def test_documents_that_need_a_librarian_are_counted() -> None:
    for number, state in enumerate(
        [Document.State.NEEDS_OCR, Document.State.NEEDS_OCR, Document.State.FAILED]
    ):
        Document.objects.create(
            title="t",
            content_sha256=f"{number:064}",
            file_sha256="0" * 64,
            state=state,
            license_class="unknown" if number else "public",
            file_name="f",
            media_type="text/plain",
            parser="p 1",
        )

    found = {item.name: item for item in database.corpus()}

    assert found["documents without text"].message.startswith("2 ")
    assert found["failed documents"].message.startswith("1 ")
    assert found["unknown licences"].message.startswith("2 ")
    assert found["unknown licences"].status is Status.WARN


def test_a_silent_worker_and_waiting_messages_are_noticed(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path
    messages = tmp_path / "broker" / "messages"
    messages.mkdir(parents=True)
    (messages / f"{time.time_ns() - 3600 * 10**9:020d}_x.light.msg").write_text("{}")
    beat = tmp_path / "worker-heartbeat"
    beat.touch()
    os.utime(beat, (time.time() - 1800,) * 2)

    found = {item.name: item for item in configuration.worker()}

    assert "1 messages wait, the oldest for 60 minutes" in found["broker"].message
    assert "30 minutes" in found["worker"].message
    assert {item.status for item in found.values()} == {Status.WARN}


def test_a_broker_that_is_away_fails(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from celery import Celery

    from sci_rag_site import celery

    settings.CELERY_BROKER_URL = "amqp://user:canary@127.0.0.1:9//"
    monkeypatch.setattr(celery, "app", Celery(broker=settings.CELERY_BROKER_URL))

    found = one(configuration.worker(), "broker")

    assert found.status is Status.FAIL
    assert "canary" not in repr(found)


@pytest.mark.parametrize(("free", "status"), [(10**11, "ok"), (10**9, "warn"), (10**8, "fail")])
def test_a_disk_that_fills_up_is_noticed_in_time(
    monkeypatch: pytest.MonkeyPatch, free: int, status: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: SimpleNamespace(free=free, total=10**12))

    assert str(one(configuration.disk(), "disk").status) == status


def test_a_broken_profile_fails_with_its_line(settings: Any, tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text("name: x\nchunk_tokens: many\n")
    settings.DOMAIN_DIR = tmp_path

    found = one(configuration.domain_profile(), "domain profile")

    assert found.status is Status.FAIL
    assert "chunk_tokens" in found.message
    assert "\n" not in found.message


def test_a_check_that_breaks_is_a_finding_without_its_message() -> None:
    def some_check() -> list[Finding]:
        raise RuntimeError("canary")

    (found,) = findings.run([some_check])

    assert (found.name, found.status) == ("some check", Status.FAIL)
    assert "canary" not in repr(found)
