"""Every registered configuration over shared test collections, each paired with full_deep.

    python -m benchmarks.ablations [--fast] [--out DIR] [NAME...]

Each collection is a question set whose evidence are the documents judged relevant. Gated: the run finishes, a
second run gives identical numbers, and all that was carried out is paired over the same questions.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

NAMES = ("adi", "cisi")


def main() -> int:
    """Evaluate, write the reports, evaluate again; 1 when a gate is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help=f"collections; {' and '.join(NAMES)} without any")
    parser.add_argument("--fast", action="store_true", help="the smallest collection only")
    parser.add_argument("--out", type=Path, help="write the reports below this folder")
    options = parser.parse_args()

    from benchmarks import database

    database.start()
    from benchmarks import collections

    if not collections.SHARED.is_dir():
        print("The shared collections are not beside the checkout: nothing measured.")
        return 0
    names = options.names or (NAMES[:1] if options.fast else NAMES)
    return max(_evaluate(name, options.out) for name in names)


def _evaluate(name: str, out: Path | None) -> int:
    from benchmarks import collections
    from corpus.gateways.embedding import configured_embedder
    from corpus.scope import scope
    from evaluation.reports import markdown, writing
    from evaluation.reports.report import report_of
    from evaluation.runs import ablations, running
    from evaluation.runs.planning import Plan

    collection = collections.read(name)
    keys = collections.load(collection, embedder=configured_embedder())
    plan = Plan(
        _questions(collection, keys), scope(buckets=[name]), ablations.chosen(ablations.CONFIGURATIONS)
    )
    started = perf_counter()
    first = running.evaluate(plan, by=None)
    seconds = perf_counter() - started
    report = report_of(first)
    print(markdown.report({**report, "questions": []}), flush=True)
    if out is not None:
        print(f"Written to {writing.write(report, out)}")
    second = running.evaluate(plan, by=None)
    is_same = first.summary == second.summary
    again = "identical" if is_same else "OTHER"
    print(f"{name}: {first.planned} results in {seconds:.0f} s; a second run gave {again} numbers")
    return int(not is_same or not _all_paired(first.summary))


def _all_paired(numbers: dict[str, Any]) -> bool:
    _, *others = numbers["configurations"]
    paired = [
        one["levels"]["document"]["ndcg@10"]["against_first"]["questions"]
        for one in others
        if not one["refusal"]
    ]
    return bool(paired) and set(paired) == {numbers["questions"]}


def _questions(collection: Any, keys: dict[int, str]) -> Any:
    """Store the collection's questions with the documents judged relevant as their evidence."""
    from corpus.models import Chunk
    from evaluation.models import Evidence, Question, QuestionSet

    documents = {
        keys[chunk.pk]: chunk.document
        for chunk in Chunk.objects.filter(pk__in=keys).select_related("document")
    }
    made = QuestionSet.objects.create(name=collection.name)
    for number, text in collection.questions.items():
        relevant = [other for other, gain in collection.judged[number].items() if gain and other in documents]
        if not relevant:
            continue
        question = Question.objects.create(
            question_set=made, key=f"q{number.lower()}", question=text, reference_answer="Judged documents.",
            content_sha256=f"{collection.name} {number}", origin="imported",
        )  # fmt: skip
        Evidence.objects.bulk_create(
            Evidence(
                question=question, number=place, document=documents[other], title=documents[other].title,
                document_sha256=documents[other].content_sha256,
            )
            for place, other in enumerate(relevant, start=1)
        )  # fmt: skip
    return made


if __name__ == "__main__":
    sys.exit(main())
