"""Why is this not here? Each rule is named to who may know, and nothing at all to who may not."""

from __future__ import annotations

import json
import re
import uuid
from datetime import timedelta
from typing import Any
from urllib.parse import quote_plus

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import Group, User
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus import ceilings, explaining
from corpus.access_requests import AccessRequest
from corpus.actions import access_requests
from corpus.actions.access_requests import AccessRequestError, TooMany, decide, request_access
from corpus.cli_explain import explain as command
from corpus.models import Document, DocumentCitation, GroupCeiling
from corpus.rights import ALL_CLASSES
from corpus.scope import Ceiling, scope
from tests.factories.corpus import DocumentFactory, IngestionItemFactory, SourceFactory

pytestmark = pytest.mark.django_db


def codes(wanted: str, user: User, **requested: Any) -> list[str]:
    found = explaining.explain(
        wanted,
        documents=Document.objects.all(),
        person=explaining.of(user),
        requested=scope(**({"exclude_retracted": True} | requested)),
        with_files=True,
    )
    return [rule.code for one in found for rule in one.rules]


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, None),
        ({"license_class": "restricted"}, "licence"),
        ({"license_class": "unknown"}, "licence"),
        ({"bucket": "closed"}, "bucket_ceiling"),
        ({"state": "needs_ocr"}, "needs_ocr"),
        ({"state": "failed", "state_reason": "damaged"}, "failed"),
        ({"state": "embedding"}, "waiting"),
        ({"status": "superseded"}, "superseded"),
    ],
)
def test_each_rule_that_keeps_a_document_from_somebody_is_named(
    asker: User, values: dict[str, Any], code: str | None
) -> None:
    GroupCeiling.objects.filter(group__name="asker").update(all_buckets=False, buckets=["local"])
    document = DocumentFactory(doi="10.1234/ABC", **values)

    for wanted in (str(document.pk), "https://doi.org/10.1234/abc", document.title.upper()):
        assert codes(wanted, asker) == ([code] if code else []), wanted


def test_an_embargo_is_named_with_its_day(asker: User) -> None:
    until = timezone.localdate() + timedelta(days=30)
    document = DocumentFactory(license_class="restricted", embargoed_until=until)

    assert codes(str(document.pk), asker) == ["licence", "embargo"]


def test_retraction_and_the_filters_of_a_request_are_named(asker: User) -> None:
    document = DocumentFactory(source=SourceFactory(is_retracted=True), year=2020)
    undated = DocumentFactory(year=None)

    assert codes(str(document.pk), asker) == ["retracted"]
    assert codes(str(document.pk), asker, exclude_retracted=False) == []
    assert codes(str(document.pk), asker, exclude_retracted=False, year_min=2021) == ["year"]
    assert codes(str(undated.pk), asker, year_max=2021) == ["no_year"]
    assert codes(str(undated.pk), asker, authors=["Grace Hopper"], journals=["Nature"]) == ["filters"]


def test_files_that_never_became_documents_are_found_by_title_path_and_doi(asker: User) -> None:
    IngestionItemFactory(
        path="papers/scan.pdf", outcome="needs_ocr", described={"title": "A scan", "doi": "10.1234/SCAN"}
    )
    IngestionItemFactory(path="papers/broken.pdf", outcome="failed", detail="It is damaged.")

    assert codes("10.1234/scan", asker) == codes("a SCAN", asker) == codes("scan.pdf", asker) == ["needs_ocr"]
    assert codes("broken.pdf", asker) == ["failed"]


def test_what_was_never_taken_in_says_how_many_held_documents_cite_it() -> None:
    citing = DocumentFactory()
    for ordinal in (1, 2):
        DocumentCitation.objects.create(citing=citing, ordinal=ordinal, doi_normalised="10.1234/far")

    rule = explaining.not_held("doi:10.1234/FAR", documents=Document.objects.all(), knows_all=True)

    assert rule.code == "not_held"
    assert "1 document that is held cites it" in rule.words


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    license_class=st.sampled_from([str(item) for item in ALL_CLASSES]),
    bucket=st.sampled_from(["local", "closed"]),
    state=st.sampled_from(Document.State.values),
    year=st.sampled_from([None, 1990, 2020]),
    retracted=st.booleans(),
    allowed=st.sets(st.sampled_from(list(ALL_CLASSES))),
    buckets=st.none() | st.sets(st.sampled_from(["local", "closed"])).map(tuple),
    requested=st.builds(
        scope,
        license_classes=st.none() | st.sets(st.sampled_from([str(item) for item in ALL_CLASSES])),
        buckets=st.none() | st.just(["local"]),
        authors=st.none() | st.sampled_from([["Ada Lovelace"], ["Nobody"]]),
        journals=st.none() | st.sampled_from([["journal of biochar"], ["Nature"]]),
        exclude_dois=st.sampled_from([[], ["10.1234/abc"]]),
        year_min=st.none() | st.just(2000),
        exclude_retracted=st.booleans(),
    ),
)
def test_a_rule_that_hides_is_named_exactly_when_the_document_is_hidden(
    license_class: str, bucket: str, state: str, year: int | None, retracted: bool,
    allowed: set[Any], buckets: tuple[str, ...] | None, requested: Any,
) -> None:  # fmt: skip
    Document.objects.all().delete()
    document = DocumentFactory(
        license_class=license_class, bucket=bucket, state=state, year=year, doi="10.1234/abc",
        source=SourceFactory(is_retracted=retracted),
    )  # fmt: skip
    ceiling = Ceiling(tuple(item for item in ALL_CLASSES if item in allowed), buckets)

    is_hidden = not Document.objects.within(requested.within(ceiling)).exists()
    (one,) = explaining.explain(
        str(document.pk),
        documents=Document.objects.all(),
        person=explaining.Person("someone", ceiling),
        requested=requested,
    )

    assert one.is_hidden == is_hidden, [rule.code for rule in one.rules]


# --- The page --------------------------------------------------------------------------------


def without_chance(response: HttpResponse, *typed: str) -> str:
    """The body without what differs from one request to the next, and without what was typed."""
    body = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", response.content.decode())
    for text in typed:
        body = body.replace(text, "TYPED").replace(quote_plus(text), "TYPED")
    return body


def test_what_is_hidden_answers_an_asker_exactly_like_what_does_not_exist(asker: User) -> None:
    hidden = DocumentFactory(title="Zebra", license_class="restricted", doi="10.1234/zebra")
    failed = DocumentFactory(title="Okapi", state="failed", doi="10.1234/okapi")
    IngestionItemFactory(path="gnu.pdf", outcome="failed", detail="Damaged.")
    client = client_of(asker)

    for present, absent in (
        (str(hidden.pk), str(uuid.uuid4())),
        (hidden.doi, "10.1234/nowhere"),
        ("Zebra", "Nobody"),
        (failed.doi, "10.1234/neither"),
        ("Okapi", "Nothing"),
        ("gnu.pdf", "gnus.pdf"),
    ):
        pages = []
        for wanted in (present, absent):
            with CaptureQueriesContext(connection) as queries:
                page = client.get(reverse("why"), {"q": wanted})
            pages.append((page.status_code, len(queries), without_chance(page, wanted)))
        assert pages[0] == pages[1], present
        assert "Not available" in pages[0][2]
        assert "Request access" in pages[0][2]


def test_a_request_for_what_is_hidden_goes_like_one_for_what_does_not_exist(asker: User) -> None:
    hidden = DocumentFactory(license_class="restricted", doi="10.1234/zebra")
    client = client_of(asker)

    answers = [
        client.post(reverse("access_request"), {"wanted": wanted, "reason": "Work"})
        for wanted in (hidden.doi, "10.1234/nowhere")
    ]

    assert [(one.status_code, one["Location"]) for one in answers] == [(302, reverse("why"))] * 2
    assert AccessRequest.objects.count() == 2


def test_an_asker_is_told_the_rules_of_what_they_may_see(asker: User) -> None:
    document = DocumentFactory(title="Zebra", source=SourceFactory(is_retracted=True))

    page = client_of(asker).get(reverse("why"), {"q": "Zebra"}).content.decode()

    assert reverse("document", args=[document.pk]) in page
    assert "Answers leave retracted work out" in page


def test_a_librarian_is_told_the_rule_for_somebody_else(librarian: User, asker: User) -> None:
    DocumentFactory(title="Zebra", license_class="restricted")
    client = client_of(librarian)

    for_asker = client.get(reverse("why"), {"q": "Zebra", "who": "asker"}).content.decode()
    for_self = client.get(reverse("why"), {"q": "Zebra"}).content.decode()
    nobody = client.get(reverse("why"), {"q": "Zebra", "who": "nobody"})

    assert "<code>licence</code>" in for_asker
    assert "Nothing keeps it out of answers" in for_self
    assert nobody.status_code == 422
    assert "no account called" in nobody.content.decode()
    assert 'value="Zebra"' in nobody.content.decode()


def test_a_curator_is_told_nothing_beyond_their_own_ceiling(librarian: User) -> None:
    narrow = Group.objects.create(name="narrow")
    narrow.permissions.set(Group.objects.get(name="librarian").permissions.all())
    GroupCeiling.objects.create(group=narrow, license_classes=["public"])
    curator = User.objects.create_user("curator")
    curator.groups.add(narrow)
    DocumentFactory(title="Zebra", license_class="restricted")
    IngestionItemFactory(path="gnu.pdf", outcome="failed", detail="Damaged.")
    client = client_of(curator)

    for present, absent in (("Zebra", "Nobody"), ("gnu.pdf", "gnus.pdf")):
        pages = [
            without_chance(client.get(reverse("why"), {"q": wanted, "who": "librarian"}), wanted)
            for wanted in (present, absent)
        ]
        assert pages[0] == pages[1]


@pytest.mark.parametrize("wanted", ["\0", "%", "_", "a" * 5000, "<script>alert(1)</script>", "'; --", "٣٣٣"])
def test_hostile_wishes_are_answered(asker: User, librarian: User, wanted: str) -> None:
    DocumentFactory(title="Zebra")
    for user in (asker, librarian):
        page = client_of(user).get(reverse("why"), {"q": wanted, "who": ""})
        assert page.status_code == 200
        assert "<script>alert" not in page.content.decode()
        assert "Zebra" not in page.content.decode()


# --- Requests --------------------------------------------------------------------------------


def test_a_request_reaches_the_librarian_and_the_decision_whoever_asked(asker: User, librarian: User) -> None:
    DocumentFactory(title="Zebra", license_class="restricted")
    client, desk = client_of(asker), client_of(librarian)
    client.post(reverse("access_request"), {"wanted": "Zebra", "reason": "For a review"})
    wish = AccessRequest.objects.get()

    waiting = desk.get(reverse("admin:index")).context["waiting"]
    assert [item.count for item in waiting if "accessrequest" in item.url] == [1]
    assert "Zebra" in desk.get(reverse("admin:corpus_accessrequest_changelist")).content.decode()
    page = desk.get(reverse("admin:corpus_accessrequest_decide", args=[wish.pk])).content.decode()
    assert "For a review" in page
    assert "<code>licence</code>" in page
    address = reverse("admin:corpus_accessrequest_decide", args=[wish.pk])
    refused = desk.post(address, {"decline": "1", "note": ""})
    assert refused.status_code == 422
    desk.post(address, {"decline": "1", "note": "The publisher forbids it."})

    own = client.get(reverse("why")).content.decode()
    assert "Declined" in own
    assert "The publisher forbids it." in own
    wish.refresh_from_db()
    assert (wish.state, wish.decided_by_name) == ("declined", "librarian")


def test_deciding_twice_and_deciding_without_leave_are_refused(asker: User, librarian: User) -> None:
    wish = request_access(wanted="Zebra", by=asker)

    with pytest.raises(AccessRequestError):
        decide(ids=[wish.pk], grant=True, note="", by=asker)
    assert decide(ids=[wish.pk], grant=True, note="", by=librarian) == 1
    with pytest.raises(AccessRequestError, match="meantime"):
        decide(ids=[wish.pk], grant=False, note="No", by=librarian)
    assert client_of(asker).get(reverse("admin:corpus_accessrequest_decide", args=[wish.pk])).status_code in (
        302, 403, 404,
    )  # fmt: skip


def test_a_wish_repeated_while_it_is_open_is_one_request(asker: User) -> None:
    first = request_access(wanted="https://doi.org/10.1234/ABC", by=asker)

    assert request_access(wanted="10.1234/abc", by=asker) == first
    assert AccessRequest.objects.count() == 1


def test_more_than_a_persons_wishes_in_a_day_are_refused_and_nothing_typed_is_lost(
    asker: User, expert: User
) -> None:
    for number in range(access_requests.MOST_A_DAY):
        request_access(wanted=f"Work {number}", by=asker)

    with pytest.raises(TooMany):
        request_access(wanted="One more", by=asker)
    page = client_of(asker).post(reverse("access_request"), {"wanted": "One more", "reason": "Because"})
    assert page.status_code == 429
    assert 'value="One more"' in page.content.decode()
    assert "Because" in page.content.decode()
    assert request_access(wanted="One more", by=expert).state == "open"


@pytest.mark.parametrize("wanted", ["", " \n", "\0", "a" * 301])
def test_a_wish_for_nothing_or_without_end_is_refused(asker: User, wanted: str) -> None:
    with pytest.raises(AccessRequestError):
        request_access(wanted=wanted, by=asker)
    assert client_of(asker).post(reverse("access_request"), {"wanted": wanted}).status_code == 422


# --- The command -----------------------------------------------------------------------------


def test_the_command_names_the_rules_for_a_person(asker: User) -> None:
    document = DocumentFactory(title="Zebra", license_class="restricted", doi="10.1234/zebra")

    told = CliRunner().invoke(command, ["10.1234/ZEBRA", "--user", "asker", "--json"])
    plain = CliRunner().invoke(command, ["Zebra"])
    absent = CliRunner().invoke(command, ["10.1234/nowhere"])
    stranger = CliRunner().invoke(command, ["Zebra", "--user", "nobody"])

    (match,) = json.loads(told.output)["matches"]
    assert (match["document"], match["hidden"]) == (str(document.pk), True)
    assert [rule["code"] for rule in match["rules"]] == ["licence"]
    assert "Nothing keeps it out" in plain.output
    assert "not_held" in absent.output
    assert (stranger.exit_code, "nobody" in stranger.output) == (1, True)


def test_an_account_that_may_see_nothing_is_named() -> None:
    User.objects.create_user("lost")
    document = DocumentFactory()

    assert codes(str(document.pk), User.objects.get(username="lost")) == ["no_ceiling"]
    assert ceilings.of(User.objects.get(username="lost")).license_classes == ()
