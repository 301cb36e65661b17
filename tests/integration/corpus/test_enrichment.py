"""Asking Crossref about works: what is recorded of an answer, and that a failure is never a clean record."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest
from click.testing import CliRunner
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from answers.engine import answer
from corpus import cli, connections, tasks
from corpus.actions import enrichment, review
from corpus.actions.editorial import record_event
from corpus.actions.rights import set_license
from corpus.curation import ReviewItem
from corpus.enrichment import planning, running
from corpus.gateways.crossref import Crossref
from corpus.gateways.http import Outbound
from corpus.gateways.pace import Pace
from corpus.models import DocumentCitation, EditorialEvent, RightsDecision, Source, SourceCheck
from corpus.scope import RetrievalScope
from retrieval.retriever import retrieve
from tests.factories.corpus import DocumentFactory, SourceFactory
from tests.integration.answers.conftest import passages
from tests.loopback import crossref_server as server_says
from tests.loopback.crossref_server import CrossrefServer, update

pytestmark = pytest.mark.django_db(transaction=True)

DOI, NOTICE = "10.1000/paper", "10.1000/notice"
CC_BY = {"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}
CC_BY_NC_ND = {"URL": "https://creativecommons.org/licenses/by-nc-nd/4.0/", "content-version": "vor"}
MINING = {"URL": "https://www.elsevier.com/tdm/userlicense/1.0/", "content-version": "tdm"}


@pytest.fixture
def server(settings, monkeypatch) -> Iterator[CrossrefServer]:
    monkeypatch.setattr(running, "PAUSE_SECONDS", 0.01)
    with CrossrefServer() as running_server:
        settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
        settings.SCI_RAG_CROSSREF_URL = running_server.base_url
        settings.SCI_RAG_OUTBOUND_HOSTS = [running_server.host]
        yield running_server


def held(doi: str = DOI, **fields):
    return DocumentFactory(source=SourceFactory(identifier_value=doi), doi=doi, **fields)


def asked(server: CrossrefServer, *, deadline: float = 5.0, **options) -> running.Enriched:
    outbound = Outbound(contact="library@lab.example", listed=[server.host], deadline=deadline, pace=Pace())
    with outbound:
        return running.run(crossref=Crossref(outbound), **options)


def check_of(document) -> SourceCheck:
    return SourceCheck.objects.get(source=document.source)


def events_of(document) -> list[tuple[str, str]]:
    return list(document.source.events.order_by("happened_on", "id").values_list("kind", "notice_doi"))


def test_the_nine_editorial_cases_are_left_out_of_answers_exactly_where_a_retraction_stands(server):
    """Must-show 4 of the rights issue, case by case; raw retrieval shows all of them."""
    cases = [
        "retraction", "concern", "correction", "reinstated", "notice", "rejected", "timeout", "lettercase",
        "claimed",
    ]  # fmt: skip
    documents = {}
    for number, case in enumerate(cases):
        title = "RETRACTED: Straw" if case == "claimed" else f"Straw in case {case}"
        documents[case] = held(f"10.1000/{case}", title=title)
        passages(
            documents[case], f"In trial {number} the methane yield of rice straw was {200 + number} L/kg."
        )
    server.add("10.1000/retraction", updated_by=[update("retraction", "10.1000/notice", (2021, 2, 3))])
    server.add("10.1000/concern", updated_by=[update("expression_of_concern", "10.1000/c", (2021, 2, 3))])
    server.add("10.1000/correction", updated_by=[update("erratum", "10.1000/e", (2021, 2, 3))])
    reinstated = [
        update("retraction", "10.1000/r1", (2021, 2, 3), "retraction-watch"),
        update("reinstatement", "10.1000/r2", (2022, 2, 3), "retraction-watch"),
    ]
    server.add("10.1000/reinstated", updated_by=reinstated)
    server.add("10.1000/notice", update_to=[update("retraction", "10.1000/RETRACTION", (2021, 2, 3))])
    server.will("10.1000/rejected", server_says.REJECTED)
    server.will("10.1000/timeout", *[server_says.Fault(wait=5)] * 3)
    server.add("10.1000/lettercase", updated_by=[update("Retraction", "10.1000/N3", (2021, 2, 3))])
    server.works["10.1000/lettercase"]["DOI"] = "10.1000/LetterCase"
    server.add("10.1000/claimed", title=["RETRACTED: Straw"])

    report = asked(server, deadline=0.4)

    assert (report.checked, dict(report.failed)) == (7, {"rejected": 1, "timeout": 1})
    left_out = {"retraction", "lettercase"}
    question = "What was the methane yield of rice straw?"
    raw = retrieve(question=question, scope=RetrievalScope(), limit=20)
    assert {item.title for item in raw.items} == {document.title for document in documents.values()}
    told = answer(
        question=question, requested=RetrievalScope(exclude_retracted=True), by=None, limit=20
    ).sources.values_list("title", flat=True)
    assert set(told) == {documents[case].title for case in cases if case not in left_out}

    failed = {case for case in cases if check_of(documents[case]).outcome == "check_failed"}
    assert failed == {"rejected", "timeout"}
    assert {check_of(documents[case]).last_good_at for case in failed} == {None}
    flags = {
        case: (source.is_retracted, source.has_concern, source.is_corrected)
        for case in cases
        for source in [Source.objects.get(pk=documents[case].source_id)]
    }
    assert flags["concern"] == (False, True, False)
    assert flags["correction"] == (False, False, True)
    assert {case for case in cases if flags[case][0]} == left_out
    (question,) = ReviewItem.objects.all()
    assert (question.document, question.kind) == (documents["claimed"], "claimed_retraction")


FAILURES = [
    (server_says.NOT_FOUND, "not_found"),
    (server_says.REJECTED, "rejected"),
    (server_says.BROKEN, "unavailable"),
    (server_says.asked_to_wait(0), "rate_limited"),
    (server_says.TRUNCATED, "truncated"),
    (server_says.HALF_A_DOCUMENT, "garbage"),
    (server_says.NOT_JSON, "garbage"),
    (server_says.WRONG_SHAPE, "garbage"),
    (server_says.DEEP, "garbage"),
    (server_says.HTML, "wrong_type"),
    (server_says.Fault(body=b" " * 10_000_001), "too_large"),
    (server_says.Fault(body=b'{"message":{"DOI":"10.1000/other"}}'), "wrong_work"),
    (server_says.Fault(body=b'{"message":{"DOI":"10.1000/paper","updated-by":{"a":1}}}'), "garbage"),
    (server_says.Fault(302, b"", {"Location": "http://169.254.169.254/"}), "bad_address"),
]


def test_a_check_that_fails_is_a_state_of_its_own_and_keeps_the_last_good_one(server):
    document = held()
    server.add(DOI, updated_by=[update("expression_of_concern", NOTICE, (2021, 1, 1))])
    asked(server)
    good = check_of(document).last_good_at
    for fault, reason in FAILURES:
        server.will(DOI, *[fault] * running.ATTEMPTS)

        report = asked(server, force=True)

        server.faults.clear()
        check = check_of(document)
        assert (report.checked, dict(report.failed)) == (0, {reason: 1})
        assert (check.outcome, check.reason, check.last_good_at) == ("check_failed", reason, good)
        assert check.checked_at > good
    assert events_of(document) == [("expression_of_concern", NOTICE)]
    assert Source.objects.get(pk=document.source_id).has_concern


def test_what_passes_is_tried_again_and_what_does_not_is_not(server):
    held(DOI), held("10.1000/gone")
    server.add(DOI)
    server.will(DOI, server_says.BROKEN, server_says.HALF_A_DOCUMENT)

    report = asked(server)

    assert (report.checked, dict(report.failed)) == (1, {"not_found": 1})
    assert (len(server.asked_for(DOI)), len(server.asked_for("10.1000/gone"))) == (3, 1)


@pytest.mark.parametrize(("status", "as_date"), [(429, False), (503, True)])
def test_no_host_is_asked_again_before_the_time_it_asked_for(server, status, as_date):
    # A date has no parts of seconds.
    wait = 2 if as_date else 1
    for doi in (DOI, "10.1000/next"):
        held(doi)
        server.add(doi)
        server.will(doi, server_says.asked_to_wait(wait, as_date=as_date, status=status))

    report = asked(server)

    times = [seen.at for seen in server.seen]
    assert (report.checked, len(times)) == (2, 4)
    assert times[1] - times[0] >= 1
    assert times[3] - times[2] >= 1


@pytest.mark.parametrize("seconds", [61, 10**30])
def test_a_host_that_asks_for_more_than_a_minute_is_left_alone(server, seconds):
    documents = [held(DOI), held("10.1000/next")]
    for document in documents:
        server.will(document.doi, *[server_says.asked_to_wait(seconds)] * 3)

    report = asked(server)

    assert (report.stopped, report.checked, len(server.seen)) == ("held_back", 0, 1)
    assert not SourceCheck.objects.exists()
    assert planning.due(now=timezone.now()).count() == 2


def test_a_run_ends_when_crossref_cannot_be_asked_ten_times_in_a_row(server):
    for number in range(12):
        held(f"10.1000/{number}")
        server.will(f"10.1000/{number}", *[server_says.BROKEN] * 3)

    report = asked(server)

    assert (report.stopped, report.failed["unavailable"]) == ("provider_down", 10)
    assert SourceCheck.objects.filter(outcome="good").count() == 0


def test_no_connection_is_held_while_crossref_is_asked(server, monkeypatch):
    held()
    server.add(DOI)
    seen = []
    release = connections.release_before_outside_call

    def released() -> None:
        release()
        seen.append(connection.connection)

    monkeypatch.setattr("corpus.gateways.http.connections.release_before_outside_call", released)
    asked(server)

    assert seen == [None]
    with transaction.atomic(), pytest.raises(connections.ConnectionHeld):
        asked(server, force=True)


def test_what_was_checked_well_is_left_alone_for_thirty_days(server):
    document = held()
    server.add(DOI)
    asked(server)
    assert asked(server).due == 0
    assert asked(server, force=True).checked == 1

    SourceCheck.objects.update(last_good_at=timezone.now() - timedelta(days=31))

    assert asked(server).checked == 1
    assert check_of(document).last_good_at > timezone.now() - timedelta(minutes=1)


def test_the_clock_waits_before_it_repeats_a_failed_check_and_a_person_does_not(server):
    held(), held("10.1000/gone")
    server.add(DOI)
    server.will(DOI, *[server_says.BROKEN] * 3)
    asked(server)

    assert asked(server, patient=True).due == 0
    SourceCheck.objects.update(checked_at=timezone.now() - timedelta(hours=2))
    assert asked(server, patient=True).checked == 1
    assert asked(server).due == 1
    SourceCheck.objects.update(checked_at=timezone.now() - timedelta(days=8))
    assert asked(server, patient=True).due == 1


def test_only_held_works_with_a_doi_are_asked_about(server):
    SourceFactory(identifier_value="10.1000/cited")
    DocumentFactory(source=SourceFactory(identifier_type="", identifier_value=""))
    DocumentFactory(source=None)

    assert running.plan() == []


def test_a_doi_with_odd_characters_stays_one_segment_of_the_address(server):
    doi = "10.1000/a?b#c/../d&e=%2e;(f)<g>"
    held(doi)
    server.add(doi)

    assert asked(server).checked == 1
    assert server.seen[0].path == "/works/10.1000%2Fa%3Fb%23c%2F..%2Fd%26e%3D%252e%3B%28f%29%3Cg%3E"


def test_a_record_fills_what_is_missing_and_overwrites_nothing(server):
    document = held(journal="")
    kept = held("10.1000/kept", journal="As we write it")
    SourceFactory._meta.model.objects.filter(pk=document.source_id).update(title="", year=None)
    for doi in (DOI, "10.1000/kept"):
        server.add(
            doi, container_title=["Journal of Straw"], publisher="Press", issued={"date-parts": [[2019]]},
            is_referenced_by_count=12,
        )  # fmt: skip

    asked(server)

    document.refresh_from_db()
    source = document.source
    assert (document.journal, document.journal_folded) == ("Journal of Straw", "journal of straw")
    assert (source.title, source.container, source.publisher, source.year) == (
        f"Work {DOI}", "Journal of Straw", "Press", 2019
    )  # fmt: skip
    assert check_of(document).cited_by == 12
    kept.refresh_from_db()
    assert kept.journal == "As we write it"


def licensed(server, *licenses, **fields):
    document = held(**fields)
    server.add(DOI, license=list(licenses))
    report = asked(server)
    document.refresh_from_db()
    return document, report


def test_an_undecided_document_gets_the_class_of_the_record_and_a_decision(server):
    document, report = licensed(server, CC_BY_NC_ND, license_class="unknown", license_source="")

    decision = RightsDecision.objects.get()
    assert (document.license_class, document.no_derivatives) == ("open_noncommercial", True)
    assert (decision.process, decision.from_class, decision.decided_by_name) == ("crossref", "unknown", "")
    assert document.license_source == decision.signal == f"{CC_BY_NC_ND['URL']} (vor)"
    assert report.done["proposed"] == 1


def test_software_lowers_at_once_and_only_once(server, librarian):
    document, _ = licensed(server, MINING, license_class="open_commercial")
    assert document.license_class == "restricted"

    set_license(documents=[document], license_class="open_commercial", by=librarian, evidence="Letter")
    asked(server, force=True)

    document.refresh_from_db()
    assert document.license_class == "open_commercial"


def test_software_suggests_to_raise_and_a_person_does(server, librarian):
    document, _ = licensed(server, CC_BY, license_class="restricted")
    assert document.license_class == "restricted"
    (item,) = ReviewItem.objects.all()
    assert item.suggestion == {"license_class": "open_commercial", "signal": f"{CC_BY['URL']} (vor)"}

    review.accept(items=[item], by=librarian)
    asked(server, force=True)

    document.refresh_from_db()
    assert (document.license_class, ReviewItem.objects.count()) == ("open_commercial", 1)


def test_a_record_that_contradicts_the_document_opens_nothing_by_itself(server):
    document, _ = licensed(
        server, CC_BY, license_class="unknown", rights_statement="© 2020 Press. All rights reserved."
    )

    assert document.license_class == "unknown"
    assert ReviewItem.objects.get().kind == "looser_license"


def test_a_preprint_does_not_get_the_licence_of_the_version_of_record(server):
    document, _ = licensed(server, CC_BY, license_class="unknown", version_label="Preprint v2")

    assert (document.license_class, ReviewItem.objects.count()) == ("unknown", 0)


def test_references_the_own_list_lacks_are_kept_and_lead_to_held_works(server):
    document, other = held(), held("10.1000/other")
    DocumentCitation.objects.create(
        citing=document, ordinal=1, text="Lovelace. Straw and its many uses. 1999.", doi_normalised=""
    )
    references = [
        {"article-title": "Straw and its many uses", "DOI": "10.1000/known"},
        {"DOI": "10.1000/OTHER", "article-title": "Another"},
        {"unstructured": "A letter to the editor, 1843"},
        {"DOI": "10.1000/other"},
        {"key": "ref4"},
    ]
    server.add(DOI, reference=references)
    server.add("10.1000/other")

    for _ in range(2):
        asked(server, force=True)

    entries = document.references.filter(origin="index").order_by("ordinal")
    assert [(entry.ordinal, entry.text, entry.doi_normalised) for entry in entries] == [
        (1, "Another", "10.1000/other"),
        (2, "A letter to the editor, 1843", ""),
    ]
    leads_to = Source.objects.get(identifier_value=entries[0].doi_normalised)
    assert leads_to == other.source


def test_a_notice_tells_about_the_work_it_concerns_where_that_is_known(server):
    notice, paper = held(NOTICE), held()
    server.add(
        NOTICE,
        update_to=[update("retraction", DOI, (2021, 1, 1)), update("retraction", "10.1000/x", (2021,))],
    )

    asked(server)

    assert (events_of(notice), events_of(paper)) == ([], [("retraction", NOTICE)])
    assert not Source.objects.filter(identifier_value="10.1000/x").exists()


def test_asking_again_records_nothing_twice_even_without_a_day(server):
    document = held()
    undated = update("retraction", NOTICE, (2021, 1, 1))
    del undated["updated"]
    server.add(DOI, updated_by=[undated])
    asked(server)
    EditorialEvent.objects.update(happened_on=date(2020, 5, 5))

    asked(server, force=True)

    assert events_of(document) == [("retraction", NOTICE)]


def test_crossref_and_retraction_watch_record_one_event_of_theirs(server):
    document = held()
    server.add(DOI, updated_by=[update("retraction", NOTICE, (2021, 1, 1), "retraction-watch")])
    record_event(
        source=document.source, kind="retraction", origin="retraction_watch", happened_on=date(2021, 1, 1),
        notice_doi=NOTICE,
    )  # fmt: skip

    asked(server)

    assert events_of(document) == [("retraction", NOTICE)]


def test_a_claim_is_asked_once_and_accepting_it_records_a_retraction_in_that_name(server, librarian):
    document = held(title="Retracted: Straw")
    server.add(DOI)
    for _ in range(2):
        asked(server, force=True)
    (item,) = ReviewItem.objects.all()

    review.accept(items=[item], by=librarian, note="Their page says so")

    event = EditorialEvent.objects.get()
    assert (event.source, event.kind, event.origin) == (document.source, "retraction", "manual")
    assert (event.recorded_by, event.note) == (librarian, "Their page says so")
    assert Source.objects.get(pk=document.source_id).is_retracted


def test_a_rejected_claim_is_not_asked_again(server, librarian):
    held(title="Retracted: Straw")
    server.add(DOI)
    asked(server)
    review.reject(items=ReviewItem.objects.all(), by=librarian)

    asked(server, force=True)

    assert ReviewItem.objects.get().state == "rejected"
    assert not EditorialEvent.objects.exists()


def test_a_contradiction_is_a_question_for_a_person(server):
    held()
    server.add(
        DOI,
        update_to=[update("retraction", NOTICE, (2021, 1, 1))],
        updated_by=[update("retraction", NOTICE, (2021, 1, 1))],
    )
    asked(server)

    assert not EditorialEvent.objects.exists()
    assert ReviewItem.objects.get().suggestion == {"signal": NOTICE}


def command(*arguments: str):
    return CliRunner().invoke(cli.corpus, ["enrich", *arguments])


def test_a_dry_run_asks_nobody_and_writes_nothing(server, settings):
    settings.SCI_RAG_CONTACT_EMAIL = ""
    held()

    shown = command("--dry-run", "--json")

    assert json.loads(shown.stdout) == {"dry_run": True, "due": 1, "dois": [DOI]}
    assert (server.seen, SourceCheck.objects.count()) == ([], 0)


def test_the_command_says_what_came_of_it(server):
    held(), held("10.1000/gone")
    server.add(DOI, updated_by=[update("retraction", NOTICE, (2021, 1, 1))])

    report = json.loads(command("--json").stdout)

    assert (report["due"], report["checked"], report["failed"]) == (2, 1, {"not_found": 1})
    assert (report["done"]["events"], report["done"]["retracted"]) == (1, 1)
    again = command("--limit", "1")
    assert "0 of 1 works checked, 1 checks failed" in again.stdout
    assert again.exit_code == 1


def test_without_a_contact_address_the_command_says_how_to_set_one(server, settings):
    settings.SCI_RAG_CONTACT_EMAIL = ""
    held()

    refused = command()

    assert (refused.exit_code, server.seen) == (1, [])
    assert "SCI_RAG_CONTACT_EMAIL" in refused.stderr


def test_the_clock_asks_the_same_way_and_is_silent_without_a_contact_address(server, settings):
    document = held()
    server.add(DOI)
    settings.SCI_RAG_CONTACT_EMAIL = ""
    tasks.check_sources()
    assert not SourceCheck.objects.exists()

    settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
    tasks.check_sources()

    assert check_of(document).outcome == "good"


def test_a_librarian_has_works_checked_now(server, client, librarian, monkeypatch):
    rung = []
    monkeypatch.setattr("corpus.bells.call_for_checks", lambda: rung.append(1))
    monkeypatch.setattr("corpus.admin.sources.bells.call_for_checks", lambda: rung.append(1))
    document = held()
    server.add(DOI)
    asked(server)
    client.force_login(librarian)

    client.post(
        reverse("admin:corpus_source_changelist"),
        {"action": "check_now", "_selected_action": [str(document.source_id)]},
    )

    assert rung
    assert asked(server, patient=True).checked == 1
    assert asked(server, patient=True).due == 0


def test_pages_say_that_a_check_failed_and_when_the_last_good_one_was(client, librarian):
    document = held()
    at = datetime(2026, 2, 3, tzinfo=UTC)
    enrichment.record_failure(source=document.source, reason="timeout", at=at)
    client.force_login(librarian)
    desk = reverse("admin:corpus_source_change", args=[document.source_id])
    page = reverse("document", args=[document.pk])

    assert "Failed on 2026-02-03: timeout" in client.get(desk).content.decode()
    shown = client.get(page).content.decode()
    assert "failed, which says nothing about the work" in shown
    assert "It has never been checked." in shown

    SourceCheck.objects.update(last_good_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert "The last good check was on 1 January 2026." in client.get(page).content.decode()
