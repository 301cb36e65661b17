"""Building: what may be fetched and what is refused by name, and nothing left of what was refused."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.conf import settings as site
from django.db import connection
from django.utils import timezone

from corpus import pipeline
from corpus.campaigns import building, discovering, downloads, queries, starting
from corpus.campaigns.actions import runs
from corpus.campaigns.actions import screening as rounds
from corpus.campaigns.actions.discovering import CampaignError
from corpus.campaigns.background import go_on, work
from corpus.campaigns.cli import campaign as command
from corpus.campaigns.cli import carry
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.campaigns.screening_models import Screening, Verdict
from corpus.campaigns.text_models import FullText
from corpus.gateways.http import Outbound
from corpus.gateways.pace import Pace
from corpus.gateways.records import FoundWork
from corpus.jobs import Kind
from corpus.models import Document, IngestionRun
from tests.integration.corpus.campaigning import BY, campaign, carried, include_all, pdf, with_candidates
from tests.loopback.campaign_servers import (
    HTML,
    PDF,
    Answer,
    PublisherServer,
    UnpaywallServer,
    endless,
    place,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def places(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.VAR_DIR = tmp_path / "var"
    return settings.VAR_DIR / "campaigns"


@pytest.fixture
def publisher() -> Iterator[PublisherServer]:
    with PublisherServer() as server:
        yield server


@pytest.fixture
def unpaywall(settings, monkeypatch, publisher) -> Iterator[UnpaywallServer]:
    monkeypatch.setattr(discovering, "PAUSE_SECONDS", 0.01)
    with UnpaywallServer() as server:
        settings.SCI_RAG_UNPAYWALL_URL = server.base_url
        settings.SCI_RAG_OUTBOUND_HOSTS = [server.host, publisher.host]
        settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
        yield server


def included(*dois: str) -> Campaign:
    """Return a campaign whose works, one for each DOI, are all included."""
    row = campaign()
    with_candidates(row, [FoundWork(key=doi, doi=doi, title=f"On {doi[8:]}", year=2021) for doi in dois])
    include_all(row)
    return row


def built(row: Campaign, *, dry_run: bool = False, again: bool = False, **options) -> CampaignRun:
    run = starting.build(campaign=row, by=BY, is_for_workers=False, dry_run=dry_run, again=again)
    return carried(run, **options)


def refusals(row: Campaign) -> dict[str, str]:
    rows = FullText.objects.filter(candidate__campaign=row, state="refused")
    return dict(rows.values_list("candidate__doi", "code"))


def work_off() -> None:
    while any(pipeline.work(kind=kind) for kind in Kind):
        pass


def left_on_disk(places: Path) -> list[str]:
    return sorted(path.name for path in places.rglob("*") if path.is_file() and path.name != "manifest.jsonl")


def test_only_an_explicit_licence_at_a_direct_pdf_lets_a_text_in(
    unpaywall, publisher, places, tmp_path
) -> None:
    """Must-show 2, what is accepted: type, signature, size and licence; the signal stays verbatim."""
    row = included("10.5555/a", "10.5555/b")
    unpaywall.places["10.5555/a"] = [place(publisher.holds("/a.pdf", pdf(tmp_path, "Paper A")), "cc-by")]
    unpaywall.places["10.5555/b"] = [
        place(publisher.holds("/b-closed.pdf", b"%PDF-no"), None),
        place(publisher.holds("/b.pdf", pdf(tmp_path, "Paper B")), "cc-by-nc-nd", version="acceptedVersion"),
    ]

    run = built(row)

    assert (run.state, run.failed, run.last_error_code) == ("finished", 0, "")
    assert [seen.path for seen in publisher.seen] == ["/a.pdf", "/b.pdf"]
    lines = [json.loads(line) for line in (places / str(row.pk) / "manifest.jsonl").read_text().splitlines()]
    assert [(line["path"], line["license_source"], line["version"]) for line in lines] == [
        ("00001-on-a.pdf", "cc-by", "publishedVersion"),
        ("00002-on-b.pdf", "cc-by-nc-nd", "acceptedVersion"),
    ]
    assert all("license_class" not in line for line in lines)
    work_off()
    documents = Document.objects.order_by("doi").values_list(
        "doi", "license_class", "license_source", "no_derivatives", "bucket", "state"
    )
    assert list(documents) == [
        ("10.5555/a", "unknown", "cc-by", False, "straw", "ready"),
        ("10.5555/b", "unknown", "cc-by-nc-nd", True, "straw", "ready"),
    ]
    flow = queries.flow(row)
    assert (flow.included, flow.fetched, dict(flow.taken_in), flow.in_corpus) == (2, 2, {"ready": 2}, 2)
    assert list(flow.differences()) == []
    sent = publisher.seen[0].headers
    assert sent["user-agent"].endswith("(mailto:library@lab.example)")
    assert not {"cookie", "authorization", "referer"} & set(sent)
    again = built(row)
    assert (again.state, len(publisher.seen), Document.objects.count()) == ("finished", 2, 2)


def test_each_text_that_has_no_explicit_licence_is_refused_by_name_and_never_asked_for(
    unpaywall, publisher, places
) -> None:
    address = publisher.holds("/x.pdf", b"%PDF-1.4 x")
    cases = {
        "10.5555/unknown": None,
        "10.5555/closed": [],
        "10.5555/bronze": [place(address, None)],
        "10.5555/implied": [place(address, "implied-oa")],
        "10.5555/other": [place(address, "other-oa")],
        "10.5555/publisher": [place(address, "publisher-specific-oa")],
        "10.5555/nonsense": [place(address, "cc-by-xyz")],
        # The licence of one place says nothing of another.
        "10.5555/elsewhere": [place(address, None), place(None, "cc-by", is_best=False)],
        "10.5555/landing": [place(None, "cc-by")],
    }
    row = included(*cases)
    unpaywall.places = {doi: found for doi, found in cases.items() if found is not None}

    built(row)

    assert refusals(row) == {
        "10.5555/unknown": "not_indexed",
        "10.5555/closed": "not_open_access",
        "10.5555/bronze": "no_explicit_license",
        "10.5555/implied": "no_explicit_license",
        "10.5555/other": "no_explicit_license",
        "10.5555/publisher": "no_explicit_license",
        "10.5555/nonsense": "no_explicit_license",
        "10.5555/elsewhere": "no_direct_pdf",
        "10.5555/landing": "no_direct_pdf",
    }
    assert publisher.seen == []
    assert left_on_disk(places) == []
    flow = queries.flow(row)
    assert flow.not_retrieved == flow.included == len(cases)
    assert list(flow.differences()) == []


def test_every_way_inside_is_refused_and_nothing_connects(unpaywall, publisher, places, trap) -> None:
    """Must-show 2, redirects: each hop is resolved once, checked and pinned."""
    port, caught = trap
    to = {
        "loopback": f"http://127.0.0.1:{port}/x.pdf",
        "loopback-https": f"https://127.0.0.1:{port}/x.pdf",
        "decimal": f"http://2130706433:{port}/x.pdf",
        "metadata": "http://169.254.169.254/latest/meta-data/",
        "ipv6": f"http://[::1]:{port}/x.pdf",
        "mapped": f"http://[::ffff:127.0.0.1]:{port}/x.pdf",
        "file": "file:///etc/passwd",
        "ftp": f"ftp://127.0.0.1:{port}/x.pdf",
        "gopher": f"gopher://127.0.0.1:{port}/x",
        "userinfo": f"https://publisher.example@127.0.0.1:{port}/",
    }
    row = included(*(f"10.5555/{name}" for name in to), "10.5555/direct", "10.5555/loop")
    for name, target in to.items():
        unpaywall.places[f"10.5555/{name}"] = [place(publisher.redirects(f"/{name}", target), "cc-by")]
    unpaywall.places["10.5555/direct"] = [place(f"http://127.0.0.1:{port}/x.pdf", "cc-by")]
    unpaywall.places["10.5555/loop"] = [
        place(publisher.redirects("/loop", publisher.base_url + "/loop"), "cc-by")
    ]

    run = built(row)

    assert refusals(row) == {
        **{f"10.5555/{name}": "bad_address" for name in to},
        "10.5555/direct": "bad_address",
        "10.5555/loop": "too_many_redirects",
    }
    assert (run.state, run.failed) == ("finished", len(to) + 2)
    assert caught == []
    assert left_on_disk(places) == []


@pytest.mark.parametrize(
    "answers",
    [
        [["127.0.0.1"]],
        [["169.254.169.254"]],
        [["::1"]],
        # Public when it is checked, inside when it is connected to: nobody asks a second time.
        [["203.0.114.9", "127.0.0.1"]],
        [["127.0.0.1"], ["93.184.216.34"]],
    ],
)
def test_a_name_that_leads_inside_is_refused_at_the_address_and_after_a_redirect(
    unpaywall, publisher, places, answers
) -> None:
    asked: list[str] = []

    def look_up(host: str, _port: int) -> list[str]:
        if not host.endswith(".example"):
            return [host]
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    def client(seconds: float) -> Outbound:
        return Outbound(contact="a@lab.example", deadline=seconds, look_up=look_up, pace=Pace())

    row = included("10.5555/direct", "10.5555/sent")
    unpaywall.places["10.5555/direct"] = [place("https://rebinding.example/x.pdf", "cc-by")]
    there = publisher.redirects("/there", "https://rebinding.example/x.pdf")
    unpaywall.places["10.5555/sent"] = [place(there, "cc-by")]

    built(row, client=client)

    # From plain http nobody is sent on to another scheme; the name itself is caught where it is looked up.
    assert refusals(row) == {"10.5555/direct": "forbidden_address", "10.5555/sent": "bad_address"}
    assert asked == ["rebinding.example"]
    assert left_on_disk(places) == []


def test_what_is_no_pdf_is_refused_by_type_signature_and_size(unpaywall, publisher, places, settings) -> None:
    """Must-show 2, bodies. Nothing of them is left."""
    bodies = {
        "html": Answer(200, b"<!doctype html><title>Landing page</title>", HTML),
        "html-as-pdf": Answer(200, b"<!doctype html>" + b" " * 2_000, PDF),
        "short": Answer(200, b"%PD", PDF),
        "late": Answer(200, b" " * 1_024 + b"%PDF-1.7", PDF),
        "empty": Answer(200, b"", PDF),
        "octets": Answer(200, b"%PDF-1.7", {"Content-Type": "application/octet-stream"}),
        "typeless": Answer(200, b"%PDF-1.7", {}),
        "packed": Answer(200, b"%PDF-1.7", {**PDF, "Content-Encoding": "gzip"}),
        "endless": endless(),
        "cut": Answer(200, b"%PDF-1.7" + b"x" * 5_000, PDF, cut=4_000),
        "denied": Answer(403, b"<html>Are you human?</html>", HTML),
        "gone": Answer(404, b"", HTML),
        "broken": Answer(503, b"", HTML),
        "odd": Answer(302, b"", {}),
    }
    row = included(*(f"10.5555/{name}" for name in bodies))
    for name, answer in bodies.items():
        publisher.files[f"/{name}.pdf"] = answer
        unpaywall.places[f"10.5555/{name}"] = [place(f"{publisher.base_url}/{name}.pdf", "cc-by")]
    settings.SCI_RAG_MAX_UPLOAD_MB = 3

    run = built(row)

    assert {doi[8:]: code for doi, code in refusals(row).items()} == {
        "html": "wrong_type",
        "html-as-pdf": "wrong_signature",
        "short": "wrong_signature",
        "late": "wrong_signature",
        "empty": "wrong_signature",
        "octets": "wrong_type",
        "typeless": "wrong_type",
        "packed": "wrong_type",
        "endless": "too_large",
        "cut": "truncated",
        "denied": "access_denied",
        "gone": "not_found",
        "broken": "unavailable",
        "odd": "rejected",
    }
    assert run.failed == len(bodies)
    # Of ten gigabytes the limit, and what was on its way then.
    assert publisher.sent < 3_000_000 + 8_000_000
    assert left_on_disk(places) == []
    assert not (places / str(row.pk) / "manifest.jsonl").exists()
    assert Document.objects.count() == 0


def test_a_second_place_is_tried_when_the_first_gives_nothing(unpaywall, publisher, tmp_path) -> None:
    row = included("10.5555/a")
    publisher.files["/first.pdf"] = Answer(403, b"", HTML)
    unpaywall.places["10.5555/a"] = [
        place(f"{publisher.base_url}/first.pdf", "cc-by"),
        place(publisher.holds("/second.pdf", pdf(tmp_path, "A")), "cc0", is_best=False),
    ]

    built(row)

    text = FullText.objects.get()
    assert (text.state, text.license_source, text.license_class) == ("fetched", "cc0", "public")
    assert [attempt["code"] for attempt in text.attempts] == ["access_denied"]


def test_a_rehearsal_asks_for_licences_and_no_publisher(unpaywall, publisher, places) -> None:
    """Must-show 3."""
    row = included("10.5555/a", "10.5555/b")
    unpaywall.places["10.5555/a"] = [place(publisher.holds("/a.pdf", b"%PDF-1.4"), "cc-by")]
    unpaywall.places["10.5555/b"] = []

    run = built(row, dry_run=True)

    assert (run.stage, run.state) == ("resolve", "finished")
    assert [seen.path for seen in unpaywall.seen] == ["/10.5555/a", "/10.5555/b"]
    assert publisher.seen == []
    assert not places.exists()
    assert (IngestionRun.objects.count(), Document.objects.count()) == (0, 0)
    flow = queries.flow(row)
    assert (dict(flow.refused), flow.not_sought) == ({"not_open_access": 1}, 1)

    built(row, dry_run=True)
    assert len(unpaywall.seen) == 2


def test_screening_gates_the_build(unpaywall, publisher, tmp_path) -> None:
    row = campaign()
    works = [FoundWork(key=f"10.5555/{n}", doi=f"10.5555/{n}", title=n) for n in ("in", "out", "open")]
    with_candidates(row, works)
    with pytest.raises(CampaignError, match="not screened"):
        built(row)

    include_all(row)
    standing = {one.candidate.title: one for one in Screening.objects.select_related("candidate")}
    rounds.decide(screening=standing["out"], verdict=Verdict.EXCLUDE, reason="", by=BY)
    Screening.objects.filter(pk=standing["open"].pk).update(verdict=Verdict.REVIEW)
    for work_found in works:
        unpaywall.places[work_found.doi] = [
            place(publisher.holds(f"/{work_found.title}.pdf", pdf(tmp_path, work_found.title)), "cc-by")
        ]
    # Excluded between its lookup and its download.
    unpaywall.on_request = lambda _seen: None
    built(row)

    assert [seen.path for seen in unpaywall.seen] == ["/10.5555/in"]
    assert [seen.path for seen in publisher.seen] == ["/in.pdf"]


def test_what_is_excluded_between_lookup_and_download_is_not_fetched(unpaywall, publisher, tmp_path) -> None:
    row = included("10.5555/a", "10.5555/b")
    for name in ("a", "b"):
        unpaywall.places[f"10.5555/{name}"] = [
            place(publisher.holds(f"/{name}.pdf", pdf(tmp_path, name)), "cc-by")
        ]
    standing = Screening.objects.get(candidate__doi="10.5555/b")

    def exclude(_seen) -> None:
        if standing.verdict != Verdict.EXCLUDE:
            standing.verdict = Verdict.EXCLUDE
            rounds.decide(screening=standing, verdict=Verdict.EXCLUDE, reason="", by=BY)
            connection.close()

    publisher.on_request = exclude
    built(row)

    assert [seen.path for seen in publisher.seen] == ["/a.pdf"]


def test_a_host_that_failed_is_tried_again_by_the_next_build_and_a_refusal_only_when_asked(
    unpaywall, publisher, tmp_path
) -> None:
    row = included("10.5555/a", "10.5555/b")
    address = publisher.holds("/a.pdf", pdf(tmp_path, "A"))
    publisher.will("/a.pdf", Answer(503, b"", HTML))
    unpaywall.places = {"10.5555/a": [place(address, "cc-by")], "10.5555/b": []}

    assert built(row).failed == 1
    assert refusals(row) == {"10.5555/a": "unavailable", "10.5555/b": "not_open_access"}
    built(row)
    assert refusals(row) == {"10.5555/b": "not_open_access"}
    assert len(unpaywall.seen) == 2
    unpaywall.places["10.5555/b"] = [place(publisher.holds("/b.pdf", pdf(tmp_path, "B")), "cc-by")]
    built(row, again=True)
    assert refusals(row) == {}
    assert [seen.path for seen in publisher.seen] == ["/a.pdf", "/a.pdf", "/b.pdf"]


def test_an_unpaywall_that_is_down_is_no_refusal_of_a_work(unpaywall, publisher, monkeypatch) -> None:
    monkeypatch.setattr(building, "MOST_FAILURES_IN_A_ROW", 2)
    row = included("10.5555/a", "10.5555/b", "10.5555/c")
    unpaywall.answer = lambda _seen: Answer(503, b"", HTML)

    run = built(row)

    assert (run.state, run.last_error_code) == ("failed", "provider_down")
    assert refusals(row) == {"10.5555/a": "lookup_failed", "10.5555/b": "lookup_failed"}
    del unpaywall.answer
    unpaywall.places = {"10.5555/a": [], "10.5555/b": [], "10.5555/c": []}
    built(row)
    assert set(refusals(row).values()) == {"not_open_access"}


PROGRAM = """
import sys
from pathlib import Path
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
settings.SCI_RAG_UNPAYWALL_URL = "http://" + sys.argv[2]
settings.SCI_RAG_OUTBOUND_HOSTS = [sys.argv[2], sys.argv[3]]
settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
settings.VAR_DIR = Path(sys.argv[4])
settings.MEDIA_ROOT = Path(sys.argv[5])
import django
django.setup()
from uuid import UUID
from corpus.campaigns.background import work
work(UUID(sys.argv[6]))
print("done")
"""


def test_a_worker_killed_in_the_middle_leaves_nothing_half_done_and_the_next_goes_on(
    unpaywall, publisher, places, settings, tmp_path
) -> None:
    row = included(*(f"10.5555/{number}" for number in range(4)))
    for number in range(4):
        body = pdf(tmp_path, f"Paper number {number}")
        unpaywall.places[f"10.5555/{number}"] = [place(publisher.holds(f"/{number}.pdf", body), "cc-by")]
    run = starting.build(campaign=row, by=BY, is_for_workers=True)
    process: list[subprocess.Popen] = []

    def kill(seen) -> None:
        if seen.path == "/2.pdf" and process[0].poll() is None:
            process[0].kill()

    publisher.on_request = kill
    line = [
        sys.executable, "-c", PROGRAM, connection.settings_dict["NAME"], unpaywall.host, publisher.host,
        str(settings.VAR_DIR), str(settings.MEDIA_ROOT), str(run.pk),
    ]  # fmt: skip
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(site.BASE_DIR)}
    process.append(subprocess.Popen(line, env=environment, stdout=subprocess.PIPE))
    out, _ = process[0].communicate(timeout=60)
    assert (process[0].returncode, out) == (-9, b"")
    publisher.on_request = lambda _seen: None

    work(run.pk)

    run.refresh_from_db()
    assert (run.state, run.attempt) == ("finished", 2)
    assert left_on_disk(places) == [f"0000{number}-on-{number - 1}.pdf" for number in range(1, 5)]
    assert [seen.path for seen in publisher.seen] == ["/0.pdf", "/1.pdf", "/2.pdf", "/2.pdf", "/3.pdf"]
    assert len(unpaywall.seen) == 4
    work_off()
    assert queries.flow(row).in_corpus == 4
    assert IngestionRun.objects.count() == 1


def test_partial_files_of_killed_processes_are_swept(places) -> None:
    row = included("10.5555/a")
    folder = downloads.folder(row.pk)
    folder.mkdir(parents=True)
    old, new = folder / ".part-old", folder / ".part-new"
    old.write_bytes(b"%PDF")
    new.write_bytes(b"%PDF")
    os.utime(old, (0, 0))

    assert downloads.sweep_abandoned() == 1
    assert left_on_disk(places) == [".part-new"]
    assert downloads.sweep(row.pk) == 1
    assert left_on_disk(places) == []


def test_a_document_that_was_deleted_is_not_counted_as_held(unpaywall, publisher, tmp_path) -> None:
    row = included("10.5555/a")
    unpaywall.places["10.5555/a"] = [place(publisher.holds("/a.pdf", pdf(tmp_path, "Paper A")), "cc-by")]
    built(row)
    work_off()
    Document.objects.all().delete()

    flow = queries.flow(row)

    assert (dict(flow.taken_in), flow.in_corpus) == ({"removed": 1}, 0)
    assert list(flow.differences()) == []


def test_a_command_that_is_interrupted_has_cancelled_and_one_that_was_killed_is_closed(
    unpaywall, publisher, tmp_path
) -> None:
    row = included("10.5555/a")
    unpaywall.places["10.5555/a"] = [place(publisher.holds("/a.pdf", pdf(tmp_path, "Paper A")), "cc-by")]

    def interrupted(_run, _batch):
        raise KeyboardInterrupt

    run = starting.build(campaign=row, by=BY, is_for_workers=False)
    with pytest.raises(KeyboardInterrupt):
        carry(run, "Building", take_in=interrupted)
    run.refresh_from_db()
    assert (run.state, run.lease_until) == ("cancelled", None)

    killed = starting.build(campaign=row, by=BY, is_for_workers=False)
    runs.claim(run=killed.pk)
    CampaignRun.objects.filter(pk=killed.pk).update(
        worker=f"{platform.node()}/999999999", started_at=timezone.now() - timedelta(minutes=2)
    )
    go_on()
    killed.refresh_from_db()
    assert (killed.state, killed.last_error_code) == ("failed", "abandoned")
    assert (built(row).state, len(publisher.seen)) == ("finished", 1)


def test_the_command_builds_and_takes_in_here(unpaywall, publisher, tmp_path) -> None:
    row = included("10.5555/a", "10.5555/b")
    unpaywall.places["10.5555/a"] = [place(publisher.holds("/a.pdf", pdf(tmp_path, "Paper A")), "cc-by")]
    unpaywall.places["10.5555/b"] = []

    done = CliRunner().invoke(command, ["build", "--name", "straw", "--json"])

    assert done.exit_code == 0, done.output
    said = json.loads(done.output)
    assert (said["refused"], said["fetched"], said["taken_in"]) == ({"not_open_access": 1}, 1, {"ready": 1})
    assert Document.objects.get().bucket == "straw"
    shown = CliRunner().invoke(command, ["status", "--name", "straw"])
    assert "not open access 1" in shown.output
    assert "Building the collection: Finished" in shown.output
    assert "straw\t2 works" in CliRunner().invoke(command, ["status"]).output
    assert row.runs.get().finished_at < timezone.now()
