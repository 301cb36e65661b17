"""What tools say that the API does not: citations, relationships, collections, why something is missing."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404

from corpus import browsing, ceilings, citation_graph, explaining
from corpus.api.documents import short
from corpus.export import writing
from corpus.models import Document
from corpus.rights import LicenseClass
from corpus.scope import EVERYTHING, RetrievalScope
from retrieval.graph import edges, faces, pages
from retrieval.graph.edges import Edge
from retrieval.graph.faces import Face
from retrieval.graph.quotes import Quoted
from sci_rag_site.mcp.inputs import DocumentInput, EntityInput, WhyInput

CURATES = "corpus.view_document"
_NOT_AVAILABLE = "Nothing that you may see goes by this name or number. A librarian can be asked for access."


def scope_of(user: User) -> RetrievalScope:
    """Return all that `user` may see."""
    return ceilings.effective_scope(user, RetrievalScope())


def citations(user: User, asked: DocumentInput) -> dict[str, Any]:
    """Return what a document cites, and which documents cite it, as far as `user` may see them."""
    scope = scope_of(user)
    document = browsing.readable_document(scope, asked.document_id)
    if document is None:
        raise Http404
    return {
        "document": short(document).model_dump(mode="json"),
        "references": [
            {
                "text": one.text,
                "doi": one.doi,
                "held": None if one.held is None else short(one.held).model_dump(mode="json"),
            }
            for one in citation_graph.references(document, scope)
        ],
        "cited_by": [short(one).model_dump(mode="json") for one in citation_graph.cited_by(document, scope)],
    }


def relationships(user: User, asked: EntityInput) -> dict[str, Any]:
    """Return what passages that `user` may see say of an entity, the surest first, each with its words."""
    scope = scope_of(user)
    face = faces.find(asked.entity_id, scope)
    if face is None:
        raise Http404
    lines = edges.lines(face, scope)
    mentions, documents = faces.counts([face.family], scope)[face.family]
    return {
        "entity": {**_named(face), "mentions": mentions, "documents": documents},
        "descriptions": [_quoted(one) for one in pages.descriptions(face, scope)],
        "count": len(lines),
        "relationships": [_edge(one) for one in edges.read(lines[: asked.limit], face, scope)],
    }


def buckets(user: User) -> dict[str, Any]:
    """Return the collections of which `user` may see a document, and how many of each."""
    found = browsing.bucket_facets(Document.objects.within(scope_of(user)))
    return {"buckets": [{"bucket": one.value, "documents": one.count} for one in found]}


def manifest(user: User) -> dict[str, Any]:
    """Return the corpus as far as `user` may see it, described as a whole."""
    return writing.described(scope_of(user))


def why(user: User, asked: WhyInput) -> dict[str, Any]:
    """Return why something is not found: the rules for who curates, for others only whether it is there."""
    if user.has_perm(CURATES):
        return _for_curators(user, asked.wanted)
    readable = Document.objects.within(scope_of(user))
    found = explaining.explain(asked.wanted, documents=readable, person=explaining.of(user))
    return {"found": [_explained(one) for one in found], "said": "" if found else _NOT_AVAILABLE}


def _for_curators(user: User, wanted: str) -> dict[str, Any]:
    ceiling = ceilings.of(user)
    documents = Document.objects.under(ceiling)
    found = explaining.explain(
        wanted,
        documents=documents,
        person=explaining.of(user),
        # What nobody knows the rights of only shows to who may see the unknown.
        with_files=LicenseClass.UNKNOWN in ceiling.license_classes,
    )
    absent = explaining.not_held(wanted, documents=documents, knows_all=ceiling == EVERYTHING)
    return {"found": [_explained(one) for one in found], "said": "" if found else absent.words}


def _explained(one: explaining.Explained) -> dict[str, Any]:
    return {
        "title": one.title,
        "document_id": None if one.document is None else str(one.document.pk),
        "hidden": one.is_hidden,
        "rules": [{"code": rule.code, "words": rule.words, "hides": rule.hides} for rule in one.rules],
    }


def _named(face: Face) -> dict[str, Any]:
    return {
        "id": str(face.id),
        "name": face.name,
        "type": face.type,
        "spellings": list(face.spellings),
        "merged": list(face.merged),
    }


def _edge(edge: Edge) -> dict[str, Any]:
    return {
        "relation": edge.relation,
        "direction": "out" if edge.is_outgoing else "in",
        "other": {"id": str(edge.other.id), "name": edge.other.name, "type": edge.other.type},
        "confidence": edge.level,
        "passages": edge.passages,
        "quote": None if edge.quoted is None else _quoted(edge.quoted),
    }


def _quoted(quoted: Quoted) -> dict[str, Any]:
    return {
        "text": quoted.text,
        "passage_id": str(quoted.passage.public_id),
        "document_id": str(quoted.document.pk),
        "title": quoted.document.title,
        "license_class": quoted.document.license_class,
        "badges": list(quoted.badges),
    }
