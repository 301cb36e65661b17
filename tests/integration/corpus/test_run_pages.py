"""The pages of runs: how far they are, what became of each file, and steering them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus.actions import runs
from corpus.models import IngestionItem, IngestionRun, Job
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> IngestionRun:
    """A run of three files: one is in, one failed, one is being embedded."""
    run = runs.open_for_workers(origin="upload", parameters={}, by=None)
    IngestionRun.objects.filter(pk=run.pk).update(started_at=timezone.now() - timedelta(minutes=3))
    document = DocumentFactory(title="Straw")
    for path, outcome in (("in.md", "ready"), ("bad.pdf", "failed"), ("next.md", "waiting")):
        item = IngestionItem.objects.create(run=run, path=path, outcome=outcome)
        Job.objects.create(kind="parse", dedupe_key=f"parse:{item.pk}", state="done", run=run, item=item)
    IngestionItem.objects.filter(path="in.md").update(document=document, seconds=40.0)
    IngestionItem.objects.filter(path="bad.pdf").update(
        reason="encrypted", detail="The file is protected by a password.", seconds=20.0
    )
    Job.objects.create(
        kind="embed", dedupe_key=f"embed:{item.pk}", state="running", run=run, item=item, attempt=1,
        worker="here/1", lease_until=timezone.now(),
    )  # fmt: skip
    run.refresh_from_db()
    return run


def page(client: Client, run: IngestionRun, **query: str) -> str:
    response = client.get(reverse("run", args=[run.pk]), query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_the_page_says_how_far_a_run_is_and_why_a_file_failed(
    client: Client, librarian: User, run: IngestionRun
) -> None:
    client.force_login(librarian)

    text = page(client, run)

    assert '<progress id="run-bar" class="run-bar" max="3" value="2">' in text
    assert "2 of 3 files" in text
    assert "running for 3 minutes · about 30 seconds left" in text
    assert "Being embedded" in text
    assert "The file is protected by a password. <code>encrypted</code>" in text
    assert "Retry 1 file<" in text
    assert "Cancel after the files at hand" in text


def test_the_files_of_one_outcome_can_be_listed(client: Client, librarian: User, run: IngestionRun) -> None:
    client.force_login(librarian)

    text = page(client, run, show="failed")

    assert "bad.pdf" in text
    assert "next.md" not in text


def test_a_run_without_files_and_a_list_without_runs_say_so(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    assert "Nothing has been taken in yet" in client.get(reverse("runs")).content.decode()

    run = runs.open_for_workers(origin="upload", parameters={}, by=None)

    assert "no files that you may see" in page(client, run)


def test_cancelling_leaves_what_was_not_begun_to_be_taken_up_again(
    client: Client, librarian: User, run: IngestionRun
) -> None:
    client.force_login(librarian)
    waiting = IngestionItem.objects.create(run=run, path="later.md")
    Job.objects.create(kind="parse", dedupe_key="parse:later", run=run, item=waiting)

    response = client.post(reverse("run_cancel", args=[run.pk]), follow=True)

    assert "Cancelled. 1 file was not begun." in response.content.decode()
    assert "Not begun" in response.content.decode()
    assert Job.objects.get(item=waiting).state == "cancelled"
    assert "Take in the 2 files that are missing" in page(client, run)

    client.post(reverse("run_retry", args=[run.pk]))

    assert Job.objects.get(item=waiting).state == "queued"
    run.refresh_from_db()
    assert (run.state, run.finished_at) == ("running", None)


def test_a_run_in_a_terminal_cannot_be_steered_from_here(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    run, _ = runs.start(origin="papers", names=["a.md"], parameters={})

    assert "stop it there with Ctrl-C" in page(client, run)
    assert client.post(reverse("run_cancel", args=[run.pk])).status_code == 404


def test_only_those_who_may_take_files_in_may_steer(client: Client, asker: User, run: IngestionRun) -> None:
    client.force_login(asker)

    for route in ("run_cancel", "run_retry"):
        assert client.post(reverse(route, args=[run.pk])).status_code == 404
    run.refresh_from_db()
    assert run.state == "running"


@pytest.mark.django_db(transaction=True)
def test_the_stream_sends_the_parts_and_ends_with_the_run(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    run = runs.open_for_workers(origin="upload", parameters={}, by=None)
    IngestionItem.objects.create(run=run, path="in.md", outcome="failed", reason="empty_file", detail="None.")
    runs.finish(run, IngestionRun.State.FINISHED)

    response = client.get(reverse("run_events", args=[run.pk]))
    text = async_to_sync(_drained)(response)

    assert response["Content-Type"] == "text/event-stream"
    assert '<hx-partial hx-target="#run-progress" hx-swap="innerMorph">' in text
    assert "in.md" in text
    assert text.endswith("event: ended\ndata: \n\n")


async def _drained(response: object) -> str:
    return b"".join([piece async for piece in response.streaming_content]).decode()


def test_file_names_are_shown_as_text(client: Client, librarian: User, tmp_path: Path) -> None:
    client.force_login(librarian)
    run = runs.open_for_workers(origin="<b>up", parameters={}, by=None)
    IngestionItem.objects.create(run=run, path="<script>.md", outcome="failed", detail="<i>no</i>")

    text = page(client, run)

    assert "<script>.md" not in text
    assert "&lt;script&gt;.md" in text
    assert "<i>no" not in text
