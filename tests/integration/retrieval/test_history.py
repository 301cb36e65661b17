"""Superseded editions: demoted with the reason, always reachable, and first for who asks about the past."""

from __future__ import annotations

import json
from datetime import date, timedelta

import pytest
from click.testing import CliRunner
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.egress import EVERY_CLASS
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import InvalidScope, RetrievalScope, scope
from retrieval import retriever
from retrieval.cli import retrieve as command
from retrieval.request import MAX_LIMIT
from retrieval.rerank import Reranker
from retrieval.retriever import retrieve
from retrieval.types import Item, RetrievalResult
from tests.factories.corpus import SourceFactory
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db(transaction=True)

OLD = "Bales may be stacked up to a moisture content of 20 %."
NEW = "Bales may be stacked up to a moisture content of no more than 16 %."
QUESTION = "Up to which moisture content may bales be stacked?"


def pair(old: int | None = 2016, new: int | None = 2023) -> tuple[Document, Document]:
    newer = add("Guideline", [NEW], year=new, version_label="2023 edition")
    older = add(
        "Guideline of old",
        [OLD],
        year=old,
        version_label="2016 edition",
        status=Document.Status.SUPERSEDED,
        superseded_by=newer,
    )
    return older, newer


def found(question: str, limit: int = 8, **wanted: object) -> RetrievalResult:
    return retrieve(question=question, scope=scope(**wanted), limit=limit)  # type: ignore[arg-type]


def first(question: str, **wanted: object) -> Item:
    return found(question, **wanted).items[0]


def trace(result: RetrievalResult) -> str:
    return next((one.reason for one in result.traces if one.stage == "history"), "")


def test_today_the_current_edition_is_first_and_the_old_one_demoted_with_the_reason() -> None:
    older, newer = pair()

    result = found(QUESTION)

    assert [item.document_id for item in result.items] == [str(newer.pk), str(older.pk)]
    assert result.items[1].adjustments == ("superseded: score x 0.50",)
    assert trace(result) == ""
    assert result.as_dict()["history"]["mode"] == "today"


def test_one_line_under_the_successor_names_the_old_edition_and_what_it_said() -> None:
    older, newer = pair()

    (item,) = found(QUESTION, limit=1).items

    (other,) = item.other_versions
    assert item.document_id == str(newer.pk)
    assert (other.document_id, other.id) == (str(older.pk), str(older.chunks.get().public_id))
    assert other.line == f"2016 edition said: {OLD}"
    assert other.reason == "superseded"
    assert item.as_dict()["other_versions"][0]["says"] == OLD


@pytest.mark.parametrize(
    "question",
    [
        f"As of 2019, {QUESTION}",
        f"{QUESTION} What held in 2019?",
        f"Before the revision, {QUESTION}",
        "What did the 2016 edition say of the moisture content of stacked bales?",
        "Which moisture content of bales did the previous edition allow?",
    ],
)
def test_a_question_about_the_past_finds_the_old_edition_first(question: str) -> None:
    older, newer = pair()

    result = found(question)

    assert [item.document_id for item in result.items] == [str(older.pk), str(newer.pk)]
    assert result.items[0].score > result.items[1].score
    assert "full score" in result.items[0].adjustments[0]
    assert "score x 0.50" in result.items[1].adjustments[0]
    assert trace(result)
    assert result.history.words


def test_the_scope_picks_the_version_in_force_that_day() -> None:
    older, newer = pair()

    assert first(QUESTION, as_of="2019").document_id == str(older.pk)
    assert first(QUESTION, as_of="2022-12-31").document_id == str(older.pk)
    assert first(QUESTION, as_of="2023-01-01").document_id == str(newer.pk)
    assert first(QUESTION, as_of=timezone.localdate() + timedelta(days=1)).document_id == str(newer.pk)


def test_the_scope_decides_over_the_question() -> None:
    older, _ = pair()

    result = found(f"In 2024, {QUESTION}", as_of="2019")

    assert result.items[0].document_id == str(older.pk)
    assert trace(result) == "scope: versions in force on 2019-12-31 come first"


def test_a_day_of_publication_counts_to_the_day() -> None:
    newer = add("New", [NEW], year=2019, source=SourceFactory(published_date=date(2019, 6, 15)))
    add("Old", [OLD], year=2016, status=Document.Status.SUPERSEDED, superseded_by=newer)

    assert first(QUESTION, as_of="2019-06-14").title == "Old"
    assert first(QUESTION, as_of="2019-06-15").title == "New"


def test_an_undated_version_keeps_its_score_and_it_is_said() -> None:
    older, newer = pair(old=None, new=None)

    result = found(QUESTION, as_of="2019")

    assert {item.document_id for item in result.items} == {str(older.pk), str(newer.pk)}
    assert all("a date is missing" in item.adjustments[0] for item in result.items)
    assert result.history.undated == 2
    assert trace(result).endswith("; 2 without a date")


def test_before_the_first_edition_none_is_demoted() -> None:
    pair()

    result = found(QUESTION, as_of="1990")

    assert all("score x" not in text for item in result.items for text in item.adjustments)


def test_a_comparison_of_editions_favours_none() -> None:
    pair()

    result = found(f"How do the 2016 and 2023 editions differ? {QUESTION}")

    assert result.history.mode == "even"
    assert all("score x" not in text for item in result.items for text in item.adjustments)


def test_the_trace_explains_the_rule_without_words_of_the_question() -> None:
    pair()

    result = found("As of 2019, may Canarybales be stacked?")

    assert trace(result) == "as_of: versions in force on 2019-12-31 come first"
    assert "anary" not in json.dumps([one.as_dict() for one in result.traces])
    assert result.as_dict()["history"] == {
        "mode": "day",
        "rule": "as_of",
        "as_of": "2019-12-31",
        "words": "as of 2019",
        "undated": 0,
    }


@pytest.mark.parametrize(
    "question", [QUESTION, f"As of 2019, {QUESTION}", f"Before the revision, {QUESTION}"]
)
def test_nothing_is_hidden_at_any_limit(question: str) -> None:
    """What would be shown were nothing demoted is shown, or named in a line, at each limit from 1 to 50."""
    last = None
    for year in (2023, 2016, 2009):
        last = add(
            f"Guideline {year}",
            [
                f"Bales of {year} may be stacked up to a moisture content of {year % 100} %.",
                f"Moisture in {year}.",
            ],
            year=year,
            status="current" if last is None else "superseded",
            superseded_by=last,
        )
    for number in range(30):
        add(f"Filler {number}", [f"Bales of lot {number} have some moisture content, and are stacked."])
    add("Orphan", [OLD], status="superseded", year=2001)
    undemoted = _without_demotion(question)

    for limit in range(1, MAX_LIMIT + 1):
        result = found(question, limit=limit)
        lines = [*result.other_versions, *(line for item in result.items for line in item.other_versions)]
        reachable = {item.document_id for item in result.items} | {line.document_id for line in lines}
        assert undemoted[limit] <= reachable, limit
        assert len(result.items) == min(limit, 37)


def _without_demotion(question: str) -> dict[int, set[str]]:
    """The documents that would be shown at each limit, were all of them current."""
    present = list(Document.objects.values_list("pk", "status", "superseded_by"))
    Document.objects.update(status="current", superseded_by=None)
    shown = {
        limit: {item.document_id for item in found(question, limit=limit).items}
        for limit in range(1, MAX_LIMIT + 1)
    }
    for key, status, successor in present:
        Document.objects.filter(pk=key).update(status=status, superseded_by=successor)
    return shown


def test_an_old_edition_with_the_very_same_passage_is_named_under_the_new_one() -> None:
    newer = add("New", [NEW], year=2023)
    older = add("Old", [NEW], year=2016, status="superseded", superseded_by=newer)

    (item,) = found(QUESTION).items

    assert item.title == "New"
    assert [line.document_id for line in item.other_versions] == [str(older.pk)]


def test_an_old_edition_whose_successor_says_nothing_of_it_is_named_all_the_same() -> None:
    newer = add("New", ["Nothing of that sort stands here."], year=2023, license_class="restricted")
    older = add("Old", [OLD], year=2016, status="superseded", superseded_by=newer)
    add("Another", ["Bales of any moisture content may be stacked, said another."])

    result = found(OLD, limit=1, license_classes=["open_commercial"])

    assert [item.title for item in result.items] == ["Another"]
    assert [line.document_id for line in result.other_versions] == [str(older.pk)]


def test_a_version_one_may_not_see_decides_nothing() -> None:
    newer = add("Secret new edition", [NEW], year=2018, license_class="restricted")
    older = add("Old", [OLD], year=2016, status="superseded", superseded_by=newer)
    wanted: dict[str, object] = {"license_classes": ["open_commercial"], "as_of": "2019"}

    hidden = found(QUESTION, **wanted).as_dict()
    seen = found(QUESTION, as_of="2019")
    Document.objects.filter(pk=newer.pk).delete()
    gone = found(QUESTION, **wanted).as_dict()

    for result in (hidden, gone):
        del result["request_id"]
        for stage in result["traces"]:
            del stage["milliseconds"]
    assert hidden == gone
    assert "2018" not in json.dumps(hidden)
    assert [line.document_id for line in seen.items[0].other_versions] == [str(older.pk)]


def test_what_a_reranker_moves_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fond(Reranker):
        name = "fond"

        def readable(self) -> frozenset[LicenseClass]:
            return EVERY_CLASS

        def grades(
            self, question: str, passages: list[str], *, carries: frozenset[LicenseClass], seconds: float
        ) -> list[float]:
            return [{OLD: 10.0, NEW: 6.0}.get(text, 1.0) for text in passages]

    older, newer = pair()
    add("Another", ["Bales of any moisture content may be stacked, said another."])
    monkeypatch.setattr(retriever.rerank, "reranker_of", lambda *_: Fond())

    result = found(QUESTION, limit=1)

    assert result.items[0].document_id == str(newer.pk)
    assert [line.document_id for line in result.items[0].other_versions] == [str(older.pk)]


@pytest.mark.parametrize("text", ["2019-13", "yesterday", "", "0"])
def test_a_day_that_does_not_exist_is_refused_on_every_way_in(text: str) -> None:
    with pytest.raises(InvalidScope, match="2019-05-31"):
        scope(as_of=text)
    told = CliRunner().invoke(command, [QUESTION, "--as-of", text])
    assert told.exit_code == 2
    assert "2019-05-31" in told.output


def test_the_command_prefers_the_version_of_a_day_and_says_so() -> None:
    older, _ = pair()

    told = CliRunner().invoke(command, [QUESTION, "--as-of", "2019", "--json"])
    shown = CliRunner().invoke(command, [QUESTION, "--limit", "1"])

    result = json.loads(told.output)
    assert result["items"][0]["document_id"] == str(older.pk)
    assert result["scope"]["as_of"] == "2019-12-31"
    assert result["history"]["rule"] == "scope"
    assert "2016 edition said" in shown.output


def test_a_day_leaves_nothing_out_and_survives_being_stored() -> None:
    wanted = scope(as_of="2019")

    assert not wanted.restricted
    assert not wanted.denied
    assert scope(**wanted.as_dict()) == wanted
    assert wanted.digest() != RetrievalScope().digest()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["public", "restricted"]),
            st.sampled_from([None, 2009, 2016, 2023]),
            st.booleans(),
        ),
        min_size=2,
        max_size=5,
    ),
    question=st.sampled_from([QUESTION, f"As of 2019, {QUESTION}", f"Before the revision, {QUESTION}"]),
    as_of=st.sampled_from([None, "2010", "2021"]),
    limit=st.integers(1, 6),
)
def test_versions_out_of_scope_are_as_if_they_did_not_exist(
    rows: list[tuple[str, int | None, bool]], question: str, as_of: str | None, limit: int
) -> None:
    Document.objects.all().delete()
    following = None
    for number, (license_class, year, is_linked) in enumerate(rows):
        following = add(
            f"Edition {number}",
            [f"Bales may be stacked up to a moisture content of {number} %.", OLD if number % 2 else NEW],
            license_class=license_class,
            year=year,
            status="superseded" if number else "current",
            superseded_by=following if is_linked else None,
        )

    def outcome() -> dict[str, object]:
        result = found(question, limit=limit, license_classes=["public"], as_of=as_of).as_dict()
        del result["request_id"]
        for stage in result["traces"]:
            del stage["milliseconds"]
        return result

    with_all = outcome()
    Document.objects.exclude(license_class="public").delete()

    assert with_all == outcome()
