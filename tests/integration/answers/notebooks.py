"""Notes for tests, and an answer to keep them of."""

from __future__ import annotations

from django.contrib.auth.models import User

from answers.models import Answer, AnswerSource
from answers.notebook import actions, reading
from answers.notebook.actions import Words
from answers.notebook.models import Observation
from answers.notebook.naming import named
from answers.notebook.reading import ShownNote
from corpus.models import Chunk, Document
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory


def held(title: str, doi: str = "", **fields: object) -> Document:
    """A document of a work that has a DOI, or only a record."""
    work = SourceFactory(identifier_value=doi, title=title) if doi else SourceFactory(
        identifier_type="", identifier_value="", title=title
    )  # fmt: skip
    document: Document = DocumentFactory(title=title, source=work, doi=doi, **fields)
    ChunkFactory(document=document, ordinal=0)
    return document


def answered(by: User | None, *documents: Document) -> Answer:
    """An answer that retrieved every document, the first one twice, and cites the first."""
    answer = Answer.objects.create(
        asked_by=by,
        question="What does biochar hold?",
        text="Water [1].",
        state="done",
        finish="stop",
        scope_digest="0" * 64,
        profile="interactive",
        engine="extractive",
    )
    for number, document in enumerate([*documents, documents[0]], start=1):
        chunk = Chunk.objects.get(document=document)
        AnswerSource.objects.create(
            answer=answer,
            number=number,
            chunk=chunk,
            document=document,
            is_cited=number == 1,
            title=document.title,
            license_class=document.license_class,
            bucket=document.bucket,
            content_sha256=chunk.content_sha256,
            score=1.0,
        )
    return answer


def kept(by: User | None, *works: str, text: str = "Biochar holds water.", **words: object) -> Observation:
    """A note that names works."""
    wanted = Words(text, **words)  # type: ignore[arg-type]
    return actions.add(words=wanted, by=by, named=[named(work) for work in works])


def seen(note: Observation, user: User | None) -> ShownNote:
    """The note as `user` sees it."""
    (shown,) = reading.shown([note], user)
    return shown
