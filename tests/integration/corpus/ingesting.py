"""What the tests of ingestion share: a small deterministic embedder, files, and a short way to run."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from corpus.chunking import ChunkingLimits
from corpus.gateways.embedding import EmbeddingError
from corpus.ingestion import ingest
from corpus.inputs import from_paths
from corpus.intake import Options
from corpus.parsing.registry import ParseLimits
from corpus.reports import Report, RunReport

OPTIONS = Options(ChunkingLimits(), ParseLimits(max_bytes=3_000_000, wall_seconds=60))


class HashEmbedder:
    """Unit vectors from the hash of each text: the same text, the same vector."""

    version = "hash@8"
    dimensions = 8

    def __init__(self, *, failing: Sequence[str] = ()) -> None:
        self.failing = failing
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str], *, task: str, carries: object) -> np.ndarray:
        for text in texts:
            if any(word in text for word in self.failing):
                raise EmbeddingError("The provider did not answer.")
        self.embedded += texts
        rows = [np.frombuffer(hashlib.sha256(text.encode()).digest()[:8], dtype=np.uint8) for text in texts]
        vectors = np.array(rows, dtype=np.float32) + 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def paper(words: str, title: str = "A paper") -> str:
    return (
        f"# {title}\n\n## 1 Introduction\n\nStraw was stored for {words}.\n\n## 2 Results\n\n"
        f"| Day | Loss |\n|---|---|\n| 1 | 2.5 |\n\nLosses rose to {words}.\n"
    )


def take(*paths: Path, embedder: HashEmbedder | None = None, **options: object) -> RunReport:
    return ingest(from_paths(paths), options=OPTIONS, embedder=embedder or HashEmbedder(), **options)


def outcomes(report: RunReport) -> list[tuple[str, str]]:
    return [(Path(item.path).name, item.outcome.value) for item in report.reports]


def only(report: RunReport) -> Report:
    (item,) = report.reports
    return item
