"""The certificate's look at what agents are offered: every tool that reads, asked for what is hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.http import Http404

from sci_rag_site.mcp import inputs
from sci_rag_site.mcp.tools import BY_NAME

if TYPE_CHECKING:
    from sci_rag_site.certificate import Canary, Surface


def ask(member: User, surface: Surface, canaries: Sequence[Canary], *, eligible: int) -> None:
    """Ask each tool in the name of `member`, look for the canaries in what it says, and compare counts.

    Searching and answering are left out: the layers they stand on are asked one by one. So is the corpus as a
    whole, which is read in a transaction of its own, as exports are.
    """
    for one in canaries:
        for tool, given, typed in _questions(one):
            surface.seek(canaries, _said(member, tool, given), typed=typed)
    said = _said(member, "list_buckets", {})
    surface.seek(canaries, said)
    counted = sum(one["documents"] for one in json.loads(said)["buckets"])
    if counted != eligible:
        surface.wrong.append(f"{counted} documents instead of {eligible}")


def _questions(one: Canary) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a tool, what it is given, and the words that asking takes."""
    key = str(one.document.pk)
    for tool in ("get_document", "get_citations"):
        yield tool, {"document_id": key}, key
    yield "search_entities", {"document_id": key}, key
    if one.passage is not None:
        yield "get_passage", {"passage_id": str(one.passage.public_id)}, ""
    for word in one.words:
        yield "why_not", {"wanted": word[:200]}, word
        yield "search_entities", {"q": word[:200]}, word


def _said(member: User, name: str, given: dict[str, Any]) -> str:
    tool = BY_NAME[name]
    assert tool.service is not None  # noqa: S101 - only answering has none
    try:
        return json.dumps(tool.service(member, inputs.read(given, tool.takes)), ensure_ascii=False)
    except Http404:
        return ""
