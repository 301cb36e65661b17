"""The numbers of a campaign in the order of a PRISMA flow diagram, and whether they add up. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Flow:
    """How many records, works and texts came how far."""

    found_by: Mapping[str, int] = field(default_factory=dict)
    """Records of each search."""
    duplicates: int = 0
    unreadable: int = 0
    candidates: int = 0
    unscreened: int = 0
    included: int = 0
    excluded: int = 0
    awaiting: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    """Texts that were refused, by the name of the refusal."""
    not_sought: int = 0
    """Included works whose text was not asked for yet, or not fetched yet."""
    fetched: int = 0
    taken_in: Mapping[str, int] = field(default_factory=dict)
    """What became of the fetched files, by outcome."""

    @property
    def identified(self) -> int:
        """Records that the searches brought."""
        return sum(self.found_by.values())

    @property
    def screened(self) -> int:
        """Candidates that were looked at in this round."""
        return self.included + self.excluded + self.awaiting

    @property
    def not_retrieved(self) -> int:
        """Included works whose text was refused."""
        return sum(self.refused.values())

    @property
    def in_corpus(self) -> int:
        """Works that are in the corpus now, newly or before."""
        return sum(self.taken_in.get(name, 0) for name in ("ready", "duplicate"))

    def differences(self) -> Iterator[str]:
        """Yield every sum that does not come out."""
        sums = {
            "identified = duplicates + unreadable + candidates": (
                self.identified,
                self.duplicates + self.unreadable + self.candidates,
            ),
            "candidates = screened + not screened yet": (self.candidates, self.screened + self.unscreened),
            "included = not retrieved + not sought yet + fetched": (
                self.included,
                self.not_retrieved + self.not_sought + self.fetched,
            ),
            "fetched = outcomes": (self.fetched, sum(self.taken_in.values())),
        }
        for name, (left, right) in sums.items():
            if left != right:
                yield f"{name}: {left} is not {right}"
