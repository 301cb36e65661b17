"""Hundreds of works, a Crossref that misbehaves all the time, and a run that is killed again and again."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

import pytest
from django.conf import settings as site
from django.db import connection

from corpus.models import Source, SourceCheck
from tests.factories.corpus import DocumentFactory, SourceFactory
from tests.loopback import crossref_server as server_says
from tests.loopback.crossref_server import CrossrefServer, update

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = """
import sys
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
import django
django.setup()
from corpus.enrichment import running
from corpus.gateways.crossref import Crossref
from corpus.gateways.http import Outbound
running.PAUSE_SECONDS = 0.02

class Watcher:
    def begin(self, total):
        print("started", flush=True)
    def advance(self):
        pass

with Outbound(contact="a@lab.example", listed=[sys.argv[2]], deadline=0.5) as outbound:
    crossref = Crossref(outbound, base_url=f"http://{sys.argv[2]}")
    print(running.run(crossref=crossref, progress=Watcher()).stopped)
"""
FAULTS = [
    server_says.asked_to_wait(1),
    server_says.asked_to_wait(0),
    server_says.BROKEN,
    server_says.Fault(wait=1.5),
    server_says.HALF_A_DOCUMENT,
    server_says.WRONG_SHAPE,
    server_says.HTML,
    server_says.TRUNCATED,
]
HOPELESS = "10.1000/hopeless"


@pytest.fixture
def server() -> Iterator[CrossrefServer]:
    with CrossrefServer() as running_server:
        yield running_server


def fill(server: CrossrefServer, count: int) -> set[str]:
    """Hold `count` works; return those that Crossref says were retracted. A third meet faults first."""
    choose = random.Random(7)  # noqa: S311 - the faults are to be the same every time
    retracted = set()
    for number in range(count):
        doi = f"10.1000/work.{number}"
        DocumentFactory(source=SourceFactory(identifier_value=doi))
        updates = [update("retraction", f"10.1000/notice.{number}", (2024, 1, 2))] if number % 7 == 0 else []
        server.add(doi, updated_by=updates)
        retracted |= {doi} if updates else set()
        if choose.random() < 0.33:
            server.will(doi, *choose.choices(FAULTS, k=choose.choice([1, 1, 2, 4])))
    DocumentFactory(source=SourceFactory(identifier_value=HOPELESS))
    server.will(HOPELESS, *[server_says.asked_to_wait(1), server_says.BROKEN, server_says.BROKEN] * 1_000)
    return retracted


def start(server: CrossrefServer) -> subprocess.Popen:
    command = [sys.executable, "-c", PROGRAM, connection.settings_dict["NAME"], server.host]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(site.BASE_DIR)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout.readline() == b"started\n"
    return process


def require_nothing_read_as_clean(server: CrossrefServer, retracted: set[str]) -> None:
    good = SourceCheck.objects.filter(last_good_at__isnull=False)
    checked = set(good.values_list("source__identifier_value", flat=True))
    flagged = set(Source.objects.filter(is_retracted=True).values_list("identifier_value", flat=True))
    assert checked <= set(server.served)
    assert flagged == checked & retracted
    failed = SourceCheck.objects.filter(outcome="check_failed")
    assert not failed.filter(reason="").exists()


def waits_kept(server: CrossrefServer, since: float) -> list[bool]:
    """Say for each request to wait whether the next request kept to it."""
    times = sorted(seen.at for seen in server.seen)
    refused = [(at, seconds) for at, seconds in server.refused if at >= since]
    return [all(not at < other < at + seconds - 0.01 for other in times) for at, seconds in refused]


@pytest.mark.parametrize(("count", "kills"), [(12, 1), pytest.param(500, 12, marks=pytest.mark.long)])
def test_killed_at_any_moment_it_goes_on_and_reads_no_failure_as_clean(server, count, kills) -> None:
    retracted = fill(server, count)
    moments = random.Random(11)  # noqa: S311 - the moments are to be the same every time

    made = []
    for _ in range(kills):
        process = start(server)
        time.sleep(moments.uniform(0.2, 1.2))
        process.kill()
        process.communicate()
        require_nothing_read_as_clean(server, retracted)
        made.append(SourceCheck.objects.filter(outcome="good").count())
    begun = time.monotonic()
    for _ in range(6):
        last = start(server)
        last.communicate()
        assert last.returncode == 0
        require_nothing_read_as_clean(server, retracted)
        if SourceCheck.objects.filter(outcome="good").count() == count:
            break

    assert made == sorted(made)
    assert SourceCheck.objects.filter(outcome="good").count() == count
    hopeless = SourceCheck.objects.get(source__identifier_value=HOPELESS)
    assert (hopeless.outcome, hopeless.last_good_at) == ("check_failed", None)
    assert hopeless.reason in {"unavailable", "rate_limited"}
    assert (
        set(Source.objects.filter(is_retracted=True).values_list("identifier_value", flat=True)) == retracted
    )
    kept = waits_kept(server, begun)
    assert kept
    assert all(kept)
    # Whoever was checked well is not asked again; a kill costs the work at hand.
    again = Counter(server.served)
    assert sum(number - 1 for number in again.values()) <= kills
