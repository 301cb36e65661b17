"""A work is retracted after an answer cited it: the answer, its owner, the librarian and the next answer."""

from __future__ import annotations

from datetime import date
from time import process_time

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from answers import alerts, engine, reading
from answers.actions.alerts import bring_up_to_date, mark_read
from answers.models import EXTRACTIVE, Answer, AnswerSource
from answers.notices import Notice
from answers.reading import Drift
from corpus.actions.editorial import record_event, withdraw_event
from corpus.models import Chunk, Document, GroupCeiling, Source
from corpus.rights import LicenseClass
from corpus.scope import RetrievalScope
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory

DAY = date(2021, 3, 4)
LATER = date(2022, 3, 4)
QUESTION = "What is the methane yield of rice straw?"

pytestmark = pytest.mark.django_db(transaction=True)


def answered(
    by: User | None, *documents: Document, badges: tuple[str, ...] = (), cited: bool = True
) -> Answer:
    answer = Answer.objects.create(
        asked_by=by,
        question="Why?",
        text="Because [1].",
        state="done",
        finish="stop",
        scope_digest="0" * 64,
        profile="interactive",
        engine="model",
    )
    for number, document in enumerate(documents, start=1):
        AnswerSource.objects.create(
            answer=answer,
            number=number,
            document=document,
            is_cited=cited,
            title=document.title,
            license_class=document.license_class,
            bucket=document.bucket,
            badges=list(badges),
            content_sha256="0" * 64,
            score=1.0,
        )
    return answer


@pytest.fixture
def work() -> Document:
    document = DocumentFactory(title="Canary paper", source=SourceFactory())
    ChunkFactory(document=document)
    return document


def record(document: Document, kind: str, day: date = DAY, origin: str = "crossref") -> None:
    record_event(source=document.source, kind=kind, origin=origin, happened_on=day)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_retraction_after_an_answer_was_saved_reaches_everyone_it_concerns(
    straw: Document, asker: User, librarian: User
) -> None:
    requested = RetrievalScope(exclude_retracted=True)
    before = engine.answer(question=QUESTION, requested=requested, by=asker, engine=EXTRACTIVE)
    assert [source.title for source in reading.readable(before, asker).cited] == [straw.title]  # type: ignore[union-attr]
    passages = list(Chunk.objects.order_by("id").values_list("id", "public_id", "indexed_at"))
    ingested = Document.objects.get().ingested_at

    record(straw, "retraction")

    page = client_of(asker).get(reverse("answer", args=[before.pk])).content.decode()
    assert "not to be relied on any more" in page
    assert "Retracted since" in page
    header = client_of(asker).get(reverse("documents")).content.decode()
    assert "1 not read" in header
    told = client_of(asker).get(reverse("notices")).content.decode()
    assert "Retracted: a work your answer cites" in told
    assert straw.title in told
    listed = client_of(librarian).get(reverse("admin:answers_answer_changelist"), {"cites": "warned"})
    assert QUESTION in listed.content.decode()
    desk = client_of(librarian).get(reverse("admin:index")).context["waiting"]
    assert [item.count for item in desk if "cites=warned" in item.url] == [1]
    after = engine.answer(question=QUESTION, requested=requested, by=asker, engine=EXTRACTIVE)
    assert not after.sources.exists()
    assert list(Chunk.objects.order_by("id").values_list("id", "public_id", "indexed_at")) == passages
    assert Document.objects.get().ingested_at == ingested


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("retraction", "retracted"),
        ("withdrawal", "retracted"),
        ("removal", "retracted"),
        ("expression_of_concern", "concern"),
    ],
)
def test_each_grave_assertion_is_told(work: Document, asker: User, kind: str, told: str) -> None:
    answered(asker, work)

    record(work, kind)

    assert [notice.kind for notice in alerts.unread(asker)] == [told]


@pytest.mark.parametrize("kind", ["correction", "replacement", "reinstatement"])
def test_what_takes_nothing_away_is_not_told(work: Document, asker: User, kind: str) -> None:
    answered(asker, work)

    record(work, kind)

    assert not Notice.objects.exists()


def test_the_same_retraction_told_by_two_indexes_is_one_message(work: Document, asker: User) -> None:
    answered(asker, work)

    for origin in ("crossref", "retraction_watch", "crossref"):
        record(work, "retraction", origin=origin)
    bring_up_to_date()
    bring_up_to_date(source_id=work.source_id)

    assert Notice.objects.count() == 1


def test_two_passages_of_one_work_are_one_message(work: Document, asker: User) -> None:
    answered(asker, work, work)

    record(work, "retraction")

    assert Notice.objects.count() == 1


def test_a_reinstatement_resolves_the_message_and_takes_the_banner_away(work: Document, asker: User) -> None:
    answer = answered(asker, work)
    record(work, "retraction")

    record(work, "reinstatement", LATER)

    assert not alerts.unread(asker).exists()
    assert Notice.objects.get().resolved_at is not None
    assert not reading.readable(answer, asker).warned  # type: ignore[union-attr]
    assert not alerts.affected(Answer.objects.all()).exists()
    assert "No longer retracted" in client_of(asker).get(reverse("notices")).content.decode()


def test_a_retraction_entered_by_mistake_and_withdrawn_resolves_the_message(
    work: Document, asker: User, librarian: User
) -> None:
    answered(asker, work)
    event = record_event(
        source=work.source, kind="retraction", origin="manual", happened_on=DAY, by=librarian
    )

    withdraw_event(event=event, by=librarian)

    assert not alerts.unread(asker).exists()


def test_a_work_retracted_again_after_its_reinstatement_is_told_again(work: Document, asker: User) -> None:
    answered(asker, work)
    record(work, "retraction")
    mark_read(by=asker)
    record(work, "reinstatement", LATER)

    record(work, "retraction", date(2023, 1, 1))

    assert alerts.unread(asker).count() == 1
    assert Notice.objects.count() == 2


def test_who_asked_for_retracted_work_knows_and_is_not_told(work: Document, asker: User) -> None:
    record(work, "retraction")
    answered(asker, work, badges=("retracted",))

    assert bring_up_to_date() == 0
    assert not alerts.affected(Answer.objects.all()).exists()


def test_a_work_that_was_retrieved_and_not_cited_is_not_told(work: Document, asker: User) -> None:
    answered(asker, work, cited=False)

    record(work, "retraction")

    assert not Notice.objects.exists()


def test_the_operators_answer_has_no_owner_to_tell_and_is_listed(work: Document) -> None:
    answer = answered(None, work)

    record(work, "retraction")

    assert not Notice.objects.exists()
    assert list(alerts.affected(Answer.objects.all())) == [answer]


def test_what_nobody_lived_to_tell_is_told_by_the_clock(work: Document, asker: User) -> None:
    Source.objects.filter(pk=work.source_id).update(is_retracted=True)
    answered(asker, work)

    assert bring_up_to_date() == 1
    assert bring_up_to_date() == 0


def test_a_failure_to_tell_does_not_undo_the_retraction(
    work: Document, asker: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(asker, work)
    monkeypatch.setattr(alerts, "concerned", lambda _kind: 1 / 0)

    record(work, "retraction")

    assert Source.objects.get(pk=work.source_id).is_retracted
    assert not Notice.objects.exists()


@pytest.mark.long
def test_ten_thousand_answers_are_told_in_a_few_statements(work: Document, asker: User) -> None:
    cited = answered(asker, work).sources.get()
    with connection.cursor() as cursor:
        for table, key in (("answers_answer", "id"), ("answers_answersource", "answer_id")):
            cursor.execute(
                f"INSERT INTO {table} SELECT (jsonb_populate_record(row, jsonb_build_object("  # noqa: S608
                "%s::text, md5(n::text)::uuid, 'id', "
                "CASE WHEN %s = 'id' THEN md5(n::text) ELSE (n + 1000000)::text END)"
                f")).* FROM {table} row, generate_series(1, 9999) n",
                [key, key],
            )
    assert AnswerSource.objects.filter(document=cited.document).count() == 10_000

    started = process_time()
    with CaptureQueriesContext(connection) as statements:
        record(work, "retraction")
    seconds = process_time() - started

    assert alerts.unread(asker).count() == 10_000
    assert len(statements) < 40
    assert seconds < 10
    page = client_of(asker).get(reverse("notices"))
    assert len(page.context["notices"]) == 20


def test_messages_are_read_one_by_one_or_all_at_once_and_only_ones_own(
    work: Document, asker: User, expert: User
) -> None:
    for user in (asker, asker, expert):
        answered(user, work)
    record(work, "retraction")
    foreign = alerts.unread(expert).get()
    first = alerts.to(asker)[0]
    client = client_of(asker)

    client.post(reverse("notices_read"), {"notice": str(foreign.pk)})
    client.post(reverse("notices_read"), {"notice": "1 OR 1=1"})
    assert (alerts.unread(asker).count(), alerts.unread(expert).count()) == (2, 1)
    client.post(reverse("notices_read"), {"notice": str(first.pk)})
    assert alerts.unread(asker).count() == 1
    client.post(reverse("notices_read"), {"all": "1"})
    assert (alerts.unread(asker).count(), alerts.unread(expert).count()) == (0, 1)


def test_looking_at_messages_changes_none(work: Document, asker: User) -> None:
    answered(asker, work)
    record(work, "retraction")

    client_of(asker).get(reverse("notices"))

    assert alerts.unread(asker).count() == 1
    assert client_of(asker).get(reverse("notices_read")).status_code == 405


def test_a_work_its_reader_may_not_see_any_more_is_not_named(work: Document, asker: User) -> None:
    answered(asker, work)
    record(work, "retraction")
    Document.objects.filter(pk=work.pk).update(license_class=LicenseClass.RESTRICTED)

    page = client_of(asker).get(reverse("notices")).content.decode()

    assert "Canary" not in page
    assert "may not see this work any more" in page


def test_a_librarian_counts_only_what_the_ceiling_covers(
    work: Document, librarian: User, asker: User
) -> None:
    answered(asker, work)
    record(work, "retraction")
    narrow = Group.objects.create(name="narrow")
    GroupCeiling.objects.create(group=narrow, license_classes=["public"])
    curator = User.objects.create_user("curator")
    curator.groups.add(narrow)

    assert alerts.affected_under_ceiling(librarian).count() == 1
    assert alerts.affected_under_ceiling(curator).count() == 0


def test_uncited_drift_keeps_the_softer_words(work: Document, asker: User) -> None:
    answer = answered(asker, work, cited=False)
    record(work, "retraction")

    shown = reading.readable(answer, asker)

    assert shown is not None
    assert not shown.warned
    assert shown.sources[0].drift[0] == Drift.RETRACTED
