"""The client: a method for each operation of the API, with its types."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from answers.api.shapes import AnswerTold, Note, NotePage
from corpus.api.shapes import (
    CorpusManifest,
    DocumentPage,
    DocumentWhole,
    Health,
    Ingested,
    Passage,
    Run,
    Status,
    WorkPage,
)
from retrieval.api.shapes import EntityPage, Search
from sci_rag_site.client.asking import EngineName, ProfileName, Scope, question
from sci_rag_site.client.problems import BadAnswer
from sci_rag_site.client.sending import Connection
from sci_rag_site.client.streaming import AnswerStream

M = TypeVar("M", bound=BaseModel)
# A deep answer takes minutes; between two events of a stream there are seconds.
ANSWER_SECONDS = 300.0
SILENCE_SECONDS = 120.0


class Client:
    """Asks a site by key. Use as a context manager, or close it; threads may share one.

    Reading calls and searches are tried again up to `retries` times where the site is away or asks to wait,
    for up to `longest_wait` seconds each. Answers, notes and files are sent once.
    """

    def __init__(
        self, address: str, key: str, *, timeout: float = 60.0, retries: int = 2, longest_wait: float = 60.0
    ) -> None:
        self._connection = Connection(
            address, key, timeout=timeout, retries=retries, longest_wait=longest_wait
        )

    def __repr__(self) -> str:
        return f"Client({self._connection.address!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()

    def query(
        self, query: str, *, top_k: int = 8, profile: ProfileName = "interactive", scope: Scope | None = None
    ) -> Search:
        """Find the passages that speak to a question."""
        asked = question(query, top_k=top_k, profile=profile, scope=scope)
        return self._read("POST", "/query", Search, json=asked)

    def answer(
        self,
        query: str,
        *,
        top_k: int = 8,
        profile: ProfileName = "interactive",
        scope: Scope | None = None,
        engine: EngineName | None = None,
    ) -> AnswerTold:
        """Have a question answered, and wait for it."""
        asked = question(query, top_k=top_k, profile=profile, scope=scope, engine=engine)
        return self._write("/answer", AnswerTold, json=asked, timeout=ANSWER_SECONDS)

    def stream(
        self,
        query: str,
        *,
        top_k: int = 8,
        profile: ProfileName = "interactive",
        scope: Scope | None = None,
        engine: EngineName | None = None,
    ) -> AnswerStream:
        """Have a question answered, and hear of it as it happens. Closing the stream stops the model."""
        asked = question(query, top_k=top_k, profile=profile, scope=scope, engine=engine, stream=True)
        return AnswerStream(self._connection.open_stream("/answer", json=asked, silence=SILENCE_SECONDS))

    def documents(
        self,
        *,
        q: str | None = None,
        license_class: str | None = None,
        bucket: str | None = None,
        year_min: int | None = None,
        year_max: int | None = None,
        standing: Literal["current", "superseded", "retracted"] | None = None,
        page: int = 1,
        page_size: int = 25,
    ) -> DocumentPage:
        """List and search documents."""
        return self._read("GET", "/documents", DocumentPage, params=_given(
            q=q, license_class=license_class, bucket=bucket, year_min=year_min, year_max=year_max,
            standing=standing, page=page, page_size=page_size,
        ))  # fmt: skip

    def document(self, document_id: UUID | str) -> DocumentWhole:
        """Read about a document."""
        return self._read("GET", f"/documents/{UUID(str(document_id))}", DocumentWhole)

    def passage(self, passage_id: UUID | str) -> Passage:
        """Read a passage, word for word."""
        return self._read("GET", f"/chunks/{UUID(str(passage_id))}", Passage)

    def sources(self, *, q: str | None = None, page: int = 1, page_size: int = 25) -> WorkPage:
        """List the works behind documents."""
        return self._read("GET", "/sources", WorkPage, params=_given(q=q, page=page, page_size=page_size))

    def entities(
        self,
        *,
        q: str | None = None,
        entity_type: str | None = None,
        document: UUID | str | None = None,
        order: Literal["mentions", "name"] = "mentions",
        page: int = 1,
    ) -> EntityPage:
        """List and search what passages mention."""
        wanted = _given(q=q, type=entity_type, document=document, order=order, page=page)
        return self._read("GET", "/entities", EntityPage, params=wanted)

    def notes(
        self,
        *,
        q: str | None = None,
        kind: str | None = None,
        whose: Literal["mine", "shared"] | None = None,
        page: int = 1,
        page_size: int = 25,
    ) -> NotePage:
        """List and search notes."""
        wanted = _given(q=q, kind=kind, whose=whose, page=page, page_size=page_size)
        return self._read("GET", "/notes", NotePage, params=wanted)

    def keep_note(
        self,
        text: str,
        *,
        kind: str = "finding",
        title: str = "",
        shared: bool = False,
        cites: Sequence[str] = (),
        from_answer: UUID | str | None = None,
    ) -> Note:
        """Keep a note as the key's owner's."""
        said = _given(
            text=text, kind=kind, title=title, shared=shared, cites=list(cites), from_answer=from_answer
        )
        return self._write("/notes", Note, json=said)

    def ingest(
        self,
        paths: Sequence[Path | str],
        *,
        title: str | None = None,
        bucket: str | None = None,
        license_class: str | None = None,
        license_source: str | None = None,
    ) -> Ingested:
        """Send files to the corpus; follow the run that reads them with `run`."""
        described = _given(
            title=title, bucket=bucket, license_class=license_class, license_source=license_source
        )
        with ExitStack() as opened:
            files = [
                ("files", (Path(path).name, opened.enter_context(Path(path).open("rb")))) for path in paths
            ]
            return self._write("/ingest", Ingested, data=described, files=files, timeout=ANSWER_SECONDS)

    def run(self, run_id: UUID | str, *, page: int = 1, page_size: int = 100) -> Run:
        """Follow a run that takes files in."""
        wanted = _given(page=page, page_size=page_size)
        return self._read("GET", f"/runs/{UUID(str(run_id))}", Run, params=wanted)

    def status(self) -> Status:
        """See what the key works with."""
        return self._read("GET", "/status", Status)

    def manifest(self) -> CorpusManifest:
        """Read the corpus described as a whole."""
        return self._read("GET", "/corpus-manifest", CorpusManifest)

    def health(self) -> Health:
        """Ask whether the site answers."""
        return self._read("GET", "/health", Health)

    def _read(self, method: str, path: str, model: type[M], **what: Any) -> M:
        return _as(model, self._connection.send(method, path, is_safe=True, **what).content)

    def _write(self, path: str, model: type[M], **what: Any) -> M:
        return _as(model, self._connection.send("POST", path, is_safe=False, **what).content)


def _given(**values: Any) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, UUID) else value
        for name, value in values.items()
        if value is not None
    }


def _as(model: type[M], content: bytes) -> M:
    try:
        return model.model_validate_json(content)
    except ValidationError:
        raise BadAnswer(f"What came is no {model.__name__}: the site may be of another version.") from None
