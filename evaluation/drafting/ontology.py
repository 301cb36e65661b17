"""Proposing types of things and relations from passages of a scope, for an expert to take or leave."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from django.db.models import Value
from django.db.models.functions import MD5, Concat

from corpus.connections import release
from corpus.egress import Classes, classes_of
from corpus.gateways.llm import ChatModel, ModelError, complete
from corpus.models import Chunk
from corpus.prompt_files import prompt_file, quoted
from corpus.scope import RetrievalScope
from corpus.usage import accounts, estimating
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose
from evaluation.drafting.choosing import eligible
from evaluation.drafting.replies import Dropped
from retrieval.graph.ontology import FILE, load

PROMPT: Final = "draft_ontology"
_SECONDS = 180.0
_LONGEST_PASSAGE = 2_000
# Twelve types with a dozen examples each.
_REPLY_TOKENS = 700

Parts = tuple[str, str]


def passages(scope: RetrievalScope, *, count: int, seed: int, readable: Classes | None = None) -> list[Chunk]:
    """Return up to `count` passages drawn by `seed`, at most one of a document as long as there are others.

    `readable` are the licence classes that may go to whoever is asked; None for all of the scope.
    """
    chunks = eligible(scope)
    if readable is not None:
        chunks = chunks.filter(document__license_class__in=[each.value for each in readable])
    drawn = chunks.annotate(drawn=MD5(Concat(Value(f"{seed} "), "content_sha256")))
    rows = list(drawn.select_related("document").order_by("drawn", "rank_key", "pk")[: count * 20])
    seen: dict[object, int] = {}
    turns = []
    for place, chunk in enumerate(rows):
        turn = seen[chunk.document_id] = seen.get(chunk.document_id, -1) + 1
        turns.append((turn, place))
    return [rows[place] for _, place in sorted(turns)[:count]]


def prompt_of(chunks: Sequence[Chunk]) -> Parts:
    """Return both parts of what a model is asked."""
    nonce = secrets.token_hex(16)
    fenced = [
        f"<passage-{nonce} number={number}>\n{quoted(chunk.body, longest=_LONGEST_PASSAGE)}\n"
        f"</passage-{nonce}>"
        for number, chunk in enumerate(chunks, start=1)
    ]
    return prompt_file(PROMPT).fill(
        {"nonce": nonce, "count": str(len(fenced)), "passages": "\n\n".join(fenced)}
    )


def estimate(model: ChatModel, prompt: Parts) -> Estimate:
    """Return what asking comes to."""
    line = estimating.line(
        purpose=Purpose.DRAFTING, model=model.name, calls=1, prompts=[prompt], reply_tokens=_REPLY_TOKENS
    )
    return Estimate((line,))


def asked(model: ChatModel, prompt: Parts, chunks: Sequence[Chunk], *, scope: RetrievalScope) -> str:
    """Return what the model replies; raise `Dropped` when it does not."""
    carries = classes_of(chunk.document.license_class for chunk in chunks)
    system, user = prompt
    release()
    try:
        with accounts.charged_to(collection=accounts.collection_of(scope)):
            reply, _ = complete(
                model,
                system=system,
                user=user,
                purpose=Purpose.DRAFTING,
                carries=carries,
                timeout=_SECONDS,
            )
    except ModelError as error:
        raise Dropped(error.code) from None
    return reply


def heading(author: str, chunks: Sequence[Chunk]) -> str:
    """Return the words that say what the file is."""
    return (
        f"# A draft by {' '.join(author.split())} from {len(chunks)} passages: no expert has taken it over.\n"
        "# Every example and phrase stands in one of them. Change what is wrong, then put it where\n"
        "# ontology.yaml is: what was read by another ontology is read again.\n"
    )


def checked(text: str) -> str:
    """Return the file when the graph accepts it as its ontology; raise `InvalidOntology`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, FILE)
        path.write_text(text, encoding="utf-8")
        load(path)
    return text
