"""Changing licences in the admin: choose, see the effects, say why, apply."""

import re
import time

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from corpus.models import Document, RightsDecision
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db

LIST = "admin:corpus_document_changelist"
PAGE = "admin:corpus_document_license"


@pytest.fixture(autouse=True)
def _signed_in(client, librarian):
    client.force_login(librarian)


def _choose(client, documents, **extra):
    return client.post(
        reverse(LIST),
        {"action": "change_license", "_selected_action": [str(row.pk) for row in documents], **extra},
    )


def _decide(client, documents, **decided):
    return client.post(
        reverse(PAGE), {"documents": ",".join(str(row.pk) for row in documents), **decided}, follow=True
    )


def test_choosing_documents_shows_what_each_class_would_do_to_them(client):
    documents = [DocumentFactory(license_class=name) for name in ("unknown", "restricted", "public")]

    page = _choose(client, documents)

    effects = {choice["value"]: choice["effects"] for choice in page.context["choices"]}
    assert page.status_code == 200
    assert (effects["public"].raised, effects["public"].lowered, effects["public"].unchanged) == (2, 0, 1)
    assert (effects["restricted"].raised, effects["restricted"].lowered) == (1, 1)
    assert (effects["unknown"].raised, effects["unknown"].lowered) == (0, 2)
    assert all(document.title in page.text for document in documents)
    assert not RightsDecision.objects.exists()


def test_applying_changes_the_documents_and_links_to_exactly_these_decisions(client, librarian):
    earlier = DocumentFactory(license_class="unknown")
    _decide(client, [earlier], license_class="public", evidence="CC0", note="")
    documents = DocumentFactory.create_batch(3, license_class="unknown")

    page = _decide(
        client, documents, license_class="open_commercial", evidence="CC BY 4.0 on page 1", note="Read it"
    )

    assert page.redirect_chain == [(reverse(LIST), 302)]
    assert "The licences of 3 documents were changed." in page.text
    (link,) = re.findall(rf'href="({reverse("admin:corpus_rightsdecision_changelist")}\?[^"]+)"', page.text)
    log = client.get(link.replace("&amp;", "&"))
    assert {row.document_id for row in log.context["cl"].result_list} == {row.pk for row in documents}
    assert Document.objects.filter(license_class="open_commercial").count() == 3
    assert set(RightsDecision.objects.values_list("note", flat=True)) == {"", "Read it"}


def test_raising_without_evidence_says_what_is_missing_and_keeps_what_was_typed(client):
    document = DocumentFactory(license_class="unknown")

    page = _decide(client, [document], license_class="public", evidence=" ", note="Half a thought")

    assert page.status_code == 422
    assert "allows more than before for 1 document" in page.text
    assert "Half a thought" in page.text
    assert re.search(r'value="public" checked', page.text)
    assert Document.objects.get().license_class == "unknown"


def test_a_class_must_be_chosen_and_must_be_one_of_the_five(client):
    document = DocumentFactory()

    for chosen in ({}, {"license_class": "cc-by-xyz"}):
        page = _decide(client, [document], evidence="x", note="", **chosen)
        assert page.status_code == 422
        assert "Choose the class." in page.text


def test_giving_documents_the_class_they_have_changes_and_logs_nothing(client):
    page = _decide(client, [DocumentFactory(license_class="public")], license_class="public", evidence="")

    assert "had that class already" in page.text
    assert not RightsDecision.objects.exists()


def test_a_thousand_documents_across_pages_change_in_under_five_seconds(client):
    Document.objects.bulk_create(
        DocumentFactory.build(license_class="unknown", title="One of many") for _ in range(1000)
    )
    some = Document.objects.all()[:50]
    started = time.monotonic()

    page = _choose(client, some, select_across="1")
    chosen = re.search(r'name="documents" value="([^"]+)"', page.text)[1]
    done = client.post(
        reverse(PAGE), {"documents": chosen, "license_class": "public", "evidence": "CC0", "note": ""}
    )

    assert done.status_code == 302
    assert time.monotonic() - started < 5
    assert RightsDecision.objects.count() == 1000
    assert Document.objects.filter(license_class="public").count() == 1000


def test_one_missing_or_hidden_document_refuses_the_whole_change(client, librarian):
    ceiling = librarian.groups.get().ceiling
    ceiling.license_classes = ["public"]
    ceiling.save()
    visible, hidden = DocumentFactory(license_class="public"), DocumentFactory(license_class="restricted")

    for other in (hidden, DocumentFactory.build()):
        page = _decide(client, [visible, other], license_class="unknown", evidence="")
        assert page.status_code == 404

    visible.refresh_from_db()
    assert visible.license_class == "public"


@pytest.mark.parametrize("documents", ["", "abc", "1,2", "\x00", "' OR 1=1"])
def test_damaged_ids_are_refused(client, documents):
    assert client.get(reverse(PAGE), {"documents": documents}).status_code in {400, 404}
    response = client.post(
        reverse(PAGE), {"documents": documents, "license_class": "public", "evidence": "x", "note": ""}
    )
    assert response.status_code == 404


def test_without_the_permission_neither_the_action_nor_the_page_exists(client, librarian):
    document = DocumentFactory(license_class="public")
    group = librarian.groups.get()
    group.permissions.remove(Permission.objects.get(codename="change_license"))

    assert "change_license" not in client.get(reverse(LIST)).text
    assert client.get(reverse(PAGE), {"documents": str(document.pk)}).status_code == 403
    assert _decide(client, [document], license_class="restricted", evidence="").status_code == 403


def test_hostile_titles_and_evidence_are_shown_as_text(client):
    document = DocumentFactory(title="<script>alert(1)</script>", license_class="unknown")

    page = _choose(client, [document])
    _decide(client, [document], license_class="public", evidence="<img src=x onerror=alert(1)>", note="<b>")
    log = client.get(reverse("admin:corpus_rightsdecision_changelist"))
    history = client.get(reverse("admin:corpus_document_history", args=[document.pk]))

    for shown in (page, log, history, client.get(reverse(LIST))):
        assert "<script>alert" not in shown.text
        assert "<img src=x" not in shown.text
