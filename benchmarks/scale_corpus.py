"""A synthetic corpus of any size: vectors in clusters of very unequal size, text about the same clusters.

A document belongs to one cluster and so do its passages: passage = centre + what its document is about +
what it says itself. Words come from a Zipf vocabulary, every seventh from its cluster's own words. Two
kinds of scope are built in: a document's year is a random per mille, its journal is its cluster.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PER_DOCUMENT = 50
DIMENSIONS = 384
WORDS = 120
VOCABULARY = 50_000
OWN_WORDS = 150
STOP_WORDS = (
    "the of and to in a is that for with was as by on from were be are this at an it which or not".split()
)
# How far a document is from its cluster's centre, and a passage from its document; the centre counts 1.
OF_DOCUMENT, OF_PASSAGE = 0.6, 0.6
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Question:
    """Words, the vector that stands for them, and the cluster they are about."""

    text: str
    vector: Floats
    cluster: int


@dataclass(frozen=True, slots=True)
class Written:
    """One document: its id, cluster, per mille, hash, texts and vectors."""

    key: uuid.UUID
    digest: str
    cluster: int
    per_mille: int
    bodies: list[str]
    vectors: Floats


class World:
    """The clusters, and documents and questions drawn from them; the same for the same number of passages."""

    def __init__(self, passages: int) -> None:
        self.documents = passages // PER_DOCUMENT
        self.clusters = max(20, int(2 * self.documents**0.5))
        random = np.random.default_rng(17)
        self.centres = random.normal(size=(self.clusters, DIMENSIONS)).astype(np.float32)
        sizes = 1 / np.arange(2, self.clusters + 2)
        self.shares = sizes / sizes.sum()
        self.words = np.array([*STOP_WORDS, *_invented(random, VOCABULARY - len(STOP_WORDS))])
        self.chances = np.cumsum(1 / np.arange(3, len(self.words) + 3))
        self.chances /= self.chances[-1]
        # A cluster's own words are neither everybody's nor anybody's: from the middle of the vocabulary.
        self.own = random.integers(300, VOCABULARY, size=(self.clusters, OWN_WORDS))

    def written(self) -> Iterator[Written]:
        """Yield every document."""
        for number in range(self.documents):
            random = np.random.default_rng([17, number])
            cluster = int(random.choice(self.clusters, p=self.shares))
            digest = hashlib.sha256(f"scale {number}".encode()).hexdigest()
            yield Written(
                uuid.UUID(digest[:32]),
                digest,
                cluster,
                int(random.integers(1, 1001)),
                [self._text(random, cluster, WORDS) for _ in range(PER_DOCUMENT)],
                self._vectors(random, cluster, PER_DOCUMENT),
            )

    def questions(self, count: int) -> list[Question]:
        """Return questions nobody's passage repeats: half about a stored document, half about a cluster."""
        random = np.random.default_rng(18)
        made = []
        for number in range(count):
            # A document's numbers are drawn again in their order, up to what it is about.
            document = int(random.integers(0, self.documents))
            again = np.random.default_rng([17, document])
            cluster = int(again.choice(self.clusters, p=self.shares))
            if number % 2:
                cluster = int(random.choice(self.clusters, p=self.shares))
                (vector,) = self._vectors(random, cluster, 1)
            else:
                again.integers(1, 1001)
                for _ in range(PER_DOCUMENT):
                    self._text(again, cluster, WORDS)
                vector = self._vectors(again, cluster, PER_DOCUMENT, own=random)[0]
            made.append(Question(self._asked(random, cluster), vector, cluster))
        return made

    def about(self, clusters: Sequence[int], count: int) -> list[Question]:
        """Return questions about some clusters."""
        random = np.random.default_rng(19)
        chosen = random.choice(list(clusters), count)
        return [
            Question(self._asked(random, int(one)), self._vectors(random, int(one), 1)[0], int(one))
            for one in chosen
        ]

    def _vectors(
        self,
        random: np.random.Generator,
        cluster: int,
        count: int,
        own: np.random.Generator | None = None,
    ) -> Floats:
        document = self.centres[cluster] + OF_DOCUMENT * random.normal(size=DIMENSIONS)
        rows = document + OF_PASSAGE * (own or random).normal(size=(count, DIMENSIONS))
        unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _text(self, random: np.random.Generator, cluster: int, words: int) -> str:
        places = np.searchsorted(self.chances, random.random(words))
        topical = random.random(words) < 1 / 7
        places[topical] = self.own[cluster][(OWN_WORDS * random.random(topical.sum()) ** 2).astype(int)]
        return " ".join(self.words[np.minimum(places, len(self.words) - 1)])

    def _asked(self, random: np.random.Generator, cluster: int) -> str:
        """Return words as people ask: some of the topic, some of everybody, and what holds them together."""
        topical = self.own[cluster][(OWN_WORDS * random.random(3) ** 2).astype(int)]
        common = np.searchsorted(self.chances, random.random(40))
        common = common[common >= len(STOP_WORDS)][:4]
        first, second, third = (str(self.words[place]) for place in topical)
        others = [str(self.words[min(place, len(self.words) - 1)]) for place in common]
        return (
            f"what is the {others[0]} of {first} {others[1]} in {second} and {third} {' '.join(others[2:])}"
        )


def _invented(random: np.random.Generator, count: int) -> list[str]:
    """Return `count` different words of letters; they end like no inflected English word."""
    found: dict[str, None] = {}
    while len(found) < count:
        syllables = random.integers(0, len(_SYLLABLES), size=int(random.integers(2, 5)))
        found[f"{''.join(_SYLLABLES[one] for one in syllables)}{'kmpx'[len(found) % 4]}"] = None
    return list(found)
