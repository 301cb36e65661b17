"""Samples to label: who may label sees the items their ceiling covers whole, and no trace of the others."""

from __future__ import annotations

import pytest
from django.urls import reverse

from corpus.models import Document
from tests.leaks import calibration_rows
from tests.leaks.asking import ask, client_of, content_of, seen
from tests.leaks.calibration_rows import ABOUT, EVERYTHING
from tests.leaks.test_twins import masked
from tests.leaks.world import World, canary

pytestmark = pytest.mark.django_db(transaction=True)


def pages(world: World) -> list[tuple[int, str]]:
    client = client_of(world, "expert")
    calls = [call for of in calibration_rows.calls(world).values() for call in of if call.method == "get"]
    found = [ask(client, call) for call in calls]
    return [(one.status_code, masked(content_of(one).decode(errors="replace"), set())) for one in found]


def test_an_expert_sees_the_items_that_may_be_seen(world: World) -> None:
    """A sweep that finds nothing anywhere would be blind."""
    client = client_of(world, "expert")
    calls = calibration_rows.calls(world)

    text = "".join(seen(ask(client, call)) for call in calls["calibration_item"])

    assert [case for case in ABOUT if canary(case) in text] == ["public"]


def test_a_sample_of_everything_has_as_many_items_as_one_may_see(world: World) -> None:
    page = seen(client_of(world, "expert").get(reverse("calibration", args=[world.samples[EVERYTHING].pk])))

    assert "0 of 1 done by you" in page


def test_the_pages_are_the_same_without_what_their_reader_may_not_see(world: World) -> None:
    with_all = pages(world)
    Document.objects.filter(pk__in=[row.pk for row in world.hidden_documents("expert")]).delete()

    assert pages(world) == with_all


def test_the_numbers_of_everything_are_not_for_who_sees_a_part(world: World) -> None:
    address = reverse("calibration_agreement", args=[world.samples[EVERYTHING].pk])

    assert client_of(world, "expert").get(address).status_code == 404
    assert client_of(world, "librarian").get(address).status_code == 200
