"""What the check notices about each sentence."""

import gzip
import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.findings import FindingKind, SentenceFinding, SourceText, check
from answers.models import Finding
from corpus.sentences import sentences

SOURCES = [
    SourceText("Rice straw gave 210 L/kg of methane at 37 °C [17]. Fact one is known.", "Methane from straw"),
    SourceText("Fact two: ash was 17.3 % of the dry mass in 1,250 samples."),
    SourceText("Fact three is that zeolites help."),
]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(text[f.start : f.end], f.kind.value) for f in check(text, SOURCES)]


def test_the_kinds_are_those_the_database_stores() -> None:
    assert {kind.value for kind in FindingKind} == set(Finding.Kind.values)


def test_each_sentence_gets_its_own_finding() -> None:
    assert kinds("Fact one [1]. Fact two [9]. Fact three.") == [
        ("Fact one [1].", "supported"),
        ("Fact two [9].", "cites_unretrieved"),
        ("Fact three.", "uncited"),
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Fact one and fact two [1, 2].", "supported"),
        ("Facts one, two and three [1-3].", "supported"),
        ("Fact one [0].", "cites_unretrieved"),
        ("Fact one [01].", "supported"),
        ("Fact one ［1］.", "supported"),
        ("Fact one `[1]`.", "uncited"),
        ("“Rice straw gave 210 L/kg of methane at 37 °C [17].” [1]", "supported"),
        ("Fact one. [1]", "supported"),
        ("Whales migrate to polar seas in spring [1].", "weak_support"),
        ("Rice straw gave 211 L/kg of methane [1].", "number_not_in_source"),
        ("Rice straw gave 210 mL/kg of methane [1].", "number_not_in_source"),
        ("Rice straw gave -210 L/kg of methane [1].", "number_not_in_source"),
        ("Rice straw gave 210 L kg⁻¹ of methane [1].", "supported"),
        ("Ash was 17.3 percent of dry mass in 1250 samples [2].", "supported"),
        ("Ash was 17.3 % of dry mass in one paper [2].", "supported"),
        ("Methane from straw [1].", "supported"),
    ],
)
def test_one_sentence(text: str, kind: str) -> None:
    assert [found for _, found in kinds(text)] == [kind]


def test_a_false_number_beside_an_invented_source_is_both() -> None:
    assert [kind for _, kind in kinds("Straw gave 999 L/kg [1][9].")] == [
        "cites_unretrieved",
        "number_not_in_source",
    ]


def test_a_quotation_of_several_sentences_is_cited_as_a_whole() -> None:
    sources = [SourceText("Straw gave 210 L/kg. Ash was 17 % of it. Lignin stayed."), SourceText("Other.")]

    def found(text: str) -> list[tuple[str, tuple[int, ...]]]:
        return [(finding.kind.value, finding.numbers) for finding in check(text, sources)]

    assert found("“Straw gave 210 L/kg. Ash was 17 % of it.” [1]") == [("supported", (1,))] * 2
    assert found("“Straw gave 210 L/kg. Ash was 17 % of it.” Really [1].")[0] == ("uncited", ())
    assert found("“Straw gave 211 L/kg. Ash was 17 % of it.” [1]")[0] == ("uncited", ())
    assert found("“Straw gave 210 L/kg. Ash was 17 % of it.” [9]")[0] == ("cites_unretrieved", (9,))


def test_what_claims_nothing_gets_no_finding() -> None:
    text = "# Yields\n\nAs follows:\n\n- Fact one [1].\n\nThe sources do not say more. Is that so?"

    assert kinds(text) == [("Fact one [1].", "supported")]


def test_list_items_are_sentences_of_their_own() -> None:
    assert kinds("- Fact one [1]\n- Fact two [2]\n2. Fact three") == [
        ("Fact one [1]", "supported"),
        ("Fact two [2]", "supported"),
        ("Fact three", "uncited"),
    ]


def test_a_table_is_held_against_the_citation_of_its_lead_in() -> None:
    table = "As measured [2]:\n\n| Fact | Ash |\n| --- | --- |\n| two | {} % |"

    assert [kind for _, kind in kinds(table.format("17.3"))] == ["supported"]
    assert [kind for _, kind in kinds(table.format("18.3"))] == ["number_not_in_source"]


@given(st.text(alphabet="abc .[]123,9-`\n#|*“”:?%", max_size=300))
def test_findings_are_total_and_lie_in_the_text(text: str) -> None:
    for finding in check(text, SOURCES):
        assert 0 <= finding.start < finding.end <= len(text)
        assert isinstance(finding, SentenceFinding)


# --- The number check on real abstracts ---------------------------------------------------------

UNITS = "mg kg mL µg g mm cm % h days years weeks min months mM nM °C mmHg".split()


def _digit(sentence: str, dice: random.Random) -> str | None:
    places = list(re.finditer(r"(?<![A-Za-z])\d", sentence))
    if not places:
        return None
    place = dice.choice(places)
    other = dice.choice([digit for digit in "123456789" if digit != place.group()])
    return sentence[: place.start()] + other + sentence[place.end() :]


def _unit(sentence: str, dice: random.Random) -> str | None:
    places = list(re.finditer(rf"(?<=\d )({'|'.join(map(re.escape, UNITS))})(?![\w/])", sentence))
    if not places:
        return None
    place = dice.choice(places)
    other = dice.choice([unit for unit in UNITS if unit != place.group()])
    return sentence[: place.start()] + other + sentence[place.end() :]


def _sign(sentence: str, dice: random.Random) -> str | None:
    places = list(re.finditer(r"(?<=[ (])(?=\d+(?:\.\d+)?[ ,;)%])", sentence))
    if not places:
        return None
    place = dice.choice(places).start()
    return f"{sentence[:place]}-{sentence[place:]}"


def _exponent(sentence: str, dice: random.Random) -> str | None:
    places = list(re.finditer(r"(?<=[x×] 10)\(?\^?-?\d{1,2}\)?", sentence))
    if not places:
        return None
    place = dice.choice(places)
    return f"{sentence[: place.start()]}(-{dice.choice([14, 17, 19])}){sentence[place.end() :]}"


@pytest.fixture(scope="module")
def abstracts(shared_data: Path) -> list[str]:
    texts = []
    for name in ("scifact", "pubmedqa_pqal"):
        with gzip.open(shared_data / "benchmarks" / name / "documents.jsonl.gz", "rt") as lines:
            texts += [json.loads(line)["text"] for line in lines]
    random.Random(7).shuffle(texts)  # noqa: S311
    return texts


def _flagged(sentence: str, body: str) -> bool:
    findings = check(f"{sentence} [1]", [SourceText(body)])
    return any(finding.kind == FindingKind.NUMBER_NOT_IN_SOURCE for finding in findings)


def test_unchanged_sentences_of_real_abstracts_are_not_flagged(abstracts: list[str]) -> None:
    pairs = [(s, body) for body in abstracts[:200] for s in sentences(body) if re.search(r"\d", s)][:200]

    assert sum(_flagged(sentence, body) for sentence, body in pairs) <= 3


@pytest.mark.parametrize("change", [_digit, _unit, _sign, _exponent])
def test_a_changed_number_in_a_real_sentence_is_flagged(abstracts: list[str], change: object) -> None:
    dice = random.Random(11)  # noqa: S311
    changed = []
    for body in abstracts:
        for sentence in sentences(body):
            false = change(sentence, dice)  # type: ignore[operator]
            if false and false != sentence:
                changed.append((false, body))
        if len(changed) >= 100:
            break

    flagged = sum(_flagged(sentence, body) for sentence, body in changed)

    assert flagged >= 0.95 * len(changed), f"{flagged} of {len(changed)}"
