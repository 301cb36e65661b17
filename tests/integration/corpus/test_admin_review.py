"""The inbox of suggestions: seen within the ceiling, decided one by one or together, by who may."""

import pytest
from django.urls import reverse

from corpus import waiting
from corpus.actions import review
from corpus.curation import ReviewItem
from corpus.models import Document, GroupCeiling, RightsDecision
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db

INBOX = "/admin/corpus/reviewitem/"


@pytest.fixture
def items():
    bare = DocumentFactory(title="Bare", license_class="unknown", bucket="plain")
    held = DocumentFactory(title="Held", license_class="restricted", rights_statement="<b>CC0</b> applies")
    old, new = DocumentFactory(title="Old edition"), DocumentFactory(title="New edition")
    return {
        "bare": review.suggest_license(document=bare, license_class="public", signal=""),
        "held": review.suggest_license(document=held, license_class="public", signal="CC0 <1.0>"),
        "versions": review.suggest_supersession(old=old, new=new, reason="the newer one is of 2024"),
    }


def page_of(item):
    return reverse("admin:corpus_reviewitem_decide", args=[item.pk])


def act(client, action, *items):
    return client.post(
        INBOX, {"action": action, "_selected_action": [item.pk for item in items]}, follow=True
    )


def test_the_inbox_lists_what_waits_and_the_desk_counts_it(items, librarian, client):
    client.force_login(librarian)

    shown = client.get(INBOX, {"state__exact": "open"}).content.decode()

    assert all(title in shown for title in ("Bare", "Held", "Old edition", "New edition", "CC0 &lt;1.0&gt;"))
    counts = {str(item.label): (item.count, item.url) for item in waiting.waiting(librarian)}
    assert counts["Suggestions to decide on"] == (3, f"{INBOX}?state__exact=open")


def test_accepting_together_does_what_each_suggests(items, librarian, client):
    client.force_login(librarian)

    act(client, "accept", items["held"], items["versions"])

    assert Document.objects.get(title="Held").license_class == "public"
    assert Document.objects.get(title="Old edition").superseded_by.title == "New edition"
    assert RightsDecision.objects.get().decided_by_name == "librarian"


def test_one_that_cannot_be_accepted_keeps_all_from_it(items, librarian, client):
    client.force_login(librarian)

    shown = act(client, "accept", items["held"], items["bare"]).content.decode()

    assert "Nothing was accepted" in shown
    assert set(ReviewItem.objects.values_list("state", flat=True)) == {"open"}
    assert not RightsDecision.objects.exists()


def test_rejecting_changes_no_document(items, librarian, client):
    client.force_login(librarian)

    act(client, "reject", *items.values())

    assert set(ReviewItem.objects.values_list("state", flat=True)) == {"rejected"}
    assert Document.objects.get(title="Held").license_class == "restricted"
    assert not RightsDecision.objects.exists()


def test_the_page_of_one_shows_what_speaks_for_it_and_takes_evidence(items, librarian, client):
    client.force_login(librarian)
    shown = client.get(page_of(items["held"])).content.decode()
    assert "&lt;b&gt;CC0&lt;/b&gt; applies" in shown
    assert "CC0 &lt;1.0&gt;" in shown

    without = client.post(page_of(items["bare"]), {"accept": "1"})
    done = client.post(
        page_of(items["bare"]), {"accept": "1", "evidence": "https://example.org/l", "note": "seen"}
    )

    assert (without.status_code, done.status_code) == (422, 302)
    assert Document.objects.get(title="Bare").license_class == "public"
    assert RightsDecision.objects.get().evidence == "https://example.org/l"
    assert "librarian" in client.get(page_of(items["bare"])).content.decode()


def test_what_is_over_ones_ceiling_is_not_there(items, librarian, client):
    GroupCeiling.objects.filter(group__name="librarian").update(license_classes=["restricted"])
    client.force_login(librarian)

    shown = client.get(INBOX).content.decode()

    assert "Held" in shown
    assert "Bare" not in shown
    assert "edition" not in shown
    assert client.get(page_of(items["bare"])).status_code == 404
    assert client.post(page_of(items["versions"]), {"accept": "1"}).status_code == 404
    counts = {str(item.label): item.count for item in waiting.waiting(librarian)}
    assert counts["Suggestions to decide on"] == 1


def test_who_is_no_librarian_decides_nothing(items, asker, client):
    client.force_login(asker)

    for address in (INBOX, page_of(items["held"])):
        assert client.get(address).status_code in (302, 403)
    client.post(page_of(items["held"]), {"accept": "1"})

    assert set(ReviewItem.objects.values_list("state", flat=True)) == {"open"}
