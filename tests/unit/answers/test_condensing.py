"""What a summary is worth, and what becomes of the source it is of."""

import json

import pytest

from answers import condensing
from answers.condensing import Condensed, Outcome, Verdict
from answers.prompting import NumberedSource, build, parse_template

BODY = (
    "Rice straw was digested at 37 °C for 40 days. The methane yield was 210 L/kg of volatile solids. "
    "Grinding the straw to 2 mm raised the yield by 14 %. The reactors were fed once a day. " * 4
)


def reply(relevance: object = 8, summary: object = "The methane yield was 210 L/kg.", **more: object) -> str:
    return json.dumps({"relevance": relevance, "summary": summary, **more})


def test_a_shorter_summary_with_figures_of_the_passage_stands_in_its_place() -> None:
    assert condensing.verdict(reply(), body=BODY, floor=3) == Verdict(
        Outcome.CONDENSED, "The methane yield was 210 L/kg."
    )


@pytest.mark.parametrize(
    "bad",
    [
        "", "The methane yield was 210 L/kg.", "I cannot help with that.", "[]", "{", "[" * 100_000,
        f"```json\n{reply()}\n```", reply(relevance="8"), reply(relevance=True), reply(relevance=8.5),
        reply(relevance=-1), reply(relevance=11), reply(relevance=None), reply(summary=None),
        reply(summary=["a"]), reply(summary=""), reply(summary=" \u200b\n"), reply(note="more"),
        json.dumps({"relevance": 8}), json.dumps({"summary": "210 L/kg"}),
    ],
    ids=repr,
)  # fmt: skip
def test_anything_but_the_form_that_was_asked_for_is_malformed(bad: str) -> None:
    assert condensing.verdict(bad, body=BODY, floor=3) == Verdict(Outcome.MALFORMED)


@pytest.mark.parametrize(
    "invented",
    [
        "The yield was 201 L/kg.",
        "The yield was 210 mg.",
        "It was -37 °C.",
        "The yield was 210 L/kg at pH 7.2.",
    ],
)
def test_a_summary_with_a_figure_that_the_passage_lacks_is_refused(invented: str) -> None:
    assert condensing.verdict(reply(summary=invented), body=BODY, floor=3) == Verdict(Outcome.FIGURES)


def test_a_summary_that_is_as_long_as_the_passage_is_refused() -> None:
    assert condensing.verdict(reply(summary=BODY), body=BODY.strip(), floor=3).outcome is Outcome.LONGER


@pytest.mark.parametrize(("relevance", "outcome"), [(2, Outcome.SET_ASIDE), (3, Outcome.CONDENSED)])
def test_below_the_floor_a_passage_is_set_aside(relevance: int, outcome: Outcome) -> None:
    assert condensing.verdict(reply(relevance), body=BODY, floor=3).outcome is outcome


def test_no_model_is_asked_about_what_may_not_be_rewritten_or_is_short() -> None:
    assert condensing.kept_from(body=BODY, no_derivatives=True) == Verdict(Outcome.NO_DERIVATIVES)
    assert condensing.kept_from(body="Short.", no_derivatives=False) == Verdict(Outcome.SHORT)
    assert condensing.kept_from(body=BODY, no_derivatives=False) is None


def test_when_all_are_called_irrelevant_all_are_kept_whole() -> None:
    aside = Verdict(Outcome.SET_ASIDE)

    assert condensing.settled([aside, aside]) == (Verdict(Outcome.ALL_IRRELEVANT),) * 2
    assert condensing.settled([aside, Verdict(Outcome.TIMEOUT)]) == (aside, Verdict(Outcome.TIMEOUT))


def condensed(*verdicts: Verdict) -> Condensed:
    return Condensed(verdicts, "openai/fast", "0" * 64, 3, prompt_tokens=900, completion_tokens=40)


def test_numbers_stay_when_a_source_is_set_aside() -> None:
    told = condensed(
        Verdict(Outcome.CONDENSED, "Short one."), Verdict(Outcome.SET_ASIDE), Verdict(Outcome.TIMEOUT)
    )
    template = parse_template("s\n===\n{{nonce}}{{orders}}{{sources}}{{question}}\n=== orders\no")
    bodies = told.bodies(["first", "second", "third"])

    prompt = build(
        template,
        question="?",
        sources=[NumberedSource(n, "T", body) for n, body in enumerate(bodies, 1) if body is not None],
    )

    assert bodies == ["Short one.", None, "third"]
    assert [number for number in "123" if f'number="{number}"' in prompt.user] == ["1", "3"]


def test_the_record_counts_each_reason_and_what_it_took() -> None:
    record = condensed(
        Verdict(Outcome.CONDENSED, "."), Verdict(Outcome.SET_ASIDE), Verdict(Outcome.TIMEOUT),
        Verdict(Outcome.TIMEOUT), Verdict(Outcome.MALFORMED), Verdict(Outcome.NO_DERIVATIVES),
    ).record(before=5120, after=1310)  # fmt: skip

    assert (record["condensed"], record["set_aside"], record["failures"]) == (1, 1, 3)
    assert record["whole"] == {"malformed": 1, "no_derivatives": 1, "timeout": 2}
    assert record["tokens"] == {"before": 5120, "after": 1310}
    assert record["taken"] == {"prompt": 900, "completion": 40}
    assert condensing.set_aside({condensing.RECORD: record}) == {2}
    assert condensing.set_aside({}) == set()
