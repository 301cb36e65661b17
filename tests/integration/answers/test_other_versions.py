"""An answer names the edition that a newer one demoted, today and to whoever may see it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from answers import engine, reading
from answers.cli import ask
from answers.models import EXTRACTIVE, Answer
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import scope
from tests.factories.corpus import DocumentFactory
from tests.integration.answers.conftest import passages

OLD = "Bales may be stacked up to a moisture content of 20 %."
NEW = "Bales may be stacked up to a moisture content of no more than 16 %."
QUESTION = "Up to which moisture content may bales be stacked?"

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def old(transactional_db: None) -> Document:
    newer = DocumentFactory(title="Guideline", year=2023, version_label="2023 edition")
    older = DocumentFactory(
        title="Guideline of old",
        year=2016,
        version_label="2016 edition",
        status="superseded",
        superseded_by=newer,
    )
    passages(newer, NEW)
    passages(older, OLD)
    return older


def answered(by: User, question: str = QUESTION, **values: object) -> Answer:
    return engine.answer(question=question, requested=scope(), by=by, engine=EXTRACTIVE, limit=2, **values)  # type: ignore[arg-type]


def page(user: User, answer: Answer) -> str:
    client = Client()
    client.force_login(user)
    return client.get(reverse("answer", args=[answer.pk])).content.decode()


def test_the_line_stands_under_the_successor_and_leads_to_the_passage(asker: User, old: Document) -> None:
    answer = answered(asker)

    shown = reading.readable(answer, asker)
    assert shown is not None
    source = shown.sources[0]
    assert source.title == "Guideline"
    assert shown.sources[1].other_versions == ()
    assert [other.line for other in source.other_versions] == [f"2016 edition said: {OLD}"]
    assert reverse("passage", args=[old.chunks.get().public_id]) in page(asker, answer)


def test_the_answer_keeps_which_passage_was_named_and_none_of_its_words(asker: User, old: Document) -> None:
    answer = answered(asker)

    kept = json.dumps(answer.traces)
    assert str(old.chunks.get().public_id) in kept
    assert "20 %" not in kept


def test_a_reader_who_may_not_see_the_old_edition_any_more_reads_no_line(asker: User, old: Document) -> None:
    answer = answered(asker)
    Document.objects.filter(pk=old.pk).update(license_class=LicenseClass.RESTRICTED)

    text = page(asker, answer)

    assert "2016 edition" not in text
    assert "20 %" not in text


def test_an_old_edition_that_was_deleted_leaves_no_line(asker: User, old: Document) -> None:
    answer = answered(asker)
    old.delete()

    assert "2016 edition" not in page(asker, answer)


def test_an_answer_as_of_a_day_rests_on_the_edition_in_force_then(asker: User, old: Document) -> None:
    for wanted in (
        answered(asker, f"As of 2019, {QUESTION}"),
        engine.answer(question=QUESTION, requested=scope(as_of="2019"), by=asker, engine=EXTRACTIVE, limit=2),
    ):
        assert wanted.sources.get(number=1).title == "Guideline of old"
        assert "versions in force on 2019-12-31 come first" in page(asker, wanted)


def test_the_command_prints_the_line(old: Document) -> None:
    told = CliRunner().invoke(ask, [QUESTION, "--engine", "extractive"])
    past = CliRunner().invoke(ask, [QUESTION, "--engine", "extractive", "--as-of", "2019", "--json"])
    wrong = CliRunner().invoke(ask, [QUESTION, "--as-of", "2019-13"])

    assert "2016 edition said" in told.output
    assert json.loads(past.output)["history"]["as_of"] == "2019-12-31"
    assert wrong.exit_code == 2
