"""What resolution speaks of: entities by their names, and pairs of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from uuid import UUID

# From here on a spelling may be taken without asking; below this line it is not worth asking.
HIGH: Final = 0.92
REJECT: Final = 0.80


class Method(StrEnum):
    """What found a pair, as the queue names it."""

    SPELLING = "one spelling"
    ALIAS = "shared alias"
    ONTOLOGY = "ontology example"
    THESAURUS = "thesaurus"
    INVERSION = "inverted name"
    SHORT_FORM = "short form"
    GENUS = "abbreviated genus"
    SLIP = "spelling slip"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Named:
    """An active entity and every spelling that passages have for it."""

    id: UUID
    type: str
    key: str
    name: str
    spellings: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities that might be one, the lesser id first. Lower tiers and higher confidence are surer."""

    low: UUID
    high: UUID
    tier: int
    method: Method
    confidence: float

    @property
    def ids(self) -> tuple[UUID, UUID]:
        """The pair without what found it."""
        return self.low, self.high

    @property
    def rank(self) -> tuple[int, float, str]:
        """Sorts the surest finding first."""
        return self.tier, -self.confidence, self.method
