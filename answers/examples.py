"""Questions to begin with: seed questions that the reader's own documents can answer."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User

from corpus import ceilings
from corpus.identifiers import normalise_doi
from corpus.models import Document
from corpus.scope import RetrievalScope

SHOWN = 4
SEED_FILES = ("eval_seed_questions.jsonl", "demo/seed_questions.jsonl")


def questions(user: User) -> list[str]:
    """Return a few questions whose reference documents `user` may see; none is better than a dead end."""
    seeds = [seed for name in SEED_FILES for seed in _seeds(settings.DOMAIN_DIR / name)]
    wanted = {doi for _, dois in seeds for doi in dois}
    scope = ceilings.effective_scope(user, RetrievalScope(exclude_retracted=True))
    held = set(
        Document.objects.within(scope)
        .filter(doi_normalised__in=wanted)
        .values_list("doi_normalised", flat=True)
    )
    found = [question for question, dois in seeds if dois and dois <= held]
    # Spread over the file, so that the examples are not all about its first document.
    step = max(len(found) // SHOWN, 1)
    return found[::step][:SHOWN]


def _seeds(path: Path) -> list[tuple[str, frozenset[str]]]:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return []


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int) -> list[tuple[str, frozenset[str]]]:
    """Read what can be read: `sci-rag` reports faulty lines where the questions are measured with."""
    seeds = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
            dois = frozenset(normalise_doi(text) or "" for text in row["reference_documents"])
            question = str(row["question"])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if not row.get("unanswerable"):
            seeds.append((question, dois - {""}))
    return seeds
