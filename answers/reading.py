"""A stored answer as one reader may see it today. Pages, exports and the API show nothing else.

The answer belongs to its asker and to librarians; for anyone else it does not exist. Each source is held
against the reader's ceiling as it is now: rights fall, documents go, groups change. A source the reader
may not see has no title, passage or place any more. Of one that was deleted title, place and hash stay, for
those whom its last rights allow to know of it. The answer's text goes with the evidence it was written
from: what a model wrote when it had read the source, cited or not; a collection of quotations when it
quotes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import Group
from django.db.models import Exists, OuterRef, Q, QuerySet

from answers import condensing, marking, other_versions, withholding
from answers.models import EXTRACTIVE, Answer, AnswerSource, Finding
from corpus import browsing, ceilings, page_views
from corpus.models import Chunk, Document
from corpus.page_views import PageView
from corpus.rights import LABELS, LicenseClass
from corpus.roles import LIBRARIAN
from corpus.scope import Ceiling, RetrievalScope
from retrieval.types import OtherVersion

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


class Drift(StrEnum):
    """What happened to a source since the answer was written."""

    RETRACTED = "retracted"
    CONCERN = "concern"
    CORRECTED = "corrected"
    REINSTATED = "reinstated"
    SUPERSEDED = "superseded"
    LICENSE_CHANGED = "license_changed"
    TEXT_CHANGED = "text_changed"
    WITHDRAWN = "withdrawn"


_GRAVE = {Drift.RETRACTED, Drift.CONCERN}
DRIFT_LABELS: dict[Drift, str] = {
    Drift.RETRACTED: "Retracted since",
    Drift.CONCERN: "Expression of concern since",
    Drift.CORRECTED: "Corrected since",
    Drift.REINSTATED: "No longer retracted",
    Drift.SUPERSEDED: "Superseded since",
    Drift.LICENSE_CHANGED: "Licence changed since",
    Drift.TEXT_CHANGED: "Text changed since",
    Drift.WITHDRAWN: "Withdrawn since",
}


# What a reader is shown is made of: a row of passages and documents holds several times as much.
_COLUMNS = (
    *(field.name for field in AnswerSource._meta.concrete_fields),
    *(f"chunk__{name}" for name in (
        "public_id", "body", "is_table", "content_sha256", "boxes", "page_start",
    )),
    *(f"document__{name}" for name in (
        "title", "authors", "year", "journal", "url", "file_name", "license_class", "no_derivatives",
        "status", "fixity", "media_type", "page_count", "superseded_by",
    )),
    *(f"document__source__{name}" for name in ("is_retracted", "has_concern", "is_corrected")),
    "document__superseded_by__title",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadableSource:
    """One numbered source. When it is not `available`, only its number and `cited` mean anything.

    One whose document was deleted is `withdrawn`: title, place and hash stay for whoever could see it.
    """

    number: int
    available: bool
    cited: bool
    withdrawn: bool = False
    document_id: str = ""
    passage_id: str = ""
    title: str = ""
    citation: str = ""
    doi: str = ""
    section_path: tuple[str, ...] = ()
    locator: str = ""
    page_start: int | None = None
    page_end: int | None = None
    body: str = ""
    is_table: bool = False
    license_class: str = ""
    license_label: str = ""
    license_now: str = ""
    no_derivatives: bool = False
    bucket: str = ""
    badges: tuple[str, ...] = ()
    superseded_by_id: str = ""
    superseded_by_title: str = ""
    other_versions: tuple[OtherVersion, ...] = ()
    content_sha256: str = ""
    score: float = 0.0
    ranks: tuple[tuple[str, int], ...] = ()
    drift: tuple[Drift, ...] = ()
    authors: tuple[str, ...] = ()
    year: int | None = None
    journal: str = ""
    url: str = ""
    file_name: str = ""
    page_view: PageView | None = None
    cited_spans: tuple[tuple[int, int], ...] = ()
    # The model did not read it: it was called irrelevant to the question when the sources were condensed.
    set_aside: bool = False
    # The model could not read it: its licence keeps it from the provider.
    kept_from_model: bool = False

    @property
    def pages(self) -> str:
        """The page or pages, as a reader writes them: `7` or `7–8`; empty when there are none."""
        if self.page_start is None:
            return ""
        if self.page_end in (None, self.page_start):
            return str(self.page_start)
        return f"{self.page_start}–{self.page_end}"


@dataclass(frozen=True, slots=True)
class ReadableFinding:
    """One finding; `start` and `end` are offsets into the text."""

    sentence: int
    start: int
    end: int
    kind: str
    label: str
    numbers: tuple[int, ...]
    detail: str


@dataclass(frozen=True, slots=True)
class ReadableAnswer:
    """An answer and its sources as far as the reader may see them. `answer` serves its plain facts.

    `text` is empty and `text_withheld` set when the evidence is no longer all the reader's to see.
    """

    answer: Answer
    text: str
    text_withheld: bool
    sources: tuple[ReadableSource, ...]
    findings: tuple[ReadableFinding, ...]
    # Of works that none of the sources is of.
    other_versions: tuple[OtherVersion, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether this is an answer from the sources, as opposed to a refusal or a failure."""
        return self.answer.finish == Answer.Finish.STOP and not self.text_withheld

    @property
    def cited(self) -> tuple[ReadableSource, ...]:
        """The sources that the text cites."""
        return tuple(source for source in self.sources if source.cited)

    @property
    def uncited(self) -> tuple[ReadableSource, ...]:
        """The sources that were retrieved and not cited."""
        return tuple(source for source in self.sources if not source.cited)

    @property
    def warned(self) -> tuple[ReadableSource, ...]:
        """The cited sources whose work was retracted or doubted since: what a reader must know first."""
        return tuple(source for source in self.cited if _GRAVE & set(source.drift))

    @property
    def changed(self) -> tuple[ReadableSource, ...]:
        """The sources that are not as they were, as far as the reader may know what happened to them."""
        return tuple(source for source in self.sources if source.drift)

    @property
    def has_drifted(self) -> bool:
        """Whether anything about the sources is not as it was."""
        return any(source.drift or not source.available for source in self.sources)


def readable(answer: Answer, user: User | AnonymousUser) -> ReadableAnswer | None:
    """Return what `user` may see of `answer` now; None when it is not theirs to read at all."""
    if not _may_read(answer, user):
        return None
    # Retracted work stays visible to whoever opens an old answer: only the ceiling counts here.
    ceiling = ceilings.of(user)
    rows = _rows(answer, RetrievalScope().within(ceiling))
    visible = {key for row in rows for key in _shown(row)}
    others = other_versions.readable(answer, RetrievalScope().within(ceiling))
    sources = tuple(_source(row, visible, ceiling) for row in rows)
    withheld = _text_withheld(answer, sources)
    aside = condensing.set_aside(answer.model_parameters)
    unsent = withholding.withheld(answer.model_parameters)
    # They are stored with the end of an answer.
    known = not withheld and bool(answer.finish)
    findings = sorted(answer.findings.all(), key=_place) if known else []
    return ReadableAnswer(
        answer=answer,
        text="" if withheld else answer.text,
        text_withheld=withheld,
        sources=tuple(
            replace(
                _marked(source, answer.text, findings),
                other_versions=others.get(source.number, ()) if source.available else (),
                set_aside=source.available and source.number in aside,
                kept_from_model=source.available and source.number in unsent,
            )
            for source in sources
        ),
        other_versions=others.get(other_versions.UNATTACHED, ()),
        findings=tuple(_finding(row) for row in findings),
    )


def theirs(user: User | AnonymousUser) -> QuerySet[Answer]:
    """Return the answers that `user` may open at all: their own, and every one for a librarian."""
    if user.is_anonymous or not user.is_active:
        return Answer.objects.none()
    if user.is_superuser:
        return Answer.objects.all()
    librarian = Group.objects.filter(user=user, name=LIBRARIAN)
    return Answer.objects.filter(Q(asked_by=user) | Exists(librarian))


def _may_read(answer: Answer, user: User | AnonymousUser) -> bool:
    if user.is_anonymous or not user.is_active:
        return False
    if user.is_superuser or (answer.asked_by_id is not None and answer.asked_by_id == user.pk):
        return True
    return user.groups.filter(name=LIBRARIAN).exists()


def _rows(answer: Answer, ceiling: RetrievalScope) -> list[AnswerSource]:
    """Return the sources, each with whether its document, and that one's successor, may be shown."""
    visible = Document.objects.within(ceiling).order_by()
    rows = (
        answer.sources.select_related("chunk", "document__source", "document__superseded_by")
        .only(*_COLUMNS)
        .annotate(
            is_shown=Exists(visible.filter(pk=OuterRef("document"))),
            is_successor_shown=Exists(visible.filter(pk=OuterRef("document__superseded_by"))),
        )
    )
    # Here and not by the database: Django compares every column with an order, which takes it milliseconds.
    return sorted(rows, key=lambda row: row.number)


def _shown(row: Any) -> Iterator[object]:
    if row.is_shown:
        yield row.document_id
    if row.is_successor_shown:
        yield row.document.superseded_by_id


def _text_withheld(answer: Answer, sources: Sequence[ReadableSource]) -> bool:
    # What a text cites is known once it has ended; until then it may rest on anything retrieved.
    if answer.engine == EXTRACTIVE and answer.state == Answer.State.DONE:
        return any(source.cited and not source.available for source in sources)
    return any(not source.available for source in sources)


def _source(row: AnswerSource, visible: set[object], ceiling: Ceiling) -> ReadableSource:
    document = row.document
    if document is None and ceiling.covers(row.withdrawn_under, row.bucket):
        return _withdrawn(row)
    if document is None or document.id not in visible:
        return ReadableSource(number=row.number, available=False, cited=row.is_cited)
    chunk = row.chunk if row.chunk and row.chunk.content_sha256 == row.content_sha256 else None
    successor = document.superseded_by if document.superseded_by_id in visible else None
    return ReadableSource(
        number=row.number,
        available=True,
        cited=row.is_cited,
        document_id=str(document.id),
        passage_id=str(chunk.public_id) if chunk else "",
        title=row.title,
        citation=row.citation,
        doi=row.doi,
        section_path=tuple(row.section_path),
        locator=row.locator,
        page_start=row.page_start,
        page_end=row.page_end,
        body=chunk.body if chunk else "",
        is_table=bool(chunk and chunk.is_table),
        license_class=row.license_class,
        license_label=LABELS[LicenseClass(row.license_class)],
        license_now=document.license_class,
        no_derivatives=document.no_derivatives,
        bucket=row.bucket,
        badges=tuple(row.badges),
        superseded_by_id=str(successor.id) if successor else "",
        superseded_by_title=successor.title if successor else "",
        content_sha256=row.content_sha256,
        score=row.score,
        ranks=tuple(sorted(row.ranks.items())),
        drift=tuple(_drift(row, document, chunk)),
        authors=tuple(str(name) for name in document.authors),
        year=document.year,
        journal=document.journal,
        url=document.url,
        file_name=document.file_name,
        page_view=page_views.of_passage(chunk, document) if chunk else None,
    )


def _withdrawn(row: AnswerSource) -> ReadableSource:
    return ReadableSource(
        number=row.number,
        available=False,
        cited=row.is_cited,
        withdrawn=True,
        title=row.title,
        citation=row.citation,
        doi=row.doi,
        locator=row.locator,
        page_start=row.page_start,
        page_end=row.page_end,
        content_sha256=row.content_sha256,
        drift=(Drift.WITHDRAWN,),
    )


def _marked(source: ReadableSource, text: str, findings: Sequence[Finding]) -> ReadableSource:
    """Return the source with the sentences of its passage that the answer's text stands on."""
    citing = [text[row.start : row.end] for row in findings if source.number in row.numbers]
    if not citing or source.is_table:
        return source
    return replace(source, cited_spans=marking.cited_spans(source.body, citing))


def _drift(row: AnswerSource, document: Document, chunk: Chunk | None) -> list[Drift]:
    then, now = set(row.badges), set(browsing.badges(document))
    marks = {
        Drift.RETRACTED: "retracted" in now - then,
        Drift.CONCERN: "concern" in now - then,
        Drift.CORRECTED: "corrected" in now - then,
        Drift.REINSTATED: "retracted" in then - now,
        Drift.SUPERSEDED: "superseded" in now - then,
        Drift.LICENSE_CHANGED: document.license_class != row.license_class,
        Drift.TEXT_CHANGED: chunk is None,
    }
    return [mark for mark, applies in marks.items() if applies]


def _place(row: Finding) -> tuple[int, int]:
    return row.sentence, row.pk


def _finding(row: Finding) -> ReadableFinding:
    return ReadableFinding(
        sentence=row.sentence,
        start=row.start,
        end=row.end,
        kind=row.kind,
        label=row.get_kind_display(),
        numbers=tuple(row.numbers),
        detail=row.detail,
    )
