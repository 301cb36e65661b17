"""Which brackets of an answer are citations of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.citations import cited_numbers, find, quotations, without_code

THREE = [
    "Straw yields rose to 210 L/kg of volatile solids [17] in batch trials.",
    "Ash was 17 % of the dry mass, as shown before [1, 2].",
    "Nothing of note.",
]


def numbers(text: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(citation.numbers, citation.unknown) for citation in find(text, THREE)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fact one [1]. Fact two [9]. Fact three.", [((1,), ()), ((), (9,))]),
        ("Fact [1, 2].", [((1, 2), ())]),
        ("Fact [1,2;3].", [((1, 2, 3), ())]),
        ("Fact [1-3].", [((1, 2, 3), ())]),
        ("Fact [1–3].", [((1, 2, 3), ())]),
        ("Fact [3-1].", [((1, 2, 3), ())]),
        ("Fact [1][2].", [((1,), ()), ((2,), ())]),
        ("Fact [1] [2].", [((1,), ()), ((2,), ())]),
        ("Fact ［1］, fact 【2】, fact [１].", [((1,), ()), ((2,), ()), ((1,), ())]),
        ("Fact [0].", [((), (0,))]),
        ("Fact [01].", [((1,), ())]),
        ("Fact [2, 9].", [((2,), (9,))]),
        ("Fact [ 2 ].", [((2,), ())]),
        ("Fact[2].", [((2,), ())]),
        ("Fact [[2]].", [((2,), ())]),
        ("Fact [1-900].", [((1,), (900,))]),
        ("Fact [2019].", [((), (2019,))]),
    ],
)
def test_every_form_of_a_marker_is_read(text: str, expected: list[object]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Take `x[1]` of the list.",
        "Take ``x`[1]`` of the list.",
        "```python\nx[1]\n```",
        "~~~\n[1]\n```\n[2]\n~~~",
        "```\nnever closed [1]",
        r"An escaped \[1\] bracket.",
        "A footnote [^1] is none.",
        "An interval [1.5, 2.5] and [a1] and [] are none.",
        "[1234567] has more digits than any list.",
    ],
)
def test_brackets_in_code_and_other_brackets_are_no_markers(text: str) -> None:
    assert numbers(text) == []


def test_a_marker_after_a_closed_code_span_counts() -> None:
    assert numbers("`code [1]` says so [2].") == [((2,), ())]


def test_the_sources_own_reference_numbers_are_no_markers() -> None:
    assert numbers("“yields rose to 210 L/kg of volatile solids [17] in batch trials” [1]") == [((1,), ())]
    assert numbers('"as shown before [1, 2]" [2]') == [((2,), ())]
    assert numbers("Straw yields rose to 210 L/kg of volatile solids [17] in trials [1].") == [((1,), ())]


def test_an_invented_number_is_not_excused_by_a_quotation_that_no_source_holds() -> None:
    assert numbers("“yields fell to 10 L/kg [17] in trials” [1]") == [((), (17,)), ((1,), ())]
    assert numbers("Fact two [17].") == [((), (17,))]


def test_a_quotation_may_hold_quotation_marks() -> None:
    body = "They called it “the black box” and left it closed [4]."

    assert [body] == [f"{body}"[q.start - 1 : q.end - 1] for q in quotations(f"“{body}” [1]", [body])]
    assert [c.numbers for c in find(f"“{body}” [1]", [body])] == [(1,)]


def test_the_cited_numbers_are_in_the_order_of_the_list() -> None:
    assert cited_numbers(find("A [3]. B [1, 3]. C [9].", THREE)) == (1, 3)


MARKUP = st.text(alphabet='ab [](){}0123456789,-–;`~\n“”"\\［］【】^*_', max_size=200)


@given(MARKUP)
def test_only_listed_numbers_resolve_and_marks_lie_in_the_text(text: str) -> None:
    last = 0
    for citation in find(text, THREE):
        assert last <= citation.start < citation.end <= len(text)
        assert all(1 <= number <= 3 for number in citation.numbers)
        assert not any(1 <= number <= 3 for number in citation.unknown)
        assert citation.numbers or citation.unknown
        last = citation.end


@given(MARKUP)
def test_finding_is_stable_under_blanking_code(text: str) -> None:
    blank = without_code(text)

    assert len(blank) == len(text)
    assert without_code(blank) == blank


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6))
def test_each_marker_written_is_found(cited: list[int]) -> None:
    text = " ".join(f"Claim {'abc'[number - 1]} [{number}]." for number in cited)

    assert [citation.numbers for citation in find(text, THREE)] == [(number,) for number in cited]


@pytest.mark.parametrize("pattern", ["[", "`", "` ", "“", '"a', "[1,", "```\n", "“a"])
def test_hostile_text_takes_linear_time(pattern: str) -> None:
    find(pattern * 10_000, THREE)
