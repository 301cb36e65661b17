"""The pages of campaigns: from an empty list to a decision, with forms alone."""

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from corpus.campaigns import background, included, queries
from corpus.campaigns.actions import discovering as opening
from corpus.campaigns.cli import campaign as commands
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.campaigns.screening_models import ScreeningDecision
from corpus.gateways.records import FoundWork
from corpus.models import GroupCeiling
from tests.integration.corpus.campaigning import (
    CRITERIA,
    campaign,
    carried,
    include_all,
    screened,
    with_candidates,
)
from tests.loopback.campaign_servers import OpenAlexServer, works
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)

UNSURE = says('{"decision": "include", "confidence": 0.4, "reason": "It might <b>fit</b>."}')


@pytest.fixture
def desk(librarian: User) -> Client:
    client = Client()
    client.force_login(librarian)
    return client


@pytest.fixture
def reachable(settings):
    with OpenAlexServer(works(150)) as server:
        settings.SCI_RAG_OPENALEX_URL = server.base_url
        settings.SCI_RAG_OPENALEX_API_KEY = server.key
        settings.SCI_RAG_OUTBOUND_HOSTS = [server.host]
        settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
        yield server


def text(response) -> str:
    return response.content.decode()


def of(name: str, *keys) -> str:
    return reverse(name, args=keys)


def test_without_a_campaign_the_page_says_what_one_is_and_how_to_begin(desk) -> None:
    shown = text(desk.get(reverse("campaigns")))

    assert "No campaign yet" in shown
    assert "sci-rag campaign discover" in shown
    assert reverse("campaign_new") in shown


def test_a_campaign_begins_with_its_search_and_the_worker_carries_it_out(desk, reachable) -> None:
    form = {"name": " Straw  storage ", "topic": "straw", "provider": "openalex", "most": "1000"}
    begun = desk.post(reverse("campaign_new"), form)

    run = CampaignRun.objects.get()
    assert (begun.status_code, begun.url) == (302, of("campaign_run", run.pk))
    assert (run.state, run.is_for_workers, run.started_by_name) == ("running", True, "librarian")
    assert "Waits for the worker" in text(desk.get(begun.url))
    background.work(run.pk)
    page = text(desk.get(begun.url))
    assert "2 of 2 steps" in page
    row = Campaign.objects.get()
    assert (row.name, row.candidates.count()) == ("Straw storage", 150)
    shown = text(desk.get(of("campaign", row.pk)))
    assert "OpenAlex: straw" in shown
    assert "read to its end" in shown
    listed = text(desk.get(of("campaign_works", row.pk), {"show": "none", "page": "3"}))
    assert "Storage of straw bales, trial 150" in listed
    twice = desk.post(reverse("campaign_new"), form)
    assert (twice.status_code, "of that name already" in text(twice)) == (422, True)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"topic": "", "dois": ""}, "and not both"),
        ({"topic": "straw", "dois": "10.5555/a"}, "and not both"),
        ({"topic": "", "dois": "10.5555/a\nnonsense"}, "line 2"),
        ({"topic": "x" * 400}, "at most 300"),
        ({"topic": "straw", "most": "20000"}, "10000"),
        ({"topic": "straw", "provider": "scopus"}, "valid choice"),
        ({"name": "", "topic": "straw"}, "Give it a name"),
        ({"topic": "a\x00b"}, "Null characters"),
    ],
)
def test_what_cannot_be_asked_is_said_and_what_was_typed_stays(desk, reachable, said, problem) -> None:
    response = desk.post(
        reverse("campaign_new"), {"name": "Kept", "provider": "openalex", "most": "100", **said}
    )

    assert response.status_code == 422
    assert problem in text(response)
    assert 'value="Kept"' in text(response) or said.get("name") == ""
    assert (Campaign.objects.count(), reachable.seen) == (0, [])


def test_a_search_that_is_refused_once_the_campaign_is_open_leaves_none_behind(
    desk, reachable, monkeypatch
) -> None:
    # The form and the option go by the limit as it was when they were made.
    monkeypatch.setattr(opening, "MOST_RECORDS", 10)
    form = {"name": "Straw", "topic": "straw", "provider": "openalex", "most": "100"}

    page = desk.post(reverse("campaign_new"), form)
    said = CliRunner().invoke(commands, ["discover", "--name", "Straw", "--topic", "straw"])

    assert (page.status_code, "10 records" in text(page)) == (422, True)
    assert (said.exit_code, "10 records" in said.output) == (1, True)
    assert (Campaign.objects.count(), CampaignRun.objects.count()) == (0, 0)


def test_without_a_contact_address_no_campaign_is_begun(desk) -> None:
    response = desk.post(
        reverse("campaign_new"), {"name": "Straw", "topic": "straw", "provider": "crossref", "most": "1"}
    )

    assert response.status_code == 422
    assert "SCI_RAG_CONTACT_EMAIL" in text(response)
    assert Campaign.objects.count() == 0


def test_screening_says_what_it_comes_to_starts_and_leaves_the_rest_to_a_person(
    desk, configured_model: OpenAIServer
) -> None:
    configured_model.will(UNSURE)
    row = campaign()
    work = FoundWork(key="10.5555/1", doi="10.5555/1", title="Bales & <twine>", abstract="They lost matter.")
    with_candidates(row, [work])
    address = of("campaign_screen", row.pk)

    said = text(desk.post(address, {"criteria": CRITERIA, "max_tokens": ""}))
    assert "1 calls to openai/test-model" in said
    assert (configured_model.requests, row.rounds.count()) == ([], 0)
    desk.post(address, {"criteria": CRITERIA, "max_tokens": "5000", "do": "start"})
    run = CampaignRun.objects.get()
    assert (run.stage, run.max_tokens) == ("screen", 5000)
    background.work(run.pk)

    page = text(desk.get(of("campaign_review", row.pk)))
    assert "The model was not sure enough" in page
    assert "It might &lt;b&gt;fit&lt;/b&gt;." in page
    assert "Bales &amp; &lt;twine&gt;" in page
    assert CRITERIA in page
    forget_clients()


def test_decisions_are_taken_and_taken_back_with_forms(desk, configured_model: OpenAIServer) -> None:
    configured_model.will(UNSURE)
    row = campaign()
    with_candidates(
        row, [FoundWork(key=f"10.5555/{n}", doi=f"10.5555/{n}", title=f"Work {n}") for n in (1, 2, 3)]
    )
    screened(row)
    first, second, _third = queries.queue(included.current_round(row))
    address = of("campaign_review", row.pk)

    decided = desk.post(
        address,
        {"screening": first.pk, "seen": first.decisions.all()[0].pk, "verdict": "include", "reason": "Fits."},
        follow=True,
    )
    assert "Included: Work 1" in text(decided)
    assert "2 works wait for a person" in text(decided)
    assert "Work 2" in text(decided)
    late = desk.post(
        address,
        {"screening": first.pk, "seen": first.decisions.all()[0].pk, "verdict": "exclude"},
        follow=True,
    )
    assert "Somebody has decided on this work" in text(late)
    undone = desk.post(of("campaign_undo", row.pk), follow=True)
    assert "Taken back" in text(undone)
    assert "Work 1" in text(undone)
    assert "3 works wait for a person" in text(undone)
    assert "There is no decision of yours" in text(desk.post(of("campaign_undo", row.pk), follow=True))
    later = text(desk.get(address, {"after": "2"}))
    assert "Work 3" in later
    around = text(desk.get(address, {"after": "3"}))
    assert "Work 1" in around
    bad = desk.post(address, {"screening": second.pk, "seen": "x", "verdict": "maybe"}, follow=True)
    assert bad.status_code == 200
    assert ScreeningDecision.objects.filter(made_by="person").count() == 2
    forget_clients()


def test_the_flow_is_drawn_and_the_same_numbers_stand_in_a_table(desk) -> None:
    row = campaign("Straw & <bales>")
    with_candidates(row, [FoundWork(key="10.5555/1", doi="10.5555/1", title="Work")])
    include_all(row)

    drawn = desk.get(of("campaign_flow", row.pk))
    page = text(desk.get(of("campaign", row.pk)))

    assert drawn["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert "Straw &amp; &lt;bales&gt;" in text(drawn)
    assert "Included, texts sought: 1" in text(drawn)
    assert of("campaign_flow", row.pk) in page
    assert "Included, texts sought" in page


def test_building_without_what_it_needs_says_so(desk, settings) -> None:
    row = campaign()
    with_candidates(row, [FoundWork(key="10.5555/1", doi="10.5555/1", title="Work")])
    refused = text(desk.post(of("campaign_build", row.pk), {"do": "build"}, follow=True))
    assert "SCI_RAG_CONTACT_EMAIL" in refused

    settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
    assert "was not screened" in text(desk.post(of("campaign_build", row.pk), {"do": "build"}, follow=True))
    include_all(row)
    desk.post(of("campaign_build", row.pk))
    desk.post(of("campaign_build", row.pk))
    # The second start is the same run: it waits already.
    run = CampaignRun.objects.get()
    assert run.stage == "resolve"
    desk.post(of("campaign_run_cancel", run.pk))
    run.refresh_from_db()
    assert run.state == "cancelled"
    background.work(run.pk)
    desk.post(of("campaign_build", row.pk), {"do": "build", "again": "on"})
    assert CampaignRun.objects.get(state="running").parameters == {"again": True}


def test_a_run_that_others_carry_out_cannot_be_started_twice(desk, reachable) -> None:
    from corpus.campaigns.actions import runs
    from tests.integration.corpus.campaigning import search

    row = campaign()
    run = search(row)
    held = runs.claim(run=run.pk)
    assert held is not None

    response = desk.post(
        of("campaign_search", row.pk), {"topic": "other", "provider": "openalex", "most": "100"}
    )

    assert (response.status_code, "is busy" in text(response)) == (422, True)


@pytest.mark.parametrize("who", ["asker", "expert", "narrow"])
def test_to_others_there_are_no_campaigns(who, asker, expert, librarian) -> None:
    narrow = User.objects.create_user("narrow")
    group = Group.objects.create(name="branch librarian")
    group.permissions.set(Group.objects.get(name="librarian").permissions.all())
    GroupCeiling.objects.create(group=group, license_classes=["public"])
    narrow.groups.add(group)
    client = Client()
    client.force_login({"asker": asker, "expert": expert, "narrow": narrow}[who])
    row = campaign()

    assert client.get(reverse("campaigns")).status_code == 404
    assert client.get(of("campaign", row.pk)).status_code == 404
    assert client.post(of("campaign_build", row.pk)).status_code == 404
    assert reverse("campaigns") not in text(client.get(reverse("documents")))


def test_librarians_find_campaigns_from_the_documents_and_the_admin(desk) -> None:
    row = campaign("Straw")
    with_candidates(row, [FoundWork(key="10.5555/1", doi="10.5555/1", title="Work")])
    include_all(row)

    assert reverse("campaigns") in text(desk.get(reverse("documents")))
    assert reverse("campaigns") in text(desk.get(reverse("runs")))
    listed = text(desk.get(reverse("admin:corpus_campaign_changelist")))
    assert of("campaign", row.pk) in listed
    assert "Work" in text(desk.get(reverse("admin:corpus_screeningdecision_changelist")))
    assert desk.get(reverse("admin:corpus_campaignrun_changelist")).status_code == 200


def test_a_run_is_followed_to_its_end(desk, reachable) -> None:
    from tests.integration.corpus.campaigning import search
    from tests.leaks.asking import seen

    run = carried(search(campaign()))

    stream = seen(desk.get(of("campaign_run_events", run.pk)))

    assert "2 of 2 steps" in stream
    assert "event: ended" in stream
