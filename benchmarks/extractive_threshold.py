"""Choose the threshold below which the extractive engine refuses, and report what it does on other questions.

    python -m benchmarks.extractive_threshold ../shared/data/benchmarks/pubmedqa_pqal --questions 240

Each question is asked twice of the abstracts of the set: with its gold abstracts in the corpus, and
without them, which makes it unanswerable as far as anyone knows. Even-numbered questions show what each
threshold does; the odd ones give the figures at the threshold the engine uses.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

POOL = 8
_K1, _B = 1.2, 0.75


@dataclass(frozen=True)
class Outcome:
    """The confidence of one question, and whether a gold passage was retrieved and quoted."""

    answerable: bool
    retrieved: bool
    quoted: bool
    confidence: float


class Abstracts:
    """A set's abstracts, ranked by weighted fusion of vectors and BM25 as in the product."""

    def __init__(self, folder: Path, embed) -> None:
        self.rows = {row["_id"]: row for row in _lines(folder / "documents.jsonl.gz")}
        self.questions = list(_lines(folder / "queries.jsonl.gz"))
        self.gold: dict[str, set[str]] = {}
        for line in gzip.decompress((folder / "qrels.tsv.gz").read_bytes()).decode().splitlines():
            question, *_, document, grade = line.split("\t")
            if grade.isdigit() and int(grade) > 0 and document in self.rows:
                self.gold.setdefault(question, set()).add(document)
        self.ids = list(self.rows)
        texts = [f"{self.rows[key].get('title') or ''}\n{self.rows[key]['text']}" for key in self.ids]
        self._vectors = embed(texts)
        self._counts = [Counter(terms(text)) for text in texts]
        self._holding = Counter(word for count in self._counts for word in count)
        self._lengths = np.array([sum(count.values()) for count in self._counts])

    def pool(self, question: str, vector, *, without: set[str]) -> list[str]:
        fused = 1.5 / (61 + _ranks(self._vectors @ vector)) + 1 / (61 + _ranks(self._bm25(question)))
        order = [self.ids[index] for index in np.argsort(-fused)]
        return [key for key in order if key not in without][:POOL]

    def _bm25(self, question: str):
        scores = np.zeros(len(self.ids))
        norm = _K1 * (1 - _B + _B * self._lengths / self._lengths.mean())
        for word in set(terms(question)) & self._holding.keys():
            weight = math.log(1 + (len(self.ids) - self._holding[word] + 0.5) / (self._holding[word] + 0.5))
            frequency = np.array([count[word] for count in self._counts])
            scores += weight * frequency * (_K1 + 1) / (frequency + norm)
        return scores


def _ranks(scores):
    return np.argsort(np.argsort(-scores, kind="stable"), kind="stable")


def _lines(path: Path):
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def ask(abstracts: Abstracts, question: dict, embed, *, answerable: bool) -> Outcome:
    gold = abstracts.gold[question["_id"]]
    text = question["text"]
    keys = abstracts.pool(text, embed([text])[0], without=set() if answerable else gold)
    sources = [
        Evidence(number, abstracts.rows[key]["text"], abstracts.rows[key].get("title") or "")
        for number, key in enumerate(keys, 1)
    ]
    ranked = extractive.rank(text, sources, embed=embed)
    quoted = {keys[quote.source.number - 1] for quote in extractive.choose(ranked, threshold=0.0)}
    return Outcome(
        answerable, bool(gold & set(keys)), bool(gold & quoted), ranked[0].score if ranked else 0.0
    )


def report(outcomes: list[Outcome], threshold: float) -> str:
    able = [o for o in outcomes if o.answerable and o.retrieved]
    unable = [o for o in outcomes if not o.answerable]
    answered = sum(o.confidence >= threshold for o in able) / len(able)
    refused = sum(o.confidence < threshold for o in unable) / len(unable)
    cited = sum(o.quoted for o in able) / len(able)
    return (
        f"threshold {threshold:.2f}: answers {answered:.1%} of {len(able)} whose passage was retrieved "
        f"(gold passage quoted in {cited:.1%}), refuses {refused:.1%} of {len(unable)} unanswerable"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=240)
    arguments = parser.parse_args()
    known: dict[str, np.ndarray] = {}

    def embed(texts):
        new = sorted({text for text in texts if text not in known}, key=len)
        if new:
            known.update(
                zip(new, configured_embedder().embed(new, task="document", carries=NOTHING_HELD), strict=True)
            )
        return np.vstack([known[text] for text in texts])

    abstracts = Abstracts(arguments.folder, embed)
    judged = [row for row in abstracts.questions if row["_id"] in abstracts.gold][: arguments.questions]
    halves: tuple[list[Outcome], list[Outcome]] = ([], [])
    for number, question in enumerate(judged):
        for answerable in (True, False):
            halves[number % 2].append(ask(abstracts, question, embed, answerable=answerable))
    print("Even-numbered questions:")
    for threshold in np.arange(0.40, 0.62, 0.02):
        print(" ", report(halves[0], float(threshold)))
    print("Odd-numbered questions, at the threshold in use:")
    print(" ", report(halves[1], extractive.THRESHOLD))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sci_rag_site.settings")
    import django

    django.setup()
    from answers import extractive
    from answers.candidates import Evidence
    from answers.terms import terms
    from corpus.egress import NOTHING_HELD
    from corpus.gateways.embedding import configured_embedder

    main()
