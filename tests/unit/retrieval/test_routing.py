"""Where `auto` sends questions, and the reasons it gives."""

from __future__ import annotations

import pytest

from corpus.domain_profile import QueryClass, QueryClasses
from retrieval.profiles import LAYERS
from retrieval.routing import route

CLASSES = QueryClasses()


@pytest.mark.parametrize(
    ("question", "query_class", "profile"),
    [
        ("What is the methane yield of grass silage?", "lookup", "interactive"),
        ("At which core temperature must a stack be opened?", "lookup", "interactive"),
        ("How much crude protein does the seed of prairie mimosa hold?", "lookup", "interactive"),
        ("Wie hoch ist der Methanverlust offener Lager?", "lookup", "interactive"),
        ("10.5555/demo.2019.002", "lookup", "interactive"),
        ("papers that say “free ammonia inhibits methanogens”", "lookup", "interactive"),
        ("What is the difference between torrefied and white pellets in rain?", "comparison", "deep"),
        ("Biochar versus lime on acid soils", "comparison", "deep"),
        ("Why does ammonia inhibit methanogens?", "causal", "deep"),
        ("Warum hemmt Ammoniak die Methanbildung?", "causal", "deep"),
        ("Give an overview of bale storage", "overview", "deep"),
        ("Ein ÜBERBLICK über Gärrestlager", "overview", "deep"),
        ("stover storage Calder Basin", "ambiguous", "deep"),
        ("", "ambiguous", "deep"),
    ],
)
def test_a_question_goes_where_its_words_say(question: str, query_class: str, profile: str) -> None:
    found = route(question, CLASSES)

    assert (found.query_class, found.profile) == (query_class, profile)


def test_a_cue_counts_as_whole_words_only() -> None:
    assert route("vsevolod whyte causeway", CLASSES).query_class == "ambiguous"


def test_a_long_question_that_opens_like_a_lookup_is_searched_in_every_way() -> None:
    question = "What is known of moisture and mould in bales kept outside under film for a whole year"

    assert route(question, CLASSES).query_class == "ambiguous"


def test_the_reason_names_the_words_that_decided() -> None:
    assert "“why”" in route("Why do bales heat?", CLASSES).reasons[0]


def test_a_field_adds_its_own_cues() -> None:
    own = QueryClasses(comparison=QueryClass(cues=("head to head",), style="x"))

    assert route("Head-to-head trial of digesters", own).query_class == "ambiguous"
    assert route("Head to head trial of digesters", own).query_class == "comparison"


def test_comparisons_walk_the_graph_and_no_route_names_a_layer_there_is_not() -> None:
    assert {"graph", "hyde"} <= set(route("straw versus hay", CLASSES).layers)
    for question in ("overview of storage", "straw versus hay", "why", "What is lignin?", "bales"):
        assert set(route(question, CLASSES).layers) <= set(LAYERS)


def test_any_text_has_a_route_within_a_blink() -> None:
    assert route("why " * 500 + "\x00\u202e" + "“" * 100, CLASSES).query_class == "causal"
