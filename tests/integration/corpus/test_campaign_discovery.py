"""Finding works: paged, kept page by page, and the same in the end however often it was interrupted."""

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from django.conf import settings as site
from django.db import connection

from corpus.campaigns import discovering, queries, starting
from corpus.campaigns.actions.discovering import CampaignError, Question, checked_dois
from corpus.campaigns.actions.runs import CampaignBusy
from corpus.campaigns.cli import campaign as command
from corpus.campaigns.models import Campaign, CampaignRun, CampaignSearch, SearchPage
from corpus.gateways import records
from corpus.gateways.http import ContactMissing
from tests.integration.corpus.campaigning import BY, TOPIC, campaign, carried, search
from tests.loopback.campaign_servers import (
    Answer,
    CrossrefSearchServer,
    OpenAlexServer,
    as_json,
    openalex_record,
    works,
)

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = """
import sys
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
settings.SCI_RAG_OPENALEX_URL = "http://" + sys.argv[2]
settings.SCI_RAG_OUTBOUND_HOSTS = [sys.argv[2]]
settings.SCI_RAG_OPENALEX_API_KEY = "test-key"
settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
import django
django.setup()
from corpus.gateways import records
records.ROWS = 20
from tests.integration.corpus.campaigning import campaign, carried, search
print(carried(search(campaign("killed"))).state)
"""


@pytest.fixture
def openalex(settings, monkeypatch) -> Iterator[OpenAlexServer]:
    monkeypatch.setattr(discovering, "PAUSE_SECONDS", 0.01)
    with OpenAlexServer(works(300)) as server:
        settings.SCI_RAG_OPENALEX_URL = server.base_url
        settings.SCI_RAG_OPENALEX_API_KEY = server.key
        settings.SCI_RAG_OUTBOUND_HOSTS = [server.host]
        settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
        yield server


def state_of(name: str) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return all that a search leaves behind, without ids and times."""
    row = Campaign.objects.get(name=name)
    found = row.candidates.order_by("number").values_list(
        "number", "key", "doi", "title", "authors", "year", "venue", "kind", "language", "abstract"
    )
    pages = SearchPage.objects.filter(search__campaign=row).order_by("number")
    kept = pages.values_list("number", "asked_for", "next_cursor", "records", "unreadable", "body_sha256")
    return list(found), list(kept)


@pytest.mark.parametrize("kills", [1, pytest.param(5, marks=pytest.mark.long)])
def test_killed_at_random_points_it_ends_the_same_and_asks_for_no_page_twice_but_the_one_in_flight(
    openalex: OpenAlexServer, monkeypatch, kills: int
) -> None:
    """Must-show 1."""
    monkeypatch.setattr(records, "ROWS", 20)
    carried(search(campaign("whole")))
    undisturbed = [seen.query["cursor"] for seen in openalex.seen]
    openalex.seen.clear()
    # The same points every time, and not known beforehand.
    points = sorted(random.Random(10).sample(range(1, 16), kills))  # noqa: S311
    in_flight: list[str] = []
    process: subprocess.Popen | None = None

    def kill_at(seen) -> None:
        if points and len({one.query["cursor"] for one in openalex.seen}) == points[0]:
            points.pop(0)
            in_flight.append(seen.query["cursor"])
            process.kill()

    openalex.on_request = kill_at
    starts = 0
    while starts < 8:
        starts += 1
        process = _start(openalex)
        out, _ = process.communicate(timeout=60)
        if process.returncode == 0:
            assert out.strip() == b"finished"
            break

    assert (starts, len(in_flight)) == (kills + 1, kills)
    assert state_of("killed") == state_of("whole")
    asked = Counter(seen.query["cursor"] for seen in openalex.seen)
    assert set(asked) == set(undisturbed)
    assert len(undisturbed) == 15
    twice = {cursor for cursor, times in asked.items() if times > 1}
    assert twice <= set(in_flight)
    assert sum(asked.values()) == 15 + len(in_flight)


def _start(server: OpenAlexServer) -> subprocess.Popen:
    command_line = [sys.executable, "-c", PROGRAM, connection.settings_dict["NAME"], server.host]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(site.BASE_DIR)}
    return subprocess.Popen(command_line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def test_a_search_says_who_asks_with_the_key_and_asks_for_metadata_only(openalex: OpenAlexServer) -> None:
    run = carried(search(campaign()))

    assert (run.state, run.done, run.total) == ("finished", 3, 3)
    first = openalex.seen[0]
    assert first.query["mailto"] == "library@lab.example"
    assert first.query["api_key"] == "test-key"
    assert "abstract_inverted_index" in first.query["select"]
    assert {seen.path for seen in openalex.seen} == {"/works"}
    flow = queries.flow(run.campaign)
    assert (flow.identified, flow.candidates, flow.duplicates) == (300, 300, 0)
    one = run.campaign.candidates.get(number=3)
    assert (one.doi, one.year, one.venue) == ("10.5555/straw.3", 2003, "Journal of Bales")
    assert one.abstract == "Bales of trial 3 lost 3 % of their dry matter."
    assert one.authors == ["Ada Halm", "Ben Stroh"]


def test_without_its_key_openalex_ends_the_search_after_a_page_and_says_why(openalex, settings) -> None:
    settings.SCI_RAG_OPENALEX_API_KEY = ""
    run = carried(search(campaign()))

    assert (run.state, run.last_error_code, run.done) == ("failed", "key_needed", 1)
    settings.SCI_RAG_OPENALEX_API_KEY = "test-key"
    assert carried(search(campaign())).state == "finished"
    assert [seen.query["cursor"] for seen in openalex.seen] == ["*", "after-100", "after-100", "after-200"]


def test_nobody_is_asked_without_an_address_to_write_to(openalex, settings) -> None:
    settings.SCI_RAG_CONTACT_EMAIL = ""

    with pytest.raises(ContactMissing):
        search(campaign("other"))
    done = CliRunner().invoke(command, ["discover", "--name", "straw", "--topic", TOPIC])
    assert (done.exit_code, "SCI_RAG_CONTACT_EMAIL" in done.output) == (1, True)
    assert openalex.seen == []
    assert not Campaign.objects.filter(name="straw").exists()


def test_a_busy_index_is_asked_again_after_the_time_it_names(openalex) -> None:
    busy = Answer(429, b"slow down", {"Content-Type": "text/plain", "Retry-After": "1"})
    openalex.will("/works", busy, Answer(500, b"oops"), as_json({"results": "none"}))

    run = carried(search(campaign()))

    # The third answer is no page: that was the last try.
    assert (run.state, run.last_error_code) == ("failed", "garbage")
    assert carried(search(campaign())).state == "finished"


def test_what_is_found_twice_counts_once_and_what_names_no_work_is_counted_apart(openalex, settings) -> None:
    twin = openalex_record(works(1)[0])
    nameless = openalex_record(works(1)[0]) | {"display_name": None, "title": ""}
    meta = {"count": 3, "per_page": 100, "next_cursor": None}
    openalex.will("/works", as_json({"meta": meta, "results": [twin, twin, nameless]}))
    with CrossrefSearchServer(works(150)) as crossref:
        settings.SCI_RAG_CROSSREF_URL = crossref.base_url
        settings.SCI_RAG_OUTBOUND_HOSTS = [openalex.host, crossref.host]
        row = campaign()

        carried(search(row))
        carried(search(row, provider="crossref"))

    flow = queries.flow(row)
    assert (flow.identified, flow.duplicates, flow.unreadable, flow.candidates) == (153, 2, 1, 150)
    assert list(flow.differences()) == []
    assert [seen.query["cursor"] for seen in crossref.seen] == ["*", "AoJ100"]
    one = row.candidates.get(number=2)
    assert (one.doi, one.abstract) == ("10.5555/straw.2", "Bales of trial 2 lost 2 % of their dry matter.")
    assert one.authors == ["Ada Halm", "The Bale Group"]


def test_listed_dois_are_candidates_whether_or_not_the_index_knows_them(openalex) -> None:
    dois = ("10.5555/straw.1", "10.5555/nobody.knows", "10.5555/straw.7")
    row = campaign()

    run = carried(search(row, topic="", dois=dois))
    again = carried(search(row, topic="", dois=dois))

    assert (run.state, run.failed, again.state) == ("finished", 1, "finished")
    assert [seen.path for seen in openalex.seen] == [f"/works/doi:{doi}" for doi in dois]
    found = list(row.candidates.order_by("number").values_list("doi", "title"))
    assert found == [
        ("10.5555/straw.1", "Storage of straw bales, trial 1"),
        ("10.5555/nobody.knows", ""),
        ("10.5555/straw.7", "Storage of straw bales, trial 7"),
    ]


def test_more_of_a_search_goes_on_where_it_stopped(openalex) -> None:
    row = campaign()
    carried(search(row, most=100))
    assert row.candidates.count() == 100

    carried(search(row, most=250))

    assert [seen.query["cursor"] for seen in openalex.seen] == ["*", "after-100", "after-200"]
    assert row.candidates.count() == 300


def test_a_campaign_is_worked_on_by_one_at_a_time_and_a_cancelled_run_writes_no_more(openalex) -> None:
    from corpus.campaigns.actions import runs

    row = campaign()
    run = search(row)
    held = runs.claim(run=run.pk)
    assert held is not None
    assert runs.claim(run=run.pk) is None
    with pytest.raises(CampaignBusy):
        search(row, topic="another topic")

    def cancel(_seen) -> None:
        CliRunner().invoke(command, ["cancel", "--name", "straw"])
        connection.close()

    openalex.on_request = cancel
    from corpus.campaigns import carrying

    assert carrying.carry_out(held)
    run.refresh_from_db()
    assert (run.state, row.candidates.count(), len(openalex.seen)) == ("cancelled", 0, 1)


def test_what_waits_for_workers_is_not_dropped_for_something_else(openalex) -> None:
    row = campaign()
    question = Question(CampaignSearch.Provider.OPENALEX, topic=TOPIC)
    waiting = starting.discover(campaign=row, question=question, by=BY, is_for_workers=True)

    with pytest.raises(CampaignBusy):
        search(row, topic="another topic")

    # Nothing of what was refused is left, and the same is taken up by whoever comes first.
    assert row.searches.count() == 1
    assert carried(search(row)).pk == waiting.pk


def test_the_command_rehearses_without_a_request_and_then_finds(openalex) -> None:
    dry = CliRunner().invoke(
        command, ["discover", "--name", "straw", "--topic", TOPIC, "--from", "openalex", "--dry-run"]
    )

    assert dry.exit_code == 0, dry.output
    assert "10 times at most" in dry.output
    assert (openalex.seen, Campaign.objects.count(), CampaignRun.objects.count()) == ([], 0, 0)

    found = CliRunner().invoke(command, ["discover", "--name", "straw", "--topic", TOPIC, "--json"])

    assert found.exit_code == 0, found.output
    assert '"candidates": 300' in found.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10.5555/a\nnot a doi\n10.5555/b\nhttps://example.org", "line 2, 4"),
        ("# nothing\n\n", "no DOI"),
        ("10.5555/" + "a" * 700, "line 1"),
    ],
)
def test_a_list_that_is_none_is_refused_by_its_lines(text: str, said: str) -> None:
    with pytest.raises(CampaignError, match=said):
        checked_dois(text)


def test_a_list_is_read_in_every_form_of_a_doi_once() -> None:
    text = "\ufeff# ours\nhttps://doi.org/10.5555/A\r\ndoi:10.5555/a\n\n10.5555/b.".removeprefix("\ufeff")

    assert checked_dois(text) == ["10.5555/a", "10.5555/b"]
