"""Under what a number is measured: the code, the models, the prompts, the domain profile."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings

from corpus.domain_profile import active_profile
from corpus.prompt_files import prompt_file
from evaluation.metrics import significance
from evaluation.metrics.ranking import DEPTH

_PACKAGES = ("corpus", "retrieval", "answers", "evaluation", "sci_rag_site")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@cache
def code_version() -> str:
    """Return the commit of the checkout, or the version that was installed, and the hash of the source.

    The hash tells a checkout with changes of its own from the commit it started at.
    """
    root = Path(settings.BASE_DIR)
    named = (_commit(root / ".git") or f"sci-rag {metadata.version('sci-rag')}")[:20]
    digest = hashlib.sha256()
    for path in sorted(path for package in _PACKAGES for path in (root / package).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{named} source {digest.hexdigest()[:12]}"


def conditions() -> dict[str, Any]:
    """Return what else a number depends on, as JSON values without anything secret."""
    profile = active_profile()
    prompts = sorted(path.stem for path in (Path(settings.DOMAIN_DIR) / "prompts").glob("*.md"))
    return {
        "domain_profile_sha256": profile.digest(),
        "reranker": profile.reranker.kind,
        "models": {
            "answers": settings.SCI_RAG_LLM_MODEL,
            "fast": settings.SCI_RAG_FAST_MODEL or settings.SCI_RAG_LLM_MODEL,
            "embedding": settings.SCI_RAG_EMBEDDING_MODEL,
        },
        "prompts": {name: prompt_file(name).sha256 for name in prompts},
        "depth": DEPTH,
        "resamples": significance.RESAMPLES,
        "seed": significance.SEED,
    }


def _commit(git: Path) -> str:
    """Return the commit that is checked out; empty where there is no repository to read."""
    try:
        if git.is_file():
            # Of a worktree: the file says where.
            git = (git.parent / git.read_text().removeprefix("gitdir:").strip()).resolve()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head if _COMMIT.fullmatch(head) else ""
        name = head.removeprefix("ref: ")
        common = git / "commondir"
        shared = (git / common.read_text().strip()).resolve() if common.exists() else git
        loose = shared / name
        return loose.read_text().strip() if loose.exists() else _packed(shared, name)
    except OSError:
        return ""


def _packed(git: Path, name: str) -> str:
    rows = (line.split(" ", 1) for line in (git / "packed-refs").read_text().splitlines() if " " in line)
    return next((commit for commit, ref in rows if ref == name), "")
