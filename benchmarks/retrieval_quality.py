"""nDCG@10 of the layers and their fusion on shared test collections, beside a reference BM25.

    python -m benchmarks.retrieval_quality [--fast] [NAME...]

One document is one passage, as the reference has it. Gated: the keyword layer at least the reference minus
0.01, and fusion above the better of its two layers; fusion by scores is reported beside it. Each collection
is one bucket and the scope names it, so statistics are the collection's own.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from statistics import mean
from time import perf_counter

ALLOWED_BELOW_REFERENCE = 0.01


def main() -> int:
    """Measure and print a table; 1 when a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="collections; all without any")
    parser.add_argument("--fast", action="store_true", help="the smallest collection only")
    parser.add_argument("--keyword-only", action="store_true", help="embed nothing")
    parser.add_argument("--pool", type=int, default=20, help="candidates a layer hands to fusion")
    options = parser.parse_args()

    from benchmarks import database

    database.start()
    from benchmarks import collections

    if not collections.SHARED.is_dir():
        print("The shared collections are not beside the checkout: nothing measured.")
        return 0
    names = options.names or (("adi",) if options.fast else collections.NAMES)
    layers = ("keyword",) if options.keyword_only else ("keyword", "vector", "fused", "by scores")
    print(f"{'collection':<15}{'questions':>10}{'reference':>11}" + "".join(f"{name:>10}" for name in layers))
    return max(_measure(name, layers, options.pool) for name in names)


def _measure(name: str, layers: tuple[str, ...], pool: int) -> int:
    from benchmarks import collections, measures
    from corpus.gateways.embedding import configured_embedder

    collection = collections.read(name)
    keys = collections.load(collection, embedder=configured_embedder() if "vector" in layers else None)
    scores: dict[str, list[float]] = {layer: [] for layer in layers}
    started = perf_counter()
    for number, question in collection.questions.items():
        for layer, ranked in ranked_by_layer(question, name, layers, pool).items():
            found = [keys[key] for key in ranked]
            scores[layer].append(measures.ndcg(found, collection.judged[number]))
    each = (perf_counter() - started) / len(collection.questions) * 1000
    reference = collections.baseline(name)
    means = "".join(f"{mean(values):>10.4f}" for values in scores.values())
    print(
        f"{name:<15}{len(collection.questions):>10}{reference:>11.4f}{means}   {each:.0f} ms a question",
        flush=True,
    )
    better = max(mean(scores[layer]) for layer in ("keyword", "vector") if layer in scores)
    is_fusion_better = "fused" not in scores or mean(scores["fused"]) > better
    return int(mean(scores["keyword"]) < reference - ALLOWED_BELOW_REFERENCE or not is_fusion_better)


def ranked_by_layer(question: str, bucket: str, layers: tuple[str, ...], pool: int) -> dict[str, list[int]]:
    from corpus.domain_profile import active_profile
    from corpus.models import Chunk
    from corpus.scope import scope
    from retrieval import eligibility, hydration, profiles
    from retrieval.fusion import fuse, fuse_scores
    from retrieval.layers.base import LayerRequest
    from retrieval.layers.keyword import KeywordLayer
    from retrieval.layers.vector import VectorLayer
    from retrieval.runner import run
    from retrieval.types import DEGRADED

    wanted = scope(buckets=[bucket])
    corpus = eligibility.read(wanted)
    request = LayerRequest(question, wanted, pool, corpus.eligible.passages, corpus.version)
    running = [layer for layer in (KeywordLayer(), VectorLayer()) if layer.name in layers]
    outcomes = run(running, {layer.name: request for layer in running}, seconds=60)
    broken = [trace for _, trace in outcomes if trace.status in DEGRADED]
    assert not broken, broken
    ranked = {found.layer: list(found.chunk_ids) for found, _ in outcomes}
    if "fused" in layers:
        weights: dict[str, Fraction] = profiles.weights(active_profile())
        keys = {key for found, _ in outcomes for key in found.chunk_ids}
        passages = Chunk.objects.filter(pk__in=keys).select_related("document")
        places = {passage.pk: hydration.place(passage) for passage in passages}
        fused = fuse([found for found, _ in outcomes], weights=weights, places=places)
        ranked["fused"] = [one.chunk_id for one in fused]
        by_scores = fuse_scores([found for found, _ in outcomes], places=places)
        ranked["by scores"] = [one.chunk_id for one in by_scores]
    return ranked


if __name__ == "__main__":
    sys.exit(main())
