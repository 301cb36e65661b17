"""The page of the review queue: decided on by plain forms, previewed in bulk, within the ceiling."""

import re

import pytest
from django.urls import reverse

from corpus.actions import review
from corpus.curation import ReviewItem
from corpus.models import Document, GroupCeiling, RightsDecision
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db

QUEUE = "/admin/corpus/reviewitem/queue/"
DECIDE = f"{QUEUE}decide/"
UNDO = f"{QUEUE}undo/"


@pytest.fixture
def work():
    held = DocumentFactory(title="Held", license_class="restricted", bucket="press")
    stated = DocumentFactory(title="Stated", license_class="unknown", rights_statement="<b>CC0</b> 1.0")
    silent = DocumentFactory(title="Silent", license_class="unknown")
    review.suggest_license(document=held, license_class="open_commercial", signal="CC BY <4.0>")
    review.suggest_license(document=stated, license_class="public", signal="CC0 1.0")
    return {"held": held, "stated": stated, "silent": silent}


def key(document):
    newest = document.rights_decisions.order_by("-id").values_list("id", flat=True).first()
    return f"{document.pk}:{newest or 0}"


def classes():
    return dict(Document.objects.values_list("title", "license_class"))


def test_the_page_shows_what_speaks_for_each_and_escapes_it(work, librarian, client):
    client.force_login(librarian)

    page = client.get(QUEUE).content.decode()

    assert "CC BY &lt;4.0&gt;" in page
    assert "&lt;b&gt;CC0&lt;/b&gt; 1.0" in page
    assert "3 documents wait" in page
    assert page.count("data-row ") == 3


def test_one_press_decides_and_stays_in_the_narrowed_list(work, librarian, client):
    client.force_login(librarian)

    answer = client.post(DECIDE, {"one": f"{key(work['held'])}:open_commercial", "filters": "bucket=press"})

    assert answer.status_code == 302
    assert answer.url == f"{QUEUE}?bucket=press&page=1"
    assert classes()["Held"] == "open_commercial"
    assert RightsDecision.objects.get().evidence == "CC BY <4.0>"
    assert "Undo the decision of" in client.get(QUEUE).content.decode()


def test_raising_without_a_ground_is_refused_and_keeps_what_was_typed(work, librarian, client):
    client.force_login(librarian)

    answer = client.post(DECIDE, {"one": f"{key(work['silent'])}:public", "note": "seen on paper"})

    assert answer.status_code == 422
    assert "seen on paper" in answer.content.decode()
    assert "say on what ground" in answer.content.decode()
    assert classes()["Silent"] == "unknown"
    assert not RightsDecision.objects.exists()


def test_many_are_decided_on_after_the_effects_were_shown(work, librarian, asker, client):
    client.force_login(librarian)
    documents = [key(document) for document in work.values()]

    shown = client.post(DECIDE, {"documents": documents, "choice": "suggested"})
    page = shown.content.decode()

    assert shown.status_code == 200
    assert classes()["Held"] == "restricted"
    assert "2 documents are decided on" in page
    assert re.search(r"<strong>asker</strong>.*1 member.*2 documents more", page)
    assert "no class is suggested" in page
    assert "Silent" in page

    joined = ",".join(documents)
    done = client.post(DECIDE, {"documents": joined, "choice": "suggested", "apply": "1"}, follow=True)

    assert classes() == {"Held": "open_commercial", "Stated": "public", "Silent": "unknown"}
    assert "2 documents decided on." in done.content.decode()
    assert "1 document was left as it is: no class is suggested." in done.content.decode()


def test_all_that_match_are_chosen_on_every_page(librarian, client):
    for number in range(60):
        document = DocumentFactory(license_class="restricted", bucket=f"b{number % 2}")
        review.suggest_license(document=document, license_class="public", signal="CC0")
    client.force_login(librarian)

    form = {"choice": "suggested", "all_matching": "1", "filters": "bucket=b0"}
    page = client.post(DECIDE, form).content.decode()
    chosen = re.search(r'name="documents" value="([^"]+)"', page)[1]
    client.post(DECIDE, {"choice": "suggested", "documents": chosen, "apply": "1"})

    assert "30 documents are decided on" in page
    assert Document.objects.filter(license_class="public").count() == 30


def test_taking_back_by_a_form(work, librarian, client):
    client.force_login(librarian)
    client.post(DECIDE, {"one": f"{key(work['held'])}:open_commercial"})
    at = re.search(r'name="at" value="([^"]+)"', client.get(QUEUE).content.decode())[1]

    first, second = client.post(UNDO, {"at": at}, follow=True), client.post(UNDO, {"at": at}, follow=True)

    assert classes()["Held"] == "restricted"
    assert "1 decision was taken back." in first.content.decode()
    assert "Nothing was taken back" in second.content.decode()
    assert RightsDecision.objects.count() == 2


def test_the_second_of_two_is_told(work, librarian, administrator, client):
    stale = key(work["held"])
    client.force_login(administrator)
    client.post(DECIDE, {"one": f"{stale}:open_commercial"})
    client.force_login(librarian)

    told = client.post(DECIDE, {"one": f"{stale}:as_it_is"}, follow=True).content.decode()

    assert "decided meanwhile" in told
    assert classes()["Held"] == "open_commercial"


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"one": "nonsense"},
        {"one": "nonsense:public"},
        {"one": "\0:\0:public"},
        {"documents": "1:2,3", "choice": "public"},
        {"choice": "top_secret", "all_matching": "1"},
        {"choice": "public", "filters": "bucket=no&page=' or 1=1", "all_matching": "1", "page": "-1"},
    ],
)
def test_forms_nobody_sends_change_nothing(work, librarian, client, form):
    client.force_login(librarian)

    answer = client.post(DECIDE, form, follow=True)

    assert answer.status_code == 200
    assert not RightsDecision.objects.exists()
    assert client.post(UNDO, {"at": "yesterday"}, follow=True).status_code == 200
    assert client.post(UNDO, {"at": "2020-13-45T00:00:00Z"}, follow=True).status_code == 200


def test_what_is_over_ones_ceiling_is_neither_listed_counted_nor_decided_on(work, librarian, client):
    GroupCeiling.objects.filter(group__name="librarian").update(license_classes=["restricted"])
    client.force_login(librarian)

    page = client.get(QUEUE).content.decode()
    absent = client.post(DECIDE, {"one": f"{key(work['stated'])}:public"}, follow=True).content.decode()
    missing = client.post(
        DECIDE, {"one": "00000000-0000-0000-0000-000000000000:0:public"}, follow=True
    ).content.decode()

    assert "Held" in page
    assert "Stated" not in page
    assert "1 document waits" in page
    for told in (absent, missing):
        assert "not there, or not yours to decide" in told
        assert "Stated" not in told
    assert classes()["Stated"] == "unknown"


def test_who_may_not_change_licences_has_no_queue(work, asker, expert, client):
    for person in (asker, expert):
        client.force_login(person)
        for address in (QUEUE, DECIDE, UNDO):
            assert client.get(address).status_code in (302, 403)
            assert client.post(address, {"one": f"{key(work['held'])}:public"}).status_code in (302, 403)
    assert not RightsDecision.objects.exists()
    assert set(ReviewItem.objects.values_list("state", flat=True)) == {"open"}


def test_the_desk_and_the_side_bar_lead_to_the_queue(work, librarian, client):
    client.force_login(librarian)

    desk = client.get(reverse("admin:index")).content.decode()

    assert "Rights to decide on" in desk
    assert desk.count(f'href="{QUEUE}"') >= 2
