"""Where the evidence of questions stands in the corpus as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.contrib.postgres.search import SearchQuery
from django.db.models import Q

from corpus import search_text
from corpus.identifiers import fold
from corpus.models import Chunk, Document
from corpus.querysets import ChunkQuerySet
from corpus.scope import RetrievalScope
from evaluation.questions import Pointer, SeedQuestion
from evaluation.relevance import SHORTEST_PHRASE, normalise


@dataclass(frozen=True, slots=True)
class Place:
    """A document that holds a piece of evidence, and the passage where that is a phrase."""

    document_id: UUID
    document_sha256: str
    doi: str
    passage_sha256: str = ""
    locator: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """One row of evidence: a phrase or a whole document, and where it is; no place when it is not found."""

    phrase: str = ""
    doi: str = ""
    title: str = ""
    place: Place | None = None
    pointer: Pointer | None = None

    @property
    def what(self) -> str:
        """Say what was looked for."""
        if self.phrase:
            return f"the words “{self.phrase}”"
        return f"the DOI {self.doi}" if self.doi else f"the title “{self.title}”"


class Binder:
    """Finds evidence among the documents that `scope` allows. Keep it for one batch: it remembers titles."""

    def __init__(self, scope: RetrievalScope) -> None:
        self._documents = Document.objects.within(scope)
        self._chunks = Chunk.objects.within(scope)

    def pieces(self, seed: SeedQuestion) -> tuple[Piece, ...]:
        """Return the evidence of a question in order: documents by DOI and title, then phrases.

        A phrase is looked for where its pointer says, then in the reference documents, then everywhere.
        """
        documents = [Piece(doi=doi, place=self._by_doi(doi)) for doi in seed.reference_documents]
        documents += [Piece(title=title, place=self._by_title(title)) for title in seed.reference_titles]
        named = [piece.place.document_id for piece in documents if piece.place]
        pointers = {pointer.phrase: pointer for pointer in seed.pointers}
        phrases = [self._phrase(phrase, pointers.get(phrase), named) for phrase in seed.evidence_phrases]
        return (*documents, *phrases)

    def _phrase(self, phrase: str, pointer: Pointer | None, named: Sequence[UUID]) -> Piece:
        piece = Piece(phrase=phrase, pointer=pointer)
        if len(normalise(phrase)) < SHORTEST_PHRASE:
            return piece
        for chunks in self._likely(phrase, pointer, named):
            if (place := _first_with(phrase, chunks.iterator(chunk_size=500))) is not None:
                return Piece(phrase=phrase, pointer=pointer, place=place)
        return piece

    def _likely(self, phrase: str, pointer: Pointer | None, named: Sequence[UUID]) -> Iterator[ChunkQuerySet]:
        chunks = self._chunks.select_related("document").order_by("rank_key", "pk")
        if pointer is not None:
            yield chunks.filter(document__content_sha256=pointer.document_sha256)
            if pointer.doi:
                yield chunks.filter(document__doi_normalised=pointer.doi)
        if named:
            yield chunks.filter(document__in=named)
        yield chunks.filter(self._has_the_words_of(phrase))

    def _has_the_words_of(self, phrase: str) -> Q:
        """Return the condition, answered by the index, without which no passage holds the phrase."""
        words = search_text.normalise(phrase).phrase()
        condition = Q(pk__in=[])
        for language in self._languages:
            query = SearchQuery(words, config=search_text.configuration(language), search_type="plain")
            condition |= Q(language=language, search_vector=query)
        return condition

    def _by_doi(self, doi: str) -> Place | None:
        found = self._documents.filter(doi_normalised=doi).order_by("status", "content_sha256", "pk").first()
        return None if found is None else _place(found)

    def _by_title(self, title: str) -> Place | None:
        key = self._titles.get(fold(title))
        return None if key is None else _place(Document.objects.get(pk=key))

    @cached_property
    def _languages(self) -> list[str]:
        return list(self._chunks.order_by("language").values_list("language", flat=True).distinct())

    @cached_property
    def _titles(self) -> dict[str, UUID]:
        rows = self._documents.order_by("-status", "-content_sha256", "pk").values_list("title", "pk")
        return {fold(title): key for title, key in rows.iterator()}


def missing(pieces: Iterable[Piece]) -> list[str]:
    """Return what was not found, in words."""
    return [piece.what for piece in pieces if piece.place is None]


def _first_with(phrase: str, chunks: Iterable[Chunk]) -> Place | None:
    needle = normalise(phrase)
    for chunk in chunks:
        if needle in normalise(chunk.body):
            return _place(chunk.document, chunk)
    return None


def _place(document: Document, chunk: Chunk | None = None) -> Place:
    return Place(
        document_id=document.pk,
        document_sha256=document.content_sha256,
        doi=document.doi_normalised,
        passage_sha256="" if chunk is None else chunk.content_sha256,
        locator="" if chunk is None else chunk.locator,
    )
