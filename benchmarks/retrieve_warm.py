"""How long `sci-rag retrieve` works on a question once the process is warm.

    python -m benchmarks.retrieve_warm [--fast] [--passages N]

Own work is everything from the question to the finished result: counting what is eligible, embedding the
question, both layers, fusion and loading. Every question is new, so the query cache does not help.
`--passages N` adds N synthetic passages to the demo corpus.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

DOMAIN = Path(__file__).resolve().parents[1] / "domain"
GOAL_SECONDS = 0.3


def _milliseconds(name: str, seconds: list[float]) -> None:
    p95 = quantiles(seconds, n=20, method="inclusive")[-1]
    print(f"{name:<44} p50 {median(seconds) * 1000:7.1f} ms   p95 {p95 * 1000:7.1f} ms")


def main() -> int:
    """Measure and print; 1 when the median is over the goal and not better than the naive way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="a few questions, to see that it runs")
    parser.add_argument("--passages", type=int, default=0, help="synthetic passages beside the demo corpus")
    options = parser.parse_args()

    from benchmarks import database

    database.start()

    from benchmarks import naive_retrieval, synthetic
    from corpus.gateways import embedding
    from corpus.ingestion import ingest
    from corpus.inputs import from_manifest
    from corpus.scope import scope
    from retrieval.retriever import retrieve

    report = ingest(from_manifest(DOMAIN / "demo" / "manifest.jsonl"))
    synthetic.add(options.passages)
    seeds = (DOMAIN / "demo" / "seed_questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in seeds if line.startswith("{")]
    questions = questions[:5] if options.fast else questions
    wanted = {"everything": scope(), "public and open": scope(license_classes=["public", "open_commercial"])}

    for warm_up in ("What is warmed up?", "Is it warm?", "Is straw warm?"):
        retrieve(question=warm_up, scope=scope())
        naive_retrieval.retrieve(warm_up, 8)
    own: dict[str, list[float]] = {name: [] for name in wanted}
    naive: list[float] = []
    without_words = 0
    for question in questions:
        for name, allowed in wanted.items():
            embedding.forget_queries()
            started = perf_counter()
            result = retrieve(question=question, scope=allowed)
            own[name].append(perf_counter() - started)
            assert not result.degraded, result.traces
        started = perf_counter()
        without_words += not naive_retrieval.retrieve(question, 8).by_words
        naive.append(perf_counter() - started)

    eligible = retrieve(question="passages", scope=scope()).eligible
    print(f"{len(report.reports)} demo documents, {eligible.passages} passages, {len(questions)} questions")
    for name, seconds in own.items():
        _milliseconds(f"sci-rag retrieve, {name}", seconds)
    _milliseconds("naive: fresh connection, vectors in Python", naive)
    print(f"naive full text found nothing for {without_words} of {len(questions)} questions")
    typical = median(own["everything"])
    print(f"goal {GOAL_SECONDS * 1000:.0f} ms: {'met' if typical < GOAL_SECONDS else 'missed'}")
    return 0 if typical < max(GOAL_SECONDS, median(naive)) else 1


if __name__ == "__main__":
    sys.exit(main())
