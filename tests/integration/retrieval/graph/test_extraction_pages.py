"""The pages of extraction runs: how far they are, what they found and what they left out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus.models import GroupCeiling
from retrieval.graph.actions import extraction
from retrieval.graph.extraction.types import Drop
from retrieval.graph.run_pages import _REASONS
from retrieval.models import ExtractionRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> ExtractionRun:
    """A run of a worker that has read a quarter of its passages in a minute, and failed at a batch."""
    run = extraction.start(extractor="model@abc", passages=80, parameters={}, is_for_workers=True)
    ExtractionRun.objects.filter(pk=run.pk).update(
        started_at=timezone.now() - timedelta(minutes=1), touched_at=timezone.now(), passages_done=20,
        batches_done=5, batches_failed=1, last_error_code="truncated", entities_added=7, mentions_added=11,
        relationships_added=3, dropped={"unverified_quote": 2, "self_edge": 9},
    )  # fmt: skip
    run.refresh_from_db()
    return run


def page(client: Client, route: str, run: ExtractionRun | None = None) -> str:
    response = client.get(reverse(route, args=[run.pk] if run else []))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_the_page_says_how_far_a_run_is_and_what_it_left_out(
    client: Client, librarian: User, run: ExtractionRun
) -> None:
    client.force_login(librarian)

    text = page(client, "extraction", run)

    assert '<progress id="run-bar" class="run-bar" max="80" value="20">' in text
    assert "20 of 80 passages · running for 1\xa0minute" in text or "running for 1 minute" in text
    assert "about 3" in text
    assert "<dd>7</dd>" in text
    assert "<code>truncated</code>" in text
    assert text.index("A relation of something with itself <code>self_edge</code>") < text.index(
        "A quotation that does not stand in its passage <code>unverified_quote</code>"
    )
    assert f"/graph/runs/{run.pk}/events/" in text


def test_a_run_that_no_worker_has_taken_up_waits(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    run = extraction.start(extractor="rules@abc", passages=3, parameters={}, is_for_workers=True)

    assert "Waiting for a worker" in page(client, "extraction", run)


def test_a_run_of_a_command_says_where_it_is_stopped(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    run = extraction.start(extractor="rules@abc", passages=3, parameters={})

    assert "stop it there with Ctrl-C" in page(client, "extraction", run)


def test_a_failed_run_says_what_stays(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    run = extraction.start(extractor="model@abc", passages=3, parameters={}, by=librarian)
    extraction.fail(run=run.pk, code="not_configured")

    text = page(client, "extraction", run)

    assert "What had been read stays" in text
    assert "<code>not_configured</code>" in text
    assert "hx-sse:connect" not in text


def test_the_list_has_every_run_and_says_when_there_is_none(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    assert "Nothing has been read for the graph yet" in page(client, "extractions")

    for number in range(26):
        extraction.start(extractor=f"rules@{number:02}", passages=1, parameters={})

    assert "rules@25" in page(client, "extractions")
    assert "Page 1 of 2" in page(client, "extractions")
    assert reverse("extractions") in page(client, "runs")
    assert reverse("extractions") in page(client, "entities")


@pytest.mark.parametrize("route", ["extraction", "extraction_events"])
def test_whoever_may_not_see_everything_gets_a_missing_page(
    client: Client, asker: User, run: ExtractionRun, route: str
) -> None:
    """The numbers are about the whole corpus: a librarian of one collection may not have them either."""
    curator = User.objects.create_user("curator")
    group = Group.objects.create(name="curator")
    group.permissions.set(Group.objects.get(name="librarian").permissions.all())
    GroupCeiling.objects.create(group=group, license_classes=["public"])
    curator.groups.add(group)

    for user in (asker, curator):
        client.force_login(user)
        assert client.get(reverse(route, args=[run.pk])).status_code == 404
        assert client.get(reverse("extractions")).status_code == 404
        assert reverse("extractions") not in page(client, "entities")


@pytest.mark.django_db(transaction=True)
def test_the_stream_sends_the_progress_and_ends_with_the_run(client: Client, librarian: User) -> None:
    client.force_login(librarian)
    run = extraction.start(extractor="rules@abc", passages=3, parameters={})
    extraction.finish(run=run.pk)

    response = client.get(reverse("extraction_events", args=[run.pk]))
    text = async_to_sync(_drained)(response)

    assert response["Content-Type"] == "text/event-stream"
    assert '<hx-partial hx-target="#run-progress" hx-swap="innerMorph">' in text
    assert text.endswith("event: ended\ndata: \n\n")


async def _drained(response: object) -> str:
    return b"".join([piece async for piece in response.streaming_content]).decode()  # type: ignore[attr-defined]


def test_every_reason_for_leaving_out_has_words() -> None:
    assert set(_REASONS) == set(Drop)
