"""The pages of the notebook: written, saved from an answer, found, changed and deleted; by whom."""

from __future__ import annotations

import json
import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from answers.notebook.exports import FORMS
from answers.notebook.models import Observation, ObservationSource
from corpus.models import Document, Source, SourceCheck
from tests.integration.answers.notebooks import answered, held, kept

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


def links(note: Observation) -> list[tuple[int, str, str]]:
    rows = note.links.order_by("number", "id").values_list(
        "number", "relationship", "source__identifier_value"
    )
    return list(rows)


def test_saving_from_an_answer_links_all_that_was_retrieved(reader: Client, asker: User) -> None:
    answer = answered(asker, held("One", "10.1000/1"), held("Two", "10.1000/2"), held("Three"))
    page = reader.get(reverse("answer", args=[answer.pk])).text
    assert page.count('name="source"') == page.count("checked>") == 3
    sent = {"text": "Biochar holds water.", "kind": "finding", "source": ["1", "2", "3"]}

    response = reader.post(reverse("answer_note", args=[answer.pk]), sent)

    note = Observation.objects.get()
    assert response["Location"] == reverse("note", args=[note.pk])
    assert (note.owner, note.answer, note.kind, note.is_shared) == (asker, answer, "finding", False)
    assert links(note) == [(1, "retrieved", "10.1000/1"), (2, "retrieved", "10.1000/2"), (3, "retrieved", "")]
    shown = reader.get(response["Location"]).text
    assert all(title in shown for title in ("One", "Two", "Three", answer.question))


def test_what_is_not_ticked_is_not_linked_and_what_is_named_is_cited(reader: Client, asker: User) -> None:
    answer = answered(asker, held("One", "10.1000/1"), held("Two", "10.1000/2"))
    sent = {"text": "x", "kind": "idea", "source": ["2", "99", "x"], "named": "10.1000/2\n\n10.1000/9\n"}

    reader.post(reverse("answer_note", args=[answer.pk]), sent)

    assert links(Observation.objects.get()) == [(1, "cited", "10.1000/2"), (2, "cited", "10.1000/9")]


def test_what_may_not_be_seen_is_neither_offered_nor_linked(reader: Client, asker: User) -> None:
    answer = answered(asker, held("One", "10.1000/1"), held("Second paper", "10.1000/2"))
    Document.objects.filter(title="Second paper").update(license_class="restricted")
    address = reverse("answer_note", args=[answer.pk])

    assert "Second paper" not in reader.get(address).text
    reader.post(address, {"text": "x", "kind": "finding", "source": ["1", "2"]})

    assert links(Observation.objects.get()) == [(1, "retrieved", "10.1000/1")]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"text": " \u200b"}, "Write what you want to keep first."),
        ({"text": "x" * 20_001}, "at most 20000 characters"),
        ({"named": "10.1000/x\n10.1"}, "Line 2: &#x27;10.1&#x27; is not a DOI"),
        ({"named": "\n".join(f"10.1000/{n}" for n in range(21))}, "Name 20 works at once, or fewer."),
        ({"kind": "poem"}, "poem is not one of the available choices"),
        ({"title": "x" * 201}, "at most 200 characters"),
    ],
)
@pytest.mark.parametrize("from_answer", [True, False])
def test_what_was_typed_is_kept_when_something_is_wrong(
    reader: Client, asker: User, wrong: dict[str, str], said: str, from_answer: bool
) -> None:
    answer = answered(asker, held("One", "10.1000/1"), held("Two", "10.1000/2"))
    typed = {
        "text": "Kept <words>",
        "kind": "method",
        "title": "A title",
        "named": "A work",
        "is_shared": "on",
    }
    address = reverse("answer_note", args=[answer.pk]) if from_answer else reverse("note_new")

    response = reader.post(address, typed | wrong | {"source": ["2"], "is_shared": "on"})

    page = response.text
    assert response.status_code == 422
    assert said in page
    assert not Observation.objects.exists()
    assert Source.objects.count() == 2
    kept_words = {"text": "Kept &lt;words&gt;", "title": "A title", "named": "A work"}
    assert all(word in page for name, word in kept_words.items() if name not in wrong)
    assert ('<option value="method" selected>' in page) == ("kind" not in wrong)
    assert 'name="is_shared" id="id_is_shared" checked' in page
    if from_answer:
        assert 'value="2" id="id_source_2" checked' in page
        assert 'value="1" id="id_source_1" checked' not in page


def test_a_note_is_shown_as_it_was_written_and_never_as_markup(reader: Client, asker: User) -> None:
    note = kept(
        asker, "https://example.org/?a='b'&c", "<i>A title</i>", text="<script>alert(1)</script>", title="<b>"
    )

    page = reader.get(reverse("note", args=[note.pk])).text

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;i&gt;A title&lt;/i&gt;" in page
    assert "<script>alert(1)" not in page
    assert "<i>A title" not in page
    assert 'href="https://example.org/?a=&#x27;b&#x27;&amp;c"' in page


def test_a_source_is_added_related_and_taken_out_and_a_wrong_one_keeps_what_was_typed(
    reader: Client, asker: User
) -> None:
    note = kept(asker, "10.1000/1")
    add = reverse("note_cite", args=[note.pk])

    typed = {"work": "978-3-16-148410-1", "title": "Mine", "relationship": "inferred"}
    wrong = reader.post(add, typed)
    assert wrong.status_code == 422
    assert 'value="978-3-16-148410-1"' in wrong.text
    assert 'value="Mine"' in wrong.text
    assert '<option value="inferred" selected>' in wrong.text
    assert reader.post(add, {"work": "10.1000/2", "relationship": "retrieved"}).status_code == 422
    assert reader.post(add, typed | {"work": "978-3-16-148410-0", "kind": "isbn"}).status_code == 302
    assert links(note) == [(1, "cited", "10.1000/1"), (2, "inferred", "9783161484100")]

    reader.post(reverse("note_source", args=[note.pk, 2]), {"relationship": "cited", "do": "relate"})
    reader.post(reverse("note_source", args=[note.pk, 1]), {"do": "remove"})
    reader.post(reverse("note_source", args=[note.pk, 2]), {"relationship": "retrieved"})
    assert links(note) == [(2, "cited", "9783161484100")]
    assert reader.post(reverse("note_source", args=[note.pk, 1]), {"do": "remove"}).status_code == 404
    assert reader.post(reverse("note_source", args=[note.pk, 2]), {"relationship": "x"}).status_code == 404


def test_a_source_that_can_be_checked_is_checked_again_with_the_next_run(reader: Client, asker: User) -> None:
    held("Out of sight", "10.1000/2", license_class="restricted")
    note = kept(asker, "10.1000/1", "978-3-16-148410-0")
    hidden = Source.objects.get(identifier_value="10.1000/2")
    ObservationSource.objects.create(observation=note, number=3, source=hidden, relationship="retrieved")
    for source in Source.objects.filter(identifier_type="doi"):
        SourceCheck.objects.create(
            source=source,
            provider="crossref",
            outcome="check_failed",
            checked_at=timezone.now(),
            reason="timeout",
        )
    assert reader.get(reverse("note", args=[note.pk])).text.count('value="check"') == 1

    answer = reader.post(reverse("note_source", args=[note.pk, 1]), {"do": "check"}, follow=True)

    assert "Source 1 is checked for a retraction with the next run" in answer.text
    asked = SourceCheck.objects.filter(asked_for_at__isnull=False)
    assert [row.source.identifier_value for row in asked] == ["10.1000/1"]
    for number in (2, 3, 99):
        address = reverse("note_source", args=[note.pk, number])
        assert reader.post(address, {"do": "check"}).status_code == 404
    assert asked.count() == 1


def test_a_note_is_changed_and_deleted_once_its_owner_says_so(reader: Client, asker: User) -> None:
    note = kept(asker, "10.1000/1", "10.1000/2")
    change, delete = reverse("note_edit", args=[note.pk]), reverse("note_delete", args=[note.pk])
    assert "Biochar holds water." in reader.get(change).text

    reader.post(change, {"text": "Another\r\nline", "kind": "question", "title": " T ", "is_shared": "on"})
    note.refresh_from_db()
    assert (note.text, note.kind, note.title, note.is_shared) == ("Another\nline", "question", "T", True)
    assert reader.post(change, {"text": "", "kind": "idea"}).status_code == 422

    assert "its links to 2 sources" in reader.get(delete).text
    assert Observation.objects.exists()
    assert "its links to 2 sources are deleted" in reader.post(delete, follow=True).text
    assert not Observation.objects.exists()
    assert reader.post(delete).status_code == 404


def test_a_deleted_note_comes_back_by_a_plain_form_to_who_deleted_it_alone(
    reader: Client, asker: User, expert: User
) -> None:
    note = kept(asker, "10.1000/1", "A title alone", text="Private canary")
    restore = reverse("note_restore", args=[note.pk])
    landed = reader.post(reverse("note_delete", args=[note.pk]), follow=True)
    (address, _), *_ = landed.redirect_chain
    assert f'<form method="post" action="{restore}"' in landed.text
    assert "Undo" in landed.text

    reader.force_login(expert)
    assert "Undo" not in reader.get(address).text
    assert reader.post(restore).status_code == 404
    assert "Undo" not in reader.get(reverse("notes"), {"deleted": "x"}).text

    reader.force_login(asker)
    assert reader.get(restore).status_code == 405
    back = reader.post(restore, follow=True)
    assert "The note is back." in back.text
    assert "Private canary" in back.text
    assert "A title alone" in back.text
    assert reader.post(restore).status_code == 404
    assert "Undo" not in reader.get(address).text


def test_a_private_note_is_for_others_as_if_it_were_not_there(
    reader: Client, asker: User, expert: User, librarian: User
) -> None:
    note = kept(asker, "10.1000/1", text="Private canary")
    addresses = [reverse(name, args=[note.pk]) for name in ("note", "note_edit", "note_delete")]
    addresses += [reverse("note_export", args=[note.pk, form]) for form in FORMS]

    for other in (expert, librarian):
        reader.force_login(other)
        assert {reader.get(address).status_code for address in addresses} == {404}
        for name, rest in (("note_cite", []), ("note_source", [1]), ("note_edit", []), ("note_delete", [])):
            assert reader.post(reverse(name, args=[note.pk, *rest])).status_code == 404
        assert "Private canary" not in reader.get(reverse("notes")).text
        assert "Private canary" not in reader.get(reverse("notes_export", args=["json"])).text
    assert Observation.objects.get() == note


def test_a_shared_note_is_read_by_all_and_changed_by_its_owner_alone(
    reader: Client, asker: User, expert: User
) -> None:
    answer = answered(asker, held("One"))
    note = kept(asker, "10.1000/1", is_shared=True)
    Observation.objects.update(answer=answer)
    reader.force_login(expert)

    page = reader.get(reverse("note", args=[note.pk])).text
    assert "Biochar holds water." in page
    assert answer.question not in page
    assert 'name="relationship"' not in page
    assert "asker" in reader.get(reverse("notes"), {"whose": "shared"}).text
    assert reader.get(reverse("note_edit", args=[note.pk])).status_code == 404


def test_who_may_not_ask_reads_what_is_shared_and_writes_nothing(client: Client, asker: User) -> None:
    note = kept(asker, is_shared=True)
    client.force_login(User.objects.create_user("without role"))

    assert client.get(reverse("note", args=[note.pk])).status_code == 200
    assert client.post(reverse("note_new"), {"text": "x", "kind": "idea"}).status_code == 403
    assert reverse("note_new") not in client.get(reverse("notes")).text


def test_the_list_is_searched_narrowed_and_paged(reader: Client, asker: User, expert: User) -> None:
    for number in range(22):
        kept(asker, text=f"Note {number} of mine")
    kept(asker, "10.1000/findme", text="With a source", kind="decision", title="Titled")
    kept(expert, text="Shared by somebody", is_shared=True)
    listing = reverse("notes")

    first, second = reader.get(listing).text, reader.get(listing, {"page": "2"}).text
    assert "Page 1 of 2" in first
    assert "Note 0 of mine" in second
    assert "Shared by somebody" in first
    assert "Titled" in reader.get(listing, {"q": "findme"}).text
    assert "Titled" in reader.get(listing, {"kind": "decision"}).text
    assert "Note 1 " not in reader.get(listing, {"kind": "decision"}).text
    assert "Shared by somebody" not in reader.get(listing, {"whose": "mine"}).text
    assert "Titled" not in reader.get(listing, {"whose": "shared"}).text
    assert "No note is like that." in reader.get(listing, {"q": "nothing\0like this"}).text
    assert reader.get(listing, {"kind": "poem", "whose": "x", "page": "y"}).status_code == 200
    fragment = reader.get(listing, {"q": "Titled"}, headers={"HX-Request": "true"}).text
    assert "<html" not in fragment
    assert "Titled" in fragment


def test_an_empty_notebook_says_what_to_do(reader: Client) -> None:
    assert "No notes yet" in reader.get(reverse("notes")).text


def test_a_note_outlives_the_answer_it_was_saved_from(reader: Client, asker: User) -> None:
    answer = answered(asker, held("One", "10.1000/1"))
    reader.post(reverse("answer_note", args=[answer.pk]), {"text": "x", "kind": "idea", "source": ["1"]})

    answer.delete()

    assert Observation.objects.get().answer is None
    assert links(Observation.objects.get()) == [(1, "retrieved", "10.1000/1")]


def test_forms_carry_a_token(asker: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(asker)
    note = kept(asker)

    for name in ("note_edit", "note_delete", "note_cite"):
        assert strict.post(reverse(name, args=[note.pk]), {"text": "x"}).status_code == 403
    assert Observation.objects.get().text == "Biochar holds water."


def test_a_note_and_a_notebook_are_taken_away_as_files(reader: Client, asker: User) -> None:
    document = held("Müller & Söhne", "10.1000/1")
    note = kept(
        asker, "10.1000/1", "2101.00001", "978-3-16-148410-0", "*Title* alone", title="# Not a heading"
    )
    kept(asker, "10.1000/1", text="Another")
    document.source.is_retracted = True
    document.source.save()

    files = {form: reader.get(reverse("note_export", args=[note.pk, form])).text for form in FORMS}
    assert "# \\# Not a heading" in files["markdown"]
    assert "\\*Title\\* alone" in files["markdown"]
    assert "Müller & Söhne; Ada Lovelace; 2020; DOI 10.1000/1; RETRACTED" in files["markdown"]
    assert [source["identifier"] for source in json.loads(files["json"])["notes"][0]["sources"]] == [
        "doi:10.1000/1", "arxiv:2101.00001", "isbn:9783161484100", "",
    ]  # fmt: skip
    assert (
        files["bibtex"].count("@") == files["ris"].count("TY  - ") == len(json.loads(files["csl-json"])) == 4
    )
    assert 'M\\"uller' not in files["bibtex"]
    assert "Müller \\& Söhne" in files["bibtex"]
    assert "RETRACTED" in files["ris"]
    assert "ISBN 9783161484100" in files["ris"]

    whole = reader.get(reverse("notes_export", args=["ris"]))
    assert whole.text.count("TY  - ") == 4
    assert "notebook.ris" in whole["Content-Disposition"]
    assert reader.get(reverse("notes_export", args=["poem"])).status_code == 404
    assert reader.get(reverse("note_export", args=[uuid.uuid4(), "ris"])).status_code == 404
