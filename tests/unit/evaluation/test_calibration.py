"""Who is to label what, what labels come to, which answers are drawn, and labels as files."""

import json
from typing import Any

import pytest

from evaluation.calibration import files, sampling, standing, tables
from evaluation.calibration.files import LabelFileError
from evaluation.calibration.measuring import Labelled, measure, warnings
from evaluation.calibration.standing import Label
from evaluation.judging.rubric import DIMENSIONS

TWOS = dict.fromkeys(DIMENSIONS, 2)
LINE: dict[str, Any] = {
    "question": "straw",
    "answer_sha256": "a" * 64,
    "labeller": "ada",
    "expert": True,
    **TWOS,
    "at": "2026-11-30T10:00:00+00:00",
}


def label(labeller: str, *, decides: bool = False, expert: bool = True, **grades: int) -> Label:
    return Label(labeller, expert, decides, TWOS | grades)


def skipped(labeller: str) -> Label:
    return Label(labeller, is_expert=True, is_adjudication=False, grades={})


def test_two_people_label_an_item_and_nobody_twice() -> None:
    assert standing.wants_label([], "ada")
    assert not standing.wants_label([label("ada")], "ada")
    assert standing.wants_label([label("ada")], "ben")
    assert not standing.wants_label([label("ada"), label("ben")], "cyd")


def test_what_one_skips_is_left_to_others() -> None:
    labels = [skipped("ada"), label("ben")]

    assert not standing.wants(labels, "ada")
    assert standing.wants_label(labels, "cyd")


def test_a_third_decides_where_two_differ_and_only_there() -> None:
    alike, apart = [label("ada"), label("ben")], [label("ada"), label("ben", correctness=0)]

    assert standing.differing(apart) == ("correctness",)
    assert standing.wants_adjudication(apart, "cyd")
    assert not standing.wants_adjudication(apart, "ada")
    assert not standing.wants_adjudication(alike, "cyd")
    assert not standing.wants_adjudication([*apart, label("cyd", decides=True)], "dan")


def test_a_decision_settles_what_was_disputed_and_nothing_else() -> None:
    labels = [
        label("ada"),
        label("ben", correctness=0),
        label("cyd", decides=True, correctness=1, completeness=0),
    ]

    assert standing.settled(labels, experts=True) == TWOS | {"correctness": 1}
    assert "correctness" not in standing.settled(labels[:2], experts=True)
    assert standing.settled(labels, experts=False) == {}


def test_experts_and_others_are_kept_apart() -> None:
    rows = [Labelled((label("ada"), label("zoe", expert=False, correctness=0)), TWOS)]

    experts, others = measure(rows, experts=True), measure(rows, experts=False)

    assert (experts["labels"], others["labels"]) == (1, 1)
    assert experts["judge_and_people"]["correctness"]["exact"] == 1.0
    assert others["judge_and_people"]["correctness"]["exact"] == 0.0
    assert experts["between_people"]["correctness"]["labels"] == 0


def test_agreement_that_cannot_be_said_is_a_word() -> None:
    rows = [Labelled((label("ada"), label("ben")), TWOS)] * 5

    found = measure(rows, experts=True)["judge_and_people"]["groundedness"]

    assert (found["kappa"], found["interval"], found["word"]) == ("undefined", "undefined", "undefined")


def test_agreement_from_few_labels_is_unstable_and_a_judge_nobody_checked_is_said_to_be() -> None:
    rows = [
        Labelled((label("ada", **dict.fromkeys(DIMENSIONS, n % 3)),), dict.fromkeys(DIMENSIONS, n % 3))
        for n in range(9)
    ]
    few = {"experts": measure(rows, experts=True), "others": measure(rows, experts=False)}
    nobody = {"experts": measure([], experts=True), "others": measure([], experts=False)}

    assert few["experts"]["judge_and_people"]["correctness"]["word"] == "almost perfect, unstable"
    assert len([said for said in warnings(few) if "unstable: 9 labels" in said]) == len(DIMENSIONS)
    assert warnings(nobody) == [
        "No expert has labelled answers of this run: how far to trust the judge is not known."
    ]
    assert "do not stand in" in warnings(nobody | {"others": few["experts"]})[0]


def test_a_judge_that_people_disagree_with_is_not_to_be_rested_on() -> None:
    rows = [
        Labelled((label("ada", **dict.fromkeys(DIMENSIONS, n % 2)),), dict.fromkeys(DIMENSIONS, n // 2 % 2))
        for n in range(40)
    ]
    found = {"experts": measure(rows, experts=True), "others": measure([], experts=False)}

    assert all("do not rest a decision on it" in said for said in warnings(found))
    assert len(warnings(found)) == len(DIMENSIONS)


def test_what_nobody_decided_is_left_out_and_counted() -> None:
    rows = [Labelled((label("ada"), label("ben", correctness=0)), TWOS)]

    found = measure(rows, experts=True)["judge_and_people"]

    assert (found["correctness"]["labels"], found["correctness"]["undecided"]) == (0, 1)
    assert (found["completeness"]["labels"], found["completeness"]["undecided"]) == (1, 0)


def test_tables_say_words_and_not_numbers_for_what_is_undefined() -> None:
    rows = [Labelled((label("ada"),), TWOS)]
    found = {"experts": measure(rows, experts=True), "others": measure([], experts=False)}

    (judge, people) = tables.of(found)

    said = {row.dimension: (row.labels, row.exact, row.kappa, row.interval, row.word) for row in judge.rows}
    assert said["Correctness"] == (1, "100%", "undefined", "undefined", "undefined")
    assert {row.exact for row in people.rows} == {"undefined"}


def test_a_seed_draws_the_same_and_another_one_others() -> None:
    population = list(range(100))

    drawn = sampling.draw(population, size=40, seed=1)

    assert drawn == sampling.draw(population, size=40, seed=1)
    assert len(set(drawn)) == 40
    assert drawn != sampling.draw(population, size=40, seed=2)
    assert sorted(sampling.draw(population, size=400, seed=3)) == population


def text_of(*lines: dict[str, Any] | str) -> str:
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)


def test_labels_are_read_with_comments_left_out() -> None:
    lines = files.read(text_of("# By hand.", "", LINE, LINE | {"labeller": "ben"}))

    assert [line.number for line in lines] == [3, 4]
    assert lines[0].label.expert


NONE = dict.fromkeys(DIMENSIONS)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"correctness": 3}, "correctness: Input should be less than or equal to 2"),
        ({"correctness": True}, "correctness: Input should be a valid integer"),
        ({"correctness": "2"}, "correctness: Input should be a valid integer"),
        ({"correctness": 1.0}, "correctness: Input should be a valid integer"),
        ({"correctness": None}, "give every dimension a grade"),
        ({"skipped": "why"}, "what is skipped has no grades"),
        (NONE, "say in skipped why there is none"),
        ({"expert": "yes"}, "expert: Input should be a valid boolean"),
        ({"at": "2026-11-30T10:00:00"}, "at: Input should have timezone info"),
        ({"answer_sha256": "short"}, "answer_sha256: String should match"),
        ({"judge": 2}, "judge: Extra inputs are not permitted"),
        ({"labeller": " "}, "labeller: String should have at least 1 character"),
    ],
)
def test_each_mistake_in_a_file_of_labels_has_its_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LabelFileError) as failure:
        files.read(text_of("# Labels", LINE | change, "{not json"))

    first, second = str(failure.value).split("; ", 1)
    assert first.startswith("line 2: ")
    assert said in first
    assert second.startswith("line 3: ")


def test_one_person_labels_an_answer_once_in_a_file() -> None:
    with pytest.raises(LabelFileError, match="line 3: ada labelled this answer in line 1 already"):
        files.read(text_of(LINE, LINE | {"labeller": "ben"}, LINE))
