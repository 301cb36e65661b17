"""What of the graph stands on the pages of documents and passages."""

from __future__ import annotations

from typing import Any

from django import template

from corpus import ceilings
from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope
from corpus.signed_in import person
from retrieval.graph import faces, run_pages
from retrieval.graph.faces import Face

register = template.Library()

_MOST_NAMED = 15


@register.simple_tag(takes_context=True)
def named_in_document(context: template.Context, document: Document) -> list[Face]:
    """Return what a document names, the most often named first, as the page's reader meets it."""
    return _named(context, document=document)


@register.simple_tag(takes_context=True)
def named_in_passage(context: template.Context, passage: Chunk) -> list[Face]:
    """Return what a passage names, as the page's reader meets it."""
    return _named(context, chunk=passage)


@register.simple_tag(takes_context=True)
def sees_extractions(context: template.Context) -> bool:
    """Whether the page's reader may see the runs that made the graph."""
    return run_pages.may_look(person(context["request"]))


def _named(context: template.Context, **where: Any) -> list[Face]:
    scope = ceilings.effective_scope(context["request"].user, RetrievalScope())
    families = faces.most_mentioned(scope, most=_MOST_NAMED, **where)
    known = faces.known(families, scope)
    return [known[family] for family in families if family in known]
