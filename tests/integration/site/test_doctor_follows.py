"""Each finding of the doctor is provoked, and is in order again once somebody does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpus.gateways.embedding import configured_embedder
from corpus.models import EmbeddingVersion
from sci_rag_site.health import doctor
from sci_rag_site.health.findings import Finding, Status
from tests.integration.site.doctor_cases import QUICK, SLOW, TOLD, Case, World


@pytest.fixture
def world(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> World:
    return World(settings, monkeypatch, tmp_path, request)


def found(case: Case) -> Finding:
    return next(item for item in case.check() if item.name == case.name)


def follow(case: Case, world: World) -> None:
    case.provoke(world)
    provoked = found(case)
    assert provoked.status is not Status.OK, provoked
    assert case.says in provoked.fix

    case.follow(world, provoked)

    assert found(case).status is Status.OK, found(case)


@pytest.mark.django_db
@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_what_the_doctor_says_to_do_mends_it(case: Case, world: World) -> None:
    follow(case, world)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("case", SLOW, ids=lambda case: case.name)
def test_what_the_doctor_says_to_do_mends_what_takes_longer(case: Case, world: World) -> None:
    follow(case, world)


@pytest.mark.django_db(transaction=True)
def test_no_finding_is_left_out() -> None:
    embedder = configured_embedder()
    EmbeddingVersion.objects.create(name=embedder.version, dimensions=embedder.dimensions, is_active=True)

    names = [item.name for item in doctor.examine(probe=True)]

    assert sorted({*names}) == sorted({*(case.name for case in QUICK + SLOW), *TOLD})
