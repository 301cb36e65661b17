"""Which quotes and spellings a community is summarised from."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from retrieval.graph.communities.clustering import Name
from retrieval.graph.communities.drafting import Draft, drafts
from retrieval.graph.communities.reading import Spelling, Tie
from retrieval.graph.communities.summarising import Extractive

A, B, C, D, ONE, OTHER = (UUID(int=number) for number in range(1, 7))
NAMES: dict[UUID, Name] = {thing: ("concept", word, 0) for thing, word in zip((A, B, C), "abc", strict=True)}
TIES = [Tie(A, B, ONE, 30), Tie(A, C, ONE, 10), Tie(B, C, OTHER, 20)]


class Read:
    """A graph as it would be read."""

    def __init__(
        self,
        *,
        quotes: dict[tuple[UUID, UUID], list[str]] | None = None,
        spellings: dict[UUID, list[Spelling]] | None = None,
        ties: Sequence[Tie] = TIES,
    ) -> None:
        self._quotes = quotes or {}
        self._spellings = spellings or {}
        self._ties = list(ties)

    def names(self) -> dict[UUID, Name]:
        return NAMES

    def ties(self) -> list[Tie]:
        return self._ties

    def quotes(self, things: Sequence[UUID]) -> dict[tuple[UUID, UUID], list[str]]:
        return {pair: self._quotes.get(pair, ["So it is."]) for pair in ((A, B), (A, C), (B, C))}

    def spellings(self, things: Sequence[UUID]) -> dict[UUID, list[Spelling]]:
        there = {thing: [Spelling(ONE, NAMES[thing][1], True, 1)] for thing in things}
        return {**there, **self._spellings}


def drafted(read: Read) -> Draft:
    (draft,) = drafts(read)
    return draft


def test_the_strongest_come_first() -> None:
    quotes = {(A, B): ["AB one.", "AB two."], (A, C): ["AC."], (B, C): ["BC."]}

    draft = drafted(Read(quotes=quotes))

    # B has 50 tenths within the group, A 40, C 30; A and B are tied most closely, A and C least.
    assert draft.title == "b, a, c"
    assert draft.quotes == ("AB one.", "BC.", "AC.", "AB two.")
    assert draft.documents == (ONE, OTHER)


def test_a_sentence_that_says_several_things_stands_once() -> None:
    quotes = {(A, B): ["Both  are\nso."], (A, C): ["Both are so."], (B, C): ["both are so."]}

    assert drafted(Read(quotes=quotes)).quotes == ("Both are so.", "both are so.")


def test_a_thing_is_spelt_as_the_documents_of_the_group_do_its_name_before_an_alias() -> None:
    elsewhere = UUID(int=99)
    spelt = [
        Spelling(elsewhere, "Hidden", True, 100),
        Spelling(ONE, "AD", False, 50),
        Spelling(ONE, "Digestion", True, 2),
        Spelling(OTHER, "digestion", True, 2),
    ]

    assert drafted(Read(spellings={B: spelt})).names[0] == "digestion"


def test_a_thing_that_no_document_of_the_group_spells_gives_no_name() -> None:
    assert drafted(Read(spellings={B: []})).title == "a, c"


def test_a_tie_to_a_thing_without_a_name_counts_for_nothing() -> None:
    draft = drafted(Read(ties=[*TIES, Tie(A, D, ONE, 100)]))

    assert draft.members == (A, B, C)


def test_a_long_name_is_cut_so_that_the_title_can_be_stored() -> None:
    spelt = {thing: [Spelling(ONE, "x" * 300, True, 1)] for thing in (A, B, C)}

    assert len(drafted(Read(spellings=spelt)).title) <= 300


def test_evidence_is_the_same_for_the_same_words_written_in_the_same_way() -> None:
    draft = drafted(Read())

    assert draft.evidence("way 1") == drafted(Read()).evidence("way 1") != draft.evidence("way 2")
    assert draft.evidence("way 1") != drafted(Read(quotes={(A, B): ["Other."]})).evidence("way 1")


def test_an_extractive_summary_has_one_quote_at_least_and_no_more_than_there_is_room_for() -> None:
    long = {(A, B): ["y" * 5_000 + "."], (A, C): ["Short."]}
    several = {(A, B): ["y" * 900 + "."], (B, C): ["z" * 900 + "."], (A, C): ["Short."]}

    assert Extractive().write(drafted(Read(quotes=long))) == "y" * 5_000 + "."
    assert Extractive().write(drafted(Read(quotes=several))) == "y" * 900 + "."
