"""What two names may not differ in."""

import doctest
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph.resolution import (
    blocks,
    neighbours,
    replies,
    short_forms,
    similarity,
    spelling,
    thesaurus,
)
from retrieval.graph.resolution.blocks import Block, blocked
from retrieval.graph.resolution.spelling import words_of

_MARKS = ("non", "2", "3", "ii", "alpha", "beta", "b", "kg", "mg", "hyperthermia", "hypothermia", "with")
_PLAIN = ("woody", "biomass", "reactor", "phase", "digestion", "of", "methane", "ethane", "ethene")
NAMES = st.lists(st.sampled_from(_MARKS + _PLAIN), min_size=1, max_size=4).map(" ".join)


@pytest.mark.parametrize(
    "module", [blocks, neighbours, replies, short_forms, similarity, spelling, thesaurus]
)
def test_the_examples_in_the_modules_are_true(module: ModuleType) -> None:
    result = doctest.testmod(module)

    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    ("one", "other", "block"),
    [
        ("IL-6", "IL-8", Block.NUMBERS),
        ("phase 2", "phase 3", Block.NUMBERS),
        ("phase II", "phase III", Block.NUMBERS),
        ("phase I", "phase II", Block.NUMBERS),
        ("photosystem I", "photosystem II", Block.NUMBERS),
        ("non-woody", "woody", Block.NEGATION),
        ("nonwoody biomass", "woody biomass", Block.NEGATION),
        ("vitamin A", "vitamin C", Block.LETTERS),
        ("interferon 2a", "interferon 2b", Block.LETTERS),
        ("o-xylene", "p-xylene", Block.LETTERS),
        ("α-amylase", "β-amylase", Block.GREEK),
        ("alpha-amylase", "β-amylase", Block.GREEK),
        ("migraine with aura", "migraine without aura", Block.NEGATION),
        ("yield per kg", "yield per mg", Block.UNIT),
        ("mg/l", "mg/kg", Block.UNIT),
        ("hyperthermia", "hypothermia", Block.PREFIX),
        ("intracellular", "intercellular", Block.PREFIX),
        ("pretreatment", "posttreatment", Block.PREFIX),
        ("aerobic digestion", "anaerobic digestion", Block.PREFIX),
        ("ventricular tachycardia", "supraventricular tachycardia", Block.PREFIX),
        ("butane", "butene", Block.ENDING),
        ("sulfate", "sulfite", Block.ENDING),
        ("cellulose", "cellulase", Block.ENDING),
        ("anaerobic digestion", "thermophilic anaerobic digestion", Block.QUALIFIER),
        ("Na+", "Na-", Block.NUMBERS),
    ],
)
def test_a_mark_that_differs_blocks(one: str, other: str, block: Block) -> None:
    assert blocked(words_of(one), words_of(other)) is block


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("phase 2", "phase II"),
        ("β-amylase", "beta amylase"),
        ("IL-6", "IL 6"),
        ("sulphate", "sulfate"),
        ("the reactor", "reactor"),
        ("carbon source", "source of carbon"),
    ],
)
def test_what_writers_do_differently_does_not_block(one: str, other: str) -> None:
    assert blocked(words_of(one), words_of(other)) is None


@given(one=NAMES, other=NAMES)
def test_blocks_are_symmetric(one: str, other: str) -> None:
    assert blocked(words_of(one), words_of(other)) is blocked(words_of(other), words_of(one))


@given(name=NAMES)
def test_a_name_is_not_blocked_from_itself(name: str) -> None:
    assert blocked(words_of(name), words_of(name)) is None


@given(one=NAMES, other=NAMES, more=st.sampled_from(("sludge", "2 reactor", "gamma ray", "non linear")))
def test_what_is_added_to_both_names_lifts_no_block(one: str, other: str, more: str) -> None:
    words = words_of(one), words_of(other)
    if blocked(*words) is None:
        return

    assert blocked(*((*each, *words_of(more)) for each in words)) is not None
