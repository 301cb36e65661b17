"""Weights of the keyword and vector layers, derived on half of the questions and reported on the other half.

    python -m benchmarks.fusion_weights [--fast] [--keep FILE]

The halves of each collection are its questions by an even or odd SHA-256 of collection and number. Every
collection counts the same while deriving: the chosen form is the one whose mean over collections of
(nDCG@10 of the fusion - that of the better layer) is highest on the training half.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import mean

DEPTH = 100
WEIGHTS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
POOLS = (20, 30, 50, 100)
CONSTANTS = (10, 20, 40, 60)

Ranked = Sequence[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """One judged question with what each layer found."""

    keyword: Ranked
    vector: Ranked
    judged: Mapping[str, int]
    is_training: bool


@dataclass(frozen=True, slots=True)
class Form:
    """How two lists become one. `vector` is its weight beside a keyword weight of 1."""

    vector: float
    pool: int
    k: int


def main() -> int:
    """Derive, print the best forms and the table of the held-out half."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--fast", action="store_true", help="the two smallest collections only")
    parser.add_argument("--keep", type=Path, help="read the lists from this file, or write them there")
    options = parser.parse_args()
    collections = _lists(("adi", "cisi") if options.fast else None, options.keep)
    if not collections:
        print("The shared collections are not beside the checkout: nothing measured.")
        return 0
    forms = [Form(*values) for values in product(WEIGHTS, POOLS, CONSTANTS)]
    training = {form: _gain(collections, form, training=True) for form in forms}
    best = sorted(forms, key=lambda form: -training[form])
    for form in best[:5]:
        print(f"{form}: {training[form]:+.4f} on the training half")
    for form in (Form(1.5, 20, 60), best[0]):
        print(f"\n{form}, held-out half")
        _table(collections, form)
    return 0


def _table(collections: Mapping[str, Sequence[Asked]], form: Form) -> None:
    print(f"{'collection':<15}{'questions':>10}{'keyword':>10}{'vector':>10}{'fused':>10}{'better by':>11}")
    for name, asked in collections.items():
        held = [one for one in asked if not one.is_training]
        keyword, vector, fused = _means(held, form)
        gain = fused - max(keyword, vector)
        print(f"{name:<15}{len(held):>10}{keyword:>10.4f}{vector:>10.4f}{fused:>10.4f}{gain:>+11.4f}")


def _gain(collections: Mapping[str, Sequence[Asked]], form: Form, *, training: bool) -> float:
    gains = []
    for asked in collections.values():
        keyword, vector, fused = _means([one for one in asked if one.is_training is training], form)
        gains.append(fused - max(keyword, vector))
    return mean(gains)


def _means(asked: Sequence[Asked], form: Form) -> tuple[float, float, float]:
    from benchmarks.measures import ndcg

    return (
        mean(ndcg(one.keyword, one.judged) for one in asked),
        mean(ndcg(one.vector, one.judged) for one in asked),
        mean(ndcg(_fused(one, form), one.judged) for one in asked),
    )


def _fused(one: Asked, form: Form) -> Ranked:
    scores: dict[str, float] = {}
    for ranked, weight in ((one.keyword, 1.0), (one.vector, form.vector)):
        for rank, name in enumerate(ranked[: form.pool], start=1):
            scores[name] = scores.get(name, 0.0) + weight / (form.k + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))


def _lists(names: Sequence[str] | None, kept: Path | None) -> dict[str, list[Asked]]:
    if kept and kept.exists():
        read = json.loads(kept.read_text(encoding="utf-8"))
        return {name: [Asked(**row) for row in rows] for name, rows in read.items()}
    from benchmarks import database

    database.start()
    from benchmarks import collections
    from corpus.gateways.embedding import configured_embedder

    if not collections.SHARED.is_dir():
        return {}
    found = {}
    for name in names or collections.NAMES:
        collection = collections.read(name)
        keys = collections.load(collection, embedder=configured_embedder())
        found[name] = [
            _asked(name, number, question, keys, collection.judged[number])
            for number, question in collection.questions.items()
        ]
        print(f"{name}: {len(found[name])} questions asked", flush=True)
    if kept:
        rows = {
            name: [{field: getattr(one, field) for field in Asked.__slots__} for one in asked]
            for name, asked in found.items()
        }
        kept.write_text(json.dumps(rows), encoding="utf-8")
    return found


def _asked(
    name: str, number: str, question: str, keys: Mapping[int, str], judged: Mapping[str, int]
) -> Asked:
    from benchmarks.retrieval_quality import ranked_by_layer

    ranked = ranked_by_layer(question, name, ("keyword", "vector"), DEPTH)
    half = hashlib.sha256(f"{name}/{number}".encode()).digest()[-1] % 2
    lists = {layer: [keys[key] for key in found] for layer, found in ranked.items()}
    return Asked(lists["keyword"], lists["vector"], dict(judged), bool(half))


if __name__ == "__main__":
    sys.exit(main())
