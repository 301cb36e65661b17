"""The keyword layer on a real database."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope, scope
from retrieval.layers import keyword, keyword_rarity
from retrieval.layers.base import LayerRequest, Session
from retrieval.layers.keyword import KeywordLayer
from retrieval.types import RankedList
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db


def ranked(question: str, wanted: RetrievalScope | None = None, limit: int = 20) -> RankedList:
    wanted = wanted or scope()
    passages = sum(Document.objects.within(wanted).values_list("chunk_count", flat=True))
    request = LayerRequest(question, wanted, limit, passages, None)
    layer = KeywordLayer()
    with transaction.atomic():
        return layer.candidates(request, layer.prepare(request), Session(30))


def found(question: str, wanted: RetrievalScope | None = None) -> list[str]:
    bodies = dict(Chunk.objects.values_list("pk", "body"))
    return [bodies[key] for key in ranked(question, wanted).chunk_ids]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Expression of IL-6R was lower.", ["IL6R", "IL-6R", "il 6r", "IL\u20116R"]),
        ("IL6 rose in serum.", ["IL-6", "il 6", "IL6"]),
        ("PM2.5 rose after burning.", ["PM 2.5", "PM2.5", "pm-2.5"]),
        ("PM 2.5 rose after burning.", ["PM2.5"]),
        ("Patients with COVID-19.", ["covid 19", "COVID19", "Covid\u201319"]),
        ("A dose of 10 mg/kg was given.", ["10 mg / kg", "10mg/kg", "10 mg kg"]),
        ("About 141,000 acres were planted.", ["141000 acres", "141,000 acres"]),
        ("The β-catenin level fell.", ["beta-catenin", "beta catenin", "β-catenin", "betacatenin"]),
        ("beta-catenin fell.", ["β-catenin"]),
        ("Samples were stored at \u221280 °C.", ["stored at -80 C", "\u221280 °C", "80℃"]),
        ("An eﬃcient oﬀ-gas treatment.", ["efficient", "off-gas"]),
        ("Co-digestion of manure.", ["codigestion", "co digestion", "co-digestion"]),
        ("2,4-D was sprayed.", ["2,4-D", "2,4-d"]),
        ("Signif\u00adicant ligno\u00adcellulose yields.", ["significant", "lignocellulose"]),
        ("The micro\u0002organisms grew.", ["microorganisms"]),
        ("Bio\u200bchar was ploughed in.", ["biochar", "bio\u00adchar"]),
    ],
)
@pytest.mark.parametrize("read_all_up_to", [keyword.READ_ALL_UP_TO, 0], ids=["all", "rarest first"])
def test_a_spelling_finds_what_it_means(
    written: str, asked: list[str], read_all_up_to: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword, "READ_ALL_UP_TO", read_all_up_to)
    near_misses = [
        "Nothing of the kind is said here.",
        "A sentence about libraries and acorns.",
        "At 80 sites, 10 of them with 6 mg, the R value was 2.5 and C was low.",
        "IL-17 and IL-60 rose; PM10 fell; 141 acres and 1,000 trees; 10 mg/l.",
        "An alpha-tubulin and a beta version; off the record; gas was sold; 2,3-D.",
    ]
    add("Other", near_misses)
    add("Paper", [written])

    assert {question: found(question)[:1] for question in asked} == {
        question: [written] for question in asked
    }


def test_a_code_is_found_exactly_and_not_by_its_parts() -> None:
    add("Paper", ["IL-17 rose.", "Six rats, 6 mice, il.", "IL-6 rose."])

    assert found("IL-6")[0] == "IL-6 rose."
    assert "IL-17 rose." not in found("IL-6")


def test_a_passage_that_covers_more_of_the_question_comes_first_and_none_needs_all() -> None:
    add("Paper", ["Methane from straw.", "Methane yield of rice straw in batch tests.", "Rice prices."])

    assert found("What is the methane yield of rice straw at high pressure?") == [
        "Methane yield of rice straw in batch tests.",
        "Methane from straw.",
        "Rice prices.",
    ]


def test_a_rare_word_counts_more_than_common_ones() -> None:
    add("Paper", ["soil water", "soil water again", "soil water once more", "soil lysimeter", "water soil"])

    assert found("soil water lysimeter")[0] == "soil lysimeter"


def test_rarity_is_counted_among_eligible_passages_only() -> None:
    add("Open", ["straw water water", "lysimeter water water"], license_class="public")
    add("Closed", [f"lysimeter number {number}" for number in range(30)], license_class="restricted")

    public = scope(license_classes=["public"])
    before = ranked("straw lysimeter", public)
    Document.objects.filter(license_class="restricted").delete()

    assert ranked("straw lysimeter", public) == before


def test_title_and_section_weigh_more_than_body() -> None:
    add("About straw", ["One passage of text on residues."], heading="Rice straw")
    add("About else", ["One passage of text on straw."], heading="Rice husk")

    assert found("straw")[0] == "One passage of text on residues."


def test_a_quoted_phrase_leaves_out_passages_with_the_words_apart() -> None:
    add("Paper", ["Straw of rice.", "Rice straw burns.", "Rice, then straw."])

    assert found('"rice straw"') == ["Rice straw burns."]


def test_a_phrase_with_a_code_matches_however_the_code_is_written() -> None:
    add("Paper", ["The IL-6 receptor.", "The IL6 receptor.", "A receptor of IL-6."])

    assert set(found('"il 6 receptor"')) == {"The IL-6 receptor.", "The IL6 receptor."}


def test_or_between_phrases_takes_either() -> None:
    add("Paper", ["Rice straw burns.", "Wheat straw burns.", "Straw burns."])

    assert set(found('"rice straw" OR "wheat straw"')) == {"Rice straw burns.", "Wheat straw burns."}


def test_a_phrase_nobody_wrote_falls_back_to_its_words() -> None:
    add("Paper", ["Straw of rice."])

    assert found('"rice straw"') == ["Straw of rice."]


def test_stop_words_alone_find_nothing() -> None:
    add("Paper", ["The cat is on the mat."])

    assert found("what is the of and") == []


def test_each_language_is_stemmed_as_its_own() -> None:
    add("Deutsch", ["Die Häuser wurden gedämmt."], language="de")
    add("English", ["The houses were insulated."], language="en")
    add("Unknown", ["Häuser"], language="xx")

    assert found("Haus") == ["Die Häuser wurden gedämmt."]
    assert found("insulating house") == ["The houses were insulated."]
    assert set(found("Häuser")) == {"Die Häuser wurden gedämmt.", "Häuser"}


def test_ties_are_broken_by_the_rank_key_alone() -> None:
    for number in range(12):
        add(f"Copy {number}", ["the very same sentence about straw"])
    keys = dict(Chunk.objects.values_list("pk", "rank_key"))

    order = [keys[key] for key in ranked("straw").chunk_ids]

    assert order == sorted(order)


HOSTILE = [
    "-" * 40 + "word",
    "a" + " - " * 700,
    "'; DROP TABLE corpus_chunk; --",
    "%s %(x)s {} {eligible}",
    "straw:* & | ! <-> ( ) \\ ' \"",
    "<->" * 100,
    '"' * 999,
    '"straw" OR OR OR "',
    "\x00\ud800straw",
    "💥 straw \u202e\u200b",
    "straw " * 330,
    " ".join(f"word{number}" for number in range(250)),
    "x" * 2000,
    "ﷺ" * 300,
]


@pytest.mark.parametrize("question", HOSTILE)
def test_hostile_questions_are_only_words(question: str) -> None:
    add("Paper", ["Rice straw burns."])

    assert found(question) in ([], ["Rice straw burns."])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=120) | st.text(alphabet="\"' OR-aστ1:&|!()*<>\\%{}", max_size=80))
def test_no_question_makes_the_database_complain(question: str) -> None:
    if not Document.objects.exists():
        add("Paper", ["Rice straw burns."])

    ranked(question)


def test_counted_candidates_rank_like_reading_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [
        f"{'rice ' * (number % 4)}straw {'lysimeter' if number % 7 == 0 else ''} plot {number}"
        for number in range(60)
    ]
    add("Paper", bodies)
    question = "rice straw lysimeter plot"
    everything = ranked(question)

    monkeypatch.setattr(keyword, "READ_ALL_UP_TO", 0)
    by_rarity = ranked(question)

    assert everything.mode == "bm25"
    assert by_rarity.mode == "bm25-rarest-first"
    assert by_rarity.chunk_ids == everything.chunk_ids


def test_few_candidates_are_gathered_from_the_rarest_term_first(monkeypatch: pytest.MonkeyPatch) -> None:
    add("Paper", ["straw"] + ["straw lysimeter"] + ["straw"] * 20)
    monkeypatch.setattr(keyword, "READ_ALL_UP_TO", 0)
    monkeypatch.setattr(keyword, "ENOUGH_CANDIDATES", (3, 3))
    monkeypatch.setattr(keyword, "_FEW", 1)

    assert found("straw lysimeter") == ["straw lysimeter"]


def test_words_that_are_all_common_are_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = [f"{word} plot {number}" for number in range(20) for word in ("rice", "straw")]
    add("Paper", [*apart, "rice straw plot", "straw, rice and much else on the plot"])
    for name, value in (("READ_ALL_UP_TO", 0), ("ENOUGH_CANDIDATES", (1, 1)), ("_FEW", 1), ("_COMMON", 5)):
        monkeypatch.setattr(keyword, name, value)

    assert found("rice straw") == ["rice straw plot", "straw, rice and much else on the plot"]


def test_a_common_word_is_asked_when_the_rare_ones_are_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    add("Paper", [f"straw on plot {number}" for number in range(20)])
    monkeypatch.setattr(keyword, "READ_ALL_UP_TO", 0)
    monkeypatch.setattr(keyword, "ENOUGH_CANDIDATES", (1, 1))

    assert len(found("lysimeter straw")) == 20


def test_a_sample_of_a_large_corpus_tells_which_words_are_rare() -> None:
    for number in range(30):
        add(f"Paper {number}", [f"straw {'rice' * (place % 2)} plot" for place in range(10)])
    add("Last", ["lysimeter"])
    terms, _ = keyword.terms_of(
        KeywordLayer().prepare(LayerRequest("lysimeter rice straw", scope(), 20, 301, None)),
        Document.objects.eligible_sql(scope()),
        Session(30),
    )

    keyword_rarity.estimate(terms, 301, Document.objects.eligible_sql(scope()), Session(30))

    frequencies = {term.variants[0].query: term.frequency for term in terms}
    assert frequencies == {"'lysimet'": 1, "'rice'": 150, "'straw'": 300}


def test_scores_are_those_of_bm25() -> None:
    """Against the formula in Python: the trick that reads occurrences out of ts_rank is exact."""
    bodies = ["straw " * times + "filler " * (30 - times) for times in (1, 2, 3, 5, 8, 13)] + ["mulch straw"]
    add("Paper", bodies)
    expected = _bm25(bodies, ["straw", "mulch"])

    assert found("straw mulch") == [body for _, body in sorted(expected, key=lambda pair: -pair[0])]


def _bm25(bodies: list[str], terms: list[str]) -> list[tuple[float, str]]:
    counts = [Counter(body.split()) for body in bodies]
    # The heading is empty here, and its separator makes every passage one word longer.
    lengths = [len(body.split()) + 1 for body in bodies]
    average = sum(lengths) / len(lengths)
    scores = []
    for body, count, length in zip(bodies, counts, lengths, strict=True):
        score = 0.0
        for term in terms:
            frequency = sum(1 for other in counts if other[term])
            weight = math.log(1 + (len(bodies) - frequency + 0.5) / (frequency + 0.5))
            times = count[term]
            score += weight * times / (times + 1.2 * (0.25 + 0.75 * length / average))
        scores.append((score, body))
    return scores
