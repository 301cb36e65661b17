"""Ready is what can work: the database, its migrations, somebody at the queue, room on the disk."""

from datetime import timedelta

import pytest
from django.db import connection, connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus.models import Job
from sci_rag_site.health import readiness
from tests.factories.corpus import IngestionRunFactory


def asked() -> tuple[int, dict[str, object]]:
    response = Client().get(reverse("readyz"))
    return response.status_code, response.json()


def queued(minutes: int, **fields: object) -> Job:
    job = Job.objects.create(kind="parse", dedupe_key=f"parse:{minutes}", run=IngestionRunFactory(), **fields)
    Job.objects.filter(pk=job.pk).update(queued_at=timezone.now() - timedelta(minutes=minutes))
    return job


@pytest.mark.django_db
def test_a_queue_that_nobody_works_on_is_named_with_its_age() -> None:
    queued(9)
    assert asked()[0] == 200
    queued(11)

    status, said = asked()

    assert (status, said["status"], said["failing"]) == (503, "unavailable", ["queue"])
    assert said["queue"]["queued"] == 2
    assert 655 <= said["queue"]["oldest_seconds"] <= 665


@pytest.mark.django_db
def test_a_long_queue_with_somebody_at_it_is_only_long() -> None:
    queued(60)
    queued(61, state="running", worker="host/1", lease_until=timezone.now() + timedelta(seconds=30))

    status, said = asked()

    assert (status, said["failing"], said["queue"]["leased"]) == (200, [], 1)


@pytest.mark.django_db
def test_a_migration_that_is_not_applied_is_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'answers'")

    status, said = asked()

    assert (status, said["failing"], said["migrations"]) == (503, ["migrations"], "missing")


@pytest.mark.django_db
def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "LEAST_FREE", 1.1)

    status, said = asked()

    assert (status, said["failing"]) == (503, ["disk"])


@pytest.mark.django_db(transaction=True)
def test_without_a_database_the_disk_is_still_looked_at_and_nothing_of_the_server_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readiness, "LEAST_FREE", 1.1)
    known = connections["default"].settings_dict
    connection.close()
    monkeypatch.setitem(known, "NAME", "nowhere_to_be_found")
    monkeypatch.setitem(known, "OPTIONS", {**known["OPTIONS"], "pool": None})

    response = Client().get(reverse("readyz"))
    alive = Client().get(reverse("healthz"))

    connection.close()
    assert (response.status_code, alive.status_code) == (503, 200)
    assert response.json()["failing"] == ["database", "disk"]
    assert (response.json()["migrations"], response.json()["queue"]) == ("unknown", "unknown")
    assert "nowhere" not in response.text
    assert str(known.get("USER") or "no user") not in response.text
