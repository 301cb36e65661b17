"""Searching by key, and listing entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from uuid import UUID

from django.http import HttpResponse
from pydantic import Field
from rest_framework.request import Request

from corpus import ceilings
from corpus.api.documents import scope_of
from corpus.api.problems import invalid
from corpus.api.requests import Sent, Whole, read_body
from corpus.api.schema import Operation, describes
from corpus.api.views import ApiView, reply
from corpus.keys.permissions import Permission
from corpus.scope import RetrievalScope
from corpus.usage import accounts
from retrieval.api.asking import QueryAsked
from retrieval.api.shapes import EntityPage, EntityTold, Search
from retrieval.graph import listing
from retrieval.graph.listing import Listed, Wanted
from retrieval.request import InvalidRequest
from retrieval.retriever import retrieve

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class QueryView(ApiView):
    """Searching."""

    permissions = {"POST": Permission.QUERY}

    @describes(
        Operation(
            "query",
            "Find the passages that speak to a question",
            Search,
            "Asking",
            more="Retracted works are found too, with a badge, unless `scope.exclude_retracted` is true.",
            body=QueryAsked,
        )
    )
    def post(self, request: Request) -> HttpResponse:
        """Search within what the key may see."""
        return reply(searched(read_body(request, QueryAsked), self.caller.user))


class EntityParameters(Sent):
    """Which entities."""

    page: Whole = Field(default=1, ge=1, le=100_000, description="The number of the page, from 1.")
    q: str | None = Field(default=None, max_length=300, description="Letters of a name.")
    type: str | None = Field(default=None, max_length=60)
    document: UUID | None = Field(default=None, description="Mentioned in this document.")
    order: Literal["mentions", "name"] = "mentions"


class Entities(ApiView):
    """The entities of the knowledge graph."""

    permissions = {"GET": Permission.READ}
    parameters = EntityParameters

    @describes(
        Operation(
            "list_entities",
            "List and search what passages mention",
            EntityPage,
            "Knowledge graph",
            parameters=EntityParameters,
        )
    )
    def get(self, request: Request) -> HttpResponse:
        """List what passages that the key may see mention."""
        return reply(entities(self.wanted(EntityParameters), scope_of(self)))


def searched(asked: QueryAsked, user: User) -> Search:
    """Return what a search within what `user` may see finds; raise a `Problem` for what is no question."""
    effective = ceilings.effective_scope(user, asked.scope.requested(exclude_retracted=False))
    try:
        with accounts.charged_to(user, collection=accounts.collection_of(effective)):
            result = retrieve(question=asked.query, scope=effective, profile=asked.profile, limit=asked.top_k)
    except InvalidRequest as error:
        raise invalid(str(error), where="query") from None
    return Search.model_validate(result.as_dict())


def entities(asked: EntityParameters, scope: RetrievalScope) -> EntityPage:
    """Return a page of the entities that passages in scope mention."""
    wanted = Wanted(asked.q or None, asked.type or None, asked.document, asked.order)
    found = listing.listing(wanted, scope, page=asked.page)
    return EntityPage(
        count=found.total,
        page=asked.page,
        page_size=listing.PAGE_SIZE,
        items=[_entity(one) for one in found.entities],
    )


def _entity(one: Listed) -> EntityTold:
    return EntityTold(
        id=one.face.id,
        name=one.face.name,
        type=one.face.type,
        spellings=list(one.face.spellings),
        merged=list(one.face.merged),
        mentions=one.mentions,
        documents=one.documents,
    )
