"""Which pairs are found, by what, and that the order of entities changes nothing."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph.resolution.finding import find
from retrieval.graph.resolution.thesaurus import InvalidThesaurus, Thesaurus, listing, read
from retrieval.graph.resolution.types import HIGH, REJECT, Method, Named
from tests.unit.retrieval.graph.resolution.named import found, named, tiers

LISTED = Thesaurus(
    (
        listing(Method.ONTOLOGY, ["methane | CH4"]),
        read("# substances\nglucose | dextrose | grape sugar\ngalactose | lactoglucose\n", file="s.txt"),
    )
)
_NAMES = st.sampled_from(
    "biogas|biogases|anaerobic digestion|VFAs|volatile fatty acids|E. coli|Escherichia coli|IL-6|IL-8|phase 2"
    "|phase 3|woody biomass|non-woody biomass|co-digestion|codigestion|lignocellulosics|lignocelulosics"
    "|sludge digester|sludge dygester|methane|CH4|glucose|dextrose".split("|")
)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("co-digestion", "codigestion", (1, "one spelling")),
        ("volatile fatty acid", "Volatile Fatty Acids", (1, "one spelling")),
        ("weight loss", "loss of weight", (2, "inverted name")),
        ("VFAs", "volatile fatty acids", (2, "short form")),
        ("AmB", "amphotericin B", (2, "short form")),
        ("BHA", "butylated hydroxyanisole", (3, "model")),
        ("E. coli", "Escherichia coli", (2, "abbreviated genus")),
        ("lignocellulosics", "lignocelulosics", (2, "spelling slip")),
        ("sludge digester", "sludge dygester", (3, "model")),
        ("glucose", "grape sugar", (2, "thesaurus")),
        ("methane", "CH4", (1, "ontology example")),
    ],
)
def test_each_rule_finds_its_pairs(one: str, other: str, expected: tuple[int, str]) -> None:
    assert tiers(one, other, thesaurus=LISTED) == [expected]
    assert tiers(other, one, thesaurus=LISTED) == [expected]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IL-6", "IL-8"),
        ("phase 2", "phase 3"),
        ("woody", "non-woody"),
        ("woody biomass", "nonwoody biomass"),
        ("anaerobic digestion", "aerobic digestion"),
        ("hypothermia", "hyperthermia"),
        ("glucose", "galactose"),
        ("hearing impairment", "learning impairment"),
        ("Clostridium botulinum", "C. difficile"),
        ("liver damage", "LIDs"),
        ("vitamin A", "vitamin E"),
        ("digestion", "anaerobic digestion"),
        ("methanogens", "biochar"),
    ],
)
def test_things_that_differ_are_not_proposed_at_all(one: str, other: str) -> None:
    assert tiers(one, other, thesaurus=LISTED) == []


def test_another_type_is_another_entity() -> None:
    assert found(named("biogas", kind="material"), named("biogases", kind="process")) == []


def test_a_short_form_that_may_be_one_of_two_names_is_neither() -> None:
    assert tiers("VFA", "volatile fatty acid", "very fine ash") == []


def test_a_genus_that_may_be_one_of_two_is_neither() -> None:
    assert tiers("C. difficile", "Clostridium difficile", "Clostridioides difficile") == []


def test_an_alias_that_abbreviates_makes_a_name_one_with_it() -> None:
    assert tiers(named("VFA"), named("volatile fatty acids", "VFA")) == [(1, "shared alias")]


def test_an_alias_of_two_letters_is_left_to_a_person() -> None:
    assert tiers(named("AD"), named("anaerobic digestion", "AD")) == [(2, "shared alias")]


def test_an_alias_that_does_not_abbreviate_is_none() -> None:
    assert found(named("XQ"), named("anaerobic digestion", "XQ")) == []


def test_an_alias_of_two_things_makes_them_and_its_own_entity_nothing() -> None:
    blood, breast = named("whole blood", "WB"), named("woody breast", "WB")

    assert found(blood, breast) == []
    assert found(blood, breast, named("WB")) == []


def test_an_alias_of_several_words_makes_its_holders_one() -> None:
    one, other = (
        named("biomethanation", "methane fermentation"),
        named("methanisation", "methane fermentation"),
    )

    assert tiers(one, other) == [(1, "shared alias")]


def test_an_alias_does_not_lift_a_block() -> None:
    six, eight = named("interleukin 6", "inflammation marker"), named("interleukin 8", "inflammation marker")

    assert found(six, eight) == []


def test_an_alias_of_many_says_nothing() -> None:
    assert (
        found(*(named(name, "feedstock material") for name in ("straw", "manure", "sludge", "maize"))) == []
    )


def test_senses_that_a_person_split_are_not_proposed_again() -> None:
    first = named("column")
    second = Named(named("another").id, "material", first.key, "column", frozenset({"column"}))

    assert found(first, second) == []


def test_only_pairs_are_found_and_nothing_follows_from_two() -> None:
    short, long, other = named("AD"), named("anaerobic digestion", "AD"), named("methanisation")
    thesaurus = Thesaurus((listing(Method.THESAURUS, ["anaerobic digestion | methanisation"]),))

    pairs = {pair.ids for pair in found(short, long, other, thesaurus=thesaurus)}

    assert pairs == {tuple(sorted((long.id, each.id))) for each in (short, other)}


@given(st.sets(_NAMES, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_entities_changes_nothing(names: set[str], order: random.Random) -> None:
    entities = [named(name) for name in sorted(names)]
    shuffled = list(entities)
    order.shuffle(shuffled)

    assert find(entities, LISTED) == find(shuffled, LISTED)


@given(st.sets(_NAMES, max_size=12))
def test_pairs_are_ordered_once_each_and_above_the_reject_line(names: set[str]) -> None:
    pairs = found(*sorted(names), thesaurus=LISTED)

    assert len({pair.ids for pair in pairs}) == len(pairs)
    assert all(pair.low < pair.high and pair.confidence >= REJECT for pair in pairs)
    assert all(pair.confidence >= HIGH for pair in pairs if pair.tier < 3)
    assert pairs == sorted(pairs, key=lambda pair: pair.rank)


def test_progress_counts_every_entity() -> None:
    counted: list[int] = []

    find([named("a b"), named("c d"), named("e f", kind="process")], Thesaurus(), advance=counted.append)

    assert sum(counted) == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ethanol", "one name alone says nothing"),
        ("ethanol | ", "a name needs a letter or a digit"),
        ("a1 | b1\nb1 | c1", "'b1' stands on line 1 already"),
        (" | ".join(f"n{number}" for number in range(201)), "more than 200 names"),
        (f"a1 | {'x' * 301}", "at most 300 characters"),
    ],
)
def test_what_is_wrong_in_a_list_is_told_with_file_and_line(text: str, problem: str) -> None:
    with pytest.raises(InvalidThesaurus, match=rf"names\.txt, line \d: .*{problem}"):
        read(text, file="names.txt")


def test_many_problems_are_told_as_some() -> None:
    with pytest.raises(InvalidThesaurus, match="and 5 more"):
        read("\n".join(f"n{number}" for number in range(25)), file="names.txt")
