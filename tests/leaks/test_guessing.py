"""What somebody may not see answers to a guessed id exactly as what does not exist: every route and verb."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from answers.feedback import WrongReport
from tests.contents import contents
from tests.leaks import calibration_rows, routes
from tests.leaks.asking import client_of, content_of, headers_of, seen
from tests.leaks.world import World, allowed

pytestmark = pytest.mark.django_db(transaction=True)

VERBS = ("get", "head", "post", "put", "patch", "delete", "options")
# One group who are kept from most, one who see most, and who may do everything and see next to nothing.
GUESSERS = ("narrow", "asker")
OTHERS = [
    pytest.param(actor, marks=pytest.mark.long) for actor in ("curator", "without_role", "branch", "expert")
]


def readable(actor: str) -> list[str]:
    """Return the cases of samples whose passages `actor` may read."""
    return [case for case in allowed(actor) if case in calibration_rows.ABOUT]


def may_read_questions(world: World, actor: str) -> bool:
    person = world.people[actor]
    return person is not None and person.has_perm("evaluation.view_question")


def hidden_sets(world: World, actor: str) -> list[str]:
    """Return the sets of which `actor` may know no question."""
    if not may_read_questions(world, actor):
        return list(world.question_sets.values())
    return [name for case, name in world.question_sets.items() if case and case not in allowed(actor)]


def hidden_reports(world: World, actor: str) -> list[uuid.UUID]:
    """Return the reports of wrong answers that cite what `actor` may not see; all, to who decides of none."""
    person, hidden = world.people[actor], world.hidden_documents(actor)
    reports = WrongReport.objects.order_by("pk")
    if person is not None and person.has_perms(["evaluation.add_question", "answers.change_wrongreport"]):
        reports = reports.filter(evidence__document__in=hidden).distinct()
    return list(reports.values_list("pk", flat=True))


# Which rows somebody may not know of, by the name of the part of an address that names one.
KEPT_BACK = {
    "document_id": lambda world, actor: [document.id for document in world.hidden_documents(actor)],
    "passage_id": lambda world, actor: [
        passage.public_id
        for passage in world.passages.values()
        if passage.document in world.hidden_documents(actor)
    ],
    "answer_id": lambda world, actor: [
        answer.id for owner, answer in world.answers.items() if owner != actor
    ],
    "conversation_id": lambda world, actor: [
        answer.conversation_id for owner, answer in world.answers.items() if owner != actor
    ],
    "note_id": lambda world, actor: [
        *(note.id for (owner, is_shared), note in world.notes.items() if owner != actor and not is_shared),
        *(key for owner, key in world.deleted_notes.items() if owner != actor),
    ],
    "entity_id": lambda world, actor: [entity.id for entity in world.hidden_entities(actor)],
    "extraction_id": lambda world, actor: [run.id for run in world.extractions],
    "queue_id": lambda world, actor: [
        queue.pk for queue in calibration_rows.hidden_samples(world, readable(actor))
    ],
    "item_id": lambda world, actor: [
        item.pk for item in calibration_rows.hidden_items(world, readable(actor))
    ],
    "evaluation_id": lambda world, actor: [
        run.pk for run in world.evaluations if run.question_set_name in hidden_sets(world, actor)
    ],
    "question_id": lambda world, actor: [
        question.pk
        for question in world.questions
        if not may_read_questions(world, actor) or question.key in world.hidden_words(actor)
    ],
    "set_name": hidden_sets,
    "report_id": hidden_reports,
    "decision_id": lambda world, actor: [
        row.pk
        for row in calibration_rows.hidden_decisions(
            world, readable(actor) if may_read_questions(world, actor) else []
        )
    ],
    "run_id": lambda world, actor: [
        *([] if actor == "curator" else [run.id for run in world.runs]),
        *(run.pk for run in world.campaign_runs),
    ],
    # Campaigns are for those who may see everything.
    "campaign_id": lambda world, actor: [campaign.pk for campaign in world.campaigns],
}
# Parts of addresses that are no row's id: a value that any row could have.
HARMLESS: dict[str, int | str] = {"number": 1, "form": "bibtex", "plot": "values"}


def by_id() -> Iterator[tuple[str, str, dict[str, int | str]]]:
    """Yield every route outside the admin that names a row: its name, that part, and the other parts."""
    for entry in patterns(get_resolver()):
        parts = set(entry.pattern.converters)
        ids = parts - set(HARMLESS)
        if ids:
            assert len(ids) == 1, f"{entry.name} names more than one row"
            (part,) = ids
            assert part in KEPT_BACK, f"say in KEPT_BACK which rows <{part}> of '{entry.name}' may name"
            yield str(entry.name), part, {name: HARMLESS[name] for name in parts - ids}


def patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for entry in resolver.url_patterns:
        if not isinstance(entry, URLResolver):
            yield entry
        elif entry.namespace != "admin":
            yield from patterns(entry)


def test_every_address_with_an_id_says_which_rows_it_may_name() -> None:
    assert {name for name, _, _ in by_id()} >= {"document", "passage", "answer", "page_image", "run"}


@pytest.mark.parametrize("actor", [*GUESSERS, *OTHERS])
def test_what_is_kept_back_answers_exactly_like_what_does_not_exist(world: World, actor: str) -> None:
    client = client_of(world, actor)

    for name, part, rest in by_id():
        absent = reverse(name, kwargs={part: uuid.uuid4(), **rest})
        for verb in VERBS:
            expected = getattr(client, verb)(absent)
            assert expected.status_code in (403, 404, 405) or verb == "options", (name, verb)
            for identifier in KEPT_BACK[part](world, actor):
                present = getattr(client, verb)(reverse(name, kwargs={part: identifier, **rest}))
                assert same(present, expected), (name, verb)


def same(one: HttpResponse, other: HttpResponse) -> bool:
    return (one.status_code, content_of(one), headers_of(one)) == (
        other.status_code,
        content_of(other),
        headers_of(other),
    )


@pytest.mark.parametrize("actor", ["narrow", "asker"])
def test_what_is_kept_back_costs_the_same_statements_as_what_does_not_exist(world: World, actor: str) -> None:
    """Time is not compared: the same statements, which find nothing, take the same time."""
    client = client_of(world, actor)

    for name, part, rest in by_id():
        asked = [uuid.uuid4(), *KEPT_BACK[part](world, actor)]
        told = [statements(client, reverse(name, kwargs={part: row, **rest}), row) for row in asked]
        for one in told:
            assert one == told[0], name


def statements(client: Client, address: str, row: uuid.UUID | str) -> list[str]:
    with CaptureQueriesContext(connection) as asked:
        client.get(address)
    told = [query["sql"].replace(row_name(row), "the id") for query in asked]
    return [re.sub(r"'[\d-]+ [\d:.]+\+00:00'", "now", one) for one in told]


def row_name(row: uuid.UUID | str) -> str:
    """Return how a statement names the row: by its id, or by the name it has."""
    return row.hex if isinstance(row, uuid.UUID) else row


def test_visitors_are_sent_to_sign_in_alike_for_what_exists_and_what_does_not(world: World) -> None:
    client = Client()

    for name, part, rest in by_id():
        absent = uuid.uuid4()
        expected = client.get(reverse(name, kwargs={part: absent, **rest}))
        for identifier in KEPT_BACK[part](world, "anonymous"):
            present = client.get(reverse(name, kwargs={part: identifier, **rest}))
            assert present.status_code == expected.status_code
            assert present.content == expected.content
            if name.startswith("api_"):
                assert present.status_code == 401
                continue
            assert present.status_code == 302
            assert present["Location"].replace(str(identifier), str(absent)) == expected["Location"]


@pytest.mark.parametrize("actor", ["narrow", "asker"])
def test_a_picture_kept_on_disk_for_one_reader_is_not_there_for_another(world: World, actor: str) -> None:
    client, librarian = client_of(world, actor), client_of(world, "librarian")
    absent = client.get(reverse("page_image", args=[uuid.uuid4(), 1]))
    hidden = world.hidden_documents(actor)

    for document in world.documents.values():
        address = reverse("page_image", args=[document.id, 1])
        drawn = librarian.get(address)
        assert drawn.status_code == 200
        assert drawn.headers["Content-Type"] == "image/webp"
        found = client.get(address)
        if document in hidden:
            assert found.status_code == 404
            assert same(found, absent)
        else:
            assert found.content == drawn.content


FAST_VERBS = ("put", "delete")


@pytest.mark.parametrize(
    ("actor", "verbs"),
    [
        ("narrow", FAST_VERBS),
        *(
            pytest.param(actor, VERBS, marks=pytest.mark.long)
            for actor in ("anonymous", "without_role", "narrow", "branch", "asker", "expert", "curator")
        ),
    ],
)
def test_no_route_tells_or_changes_anything_by_another_verb(
    world: World, actor: str, verbs: tuple[str, ...]
) -> None:
    client = client_of(world, actor)
    hidden = world.hidden_words(actor)
    before = governed()

    for name, calls in routes.calls(world).items():
        for call in calls:
            for verb in verbs:
                if name == "logout" or verb == call.method or (verb, call.method) == ("post", "get"):
                    continue
                response = getattr(client, verb)(call.path, headers=call.headers)
                assert response.status_code < 500, (verb, call)
                assert [word for word in hidden if word in seen(response)] == [], (verb, call)
    assert governed() == before


def governed() -> dict[str, str]:
    """Return hashes of what nobody may change by accident: documents, passages, decisions and events."""
    return contents(
        ("corpus_document", "corpus_chunk", "corpus_rightsdecision", "corpus_source", "answers_answersource")
    )
