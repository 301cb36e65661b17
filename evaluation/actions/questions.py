"""Writing, changing, signing and retiring questions; each is recorded with its doer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from corpus import verbatim
from corpus.models import Document
from corpus.scope import RetrievalScope
from evaluation.ground_truth.binding import Binder, Piece, missing
from evaluation.ground_truth.models import Evidence, Question, QuestionEvent, QuestionSet
from evaluation.ground_truth.queries import seed_of
from evaluation.questions import SeedQuestion
from evaluation.runs.models import RunQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from answers.feedback import WrongReport

Kind = QuestionEvent.Kind
Origin = Question.Origin


class QuestionError(ValueError):
    """What was asked for cannot be done; the message is for whoever asked."""


class NameTaken(QuestionError):
    """There is a set, or in the set a question, of this name."""


class EvidenceNotFound(QuestionError):
    """Evidence that stands in no document the writer may see; `missing` says which."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(f"No document that you may see holds {'; '.join(missing)}.")
        self.missing = tuple(missing)


class ChangedMeanwhile(QuestionError):
    """Somebody has changed the question since it was read."""

    def __init__(self) -> None:
        super().__init__("Somebody has changed this question meanwhile: read it again.")


@dataclass(frozen=True, slots=True)
class Writing:
    """Under what a question is written: what its writer may see, and whether evidence has to be there."""

    scope: RetrievalScope
    must_be_found: bool = True


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a question comes from."""

    origin: Question.Origin = Origin.WRITTEN
    wrong_report: WrongReport | None = None
    note: str = ""


WRITTEN = Provenance()


def add_set(*, name: str, description: str = "", by: User | None) -> QuestionSet:
    """Make an empty set. Raises `NameTaken`."""
    try:
        with transaction.atomic():
            return QuestionSet.objects.create(name=name, description=description, created_by=by)
    except IntegrityError:
        raise NameTaken(
            f"There is a set called {name}, or that is no name: use a-z, 0-9, '.', '_', '-'."
        ) from None


@transaction.atomic
def add(
    *,
    question_set: QuestionSet,
    seed: SeedQuestion,
    writing: Writing,
    provenance: Provenance = WRITTEN,
    by: User | None,
) -> Question:
    """Write a draft with its evidence, found where it stands. Raises `NameTaken` and `EvidenceNotFound`."""
    pieces = _found(seed, writing)
    if question_set.questions.filter(key=seed.id).exists():
        raise NameTaken(f"The set has a question called {seed.id} already.")
    question = Question(question_set=question_set, key=seed.id, created_by=by, origin=provenance.origin)
    question.wrong_report = provenance.wrong_report
    _fill(question, seed)
    question.save()
    _replace_evidence(question, pieces)
    _record(question, Kind.CREATED, by, provenance.note)
    return question


@transaction.atomic
def change(
    *, question: Question, seed: SeedQuestion, seen_sha256: str, writing: Writing, by: User | None
) -> Question:
    """Write a question anew; a signature it had is withdrawn. The same content again changes nothing.

    Raises `ChangedMeanwhile` when `seen_sha256` is not what it holds, `NameTaken` and `EvidenceNotFound`.
    """
    row = _locked(question, seen_sha256)
    if seed.content_sha256() == row.content_sha256:
        return row
    pieces = _found(seed, writing)
    if seed.id != row.key and row.question_set.questions.filter(key=seed.id).exists():
        raise NameTaken(f"The set has a question called {seed.id} already.")
    was_signed = not row.drafted
    _unsign(row)
    _fill(row, seed)
    row.changed_at = timezone.now()
    row.save()
    _replace_evidence(row, pieces)
    _record(row, Kind.CHANGED, by)
    if was_signed:
        _record(row, Kind.UNSIGNED, by, "the question was changed")
    return row


@transaction.atomic
def sign(*, question: Question, seen_sha256: str, by: User) -> Question:
    """Sign the content that `by` has read. Raises `ChangedMeanwhile`; signing again changes nothing."""
    row = _locked(question, seen_sha256)
    if row.retired_at is not None:
        raise QuestionError("This question is retired: take it up again before signing it.")
    if row.drafted:
        _sign(row, name=by.get_username(), at=timezone.now(), by=by)
        row.save()
        _record(row, Kind.SIGNED, by)
    return row


@transaction.atomic
def accept_signature(*, question: Question, name: str, at: datetime, note: str, by: User | None) -> Question:
    """Take over a signature that was given elsewhere, on the word of whoever runs this; the log says so."""
    row = _locked(question)
    if row.drafted:
        _sign(row, name=name, at=at, by=None)
        row.save()
        _record(row, Kind.SIGNED, by, note, by_name=name)
    return row


@transaction.atomic
def unsign(*, question: Question, by: User) -> Question:
    """Make a question a draft again."""
    row = _locked(question)
    if not row.drafted:
        _unsign(row)
        row.save()
        _record(row, Kind.UNSIGNED, by)
    return row


@transaction.atomic
def retire(*, question: Question, by: User | None, note: str = "") -> Question:
    """Leave a question out of what is asked; it stays, and so do the runs that asked it."""
    row = _locked(question)
    if row.retired_at is None:
        row.retired_at = timezone.now()
        row.save(update_fields=["retired_at"])
        _record(row, Kind.RETIRED, by, note)
    return row


@transaction.atomic
def restore(*, question: Question, by: User | None) -> Question:
    """Ask a retired question again. Raises `QuestionError` when its evidence is gone."""
    row = _locked(question)
    if row.retired_at is not None:
        if not row.unanswerable and not row.evidence.exclude(phrase="", doi="", title="").exists():
            raise QuestionError("The evidence of this question is gone: name other evidence first.")
        row.retired_at = None
        row.save(update_fields=["retired_at"])
        _record(row, Kind.RESTORED, by)
    return row


@transaction.atomic
def forget_words(*, document: Document) -> int:
    """Take the quotations of a document that is about to be deleted out of questions, and retire those.

    Expected answers that quote it lose the quotation, also where a run asked for them.

    Returns how many questions that were. Their pointers stay, so that who may see what is gone is told apart.
    """
    rows = Evidence.objects.filter(document=document)
    keys = list(rows.order_by("question_id").values_list("question_id", flat=True).distinct())
    rows.exclude(phrase="").update(
        phrase="", passage_sha256="", locator="", document_sha256=document.content_sha256
    )
    _unquote(document, keys)
    for question in Question.objects.select_for_update().filter(pk__in=keys).order_by("pk"):
        _unsign(question)
        question.content_sha256 = hashlib.sha256(f"{question.content_sha256} less words".encode()).hexdigest()
        question.retired_at = question.retired_at or timezone.now()
        question.save()
        _record(question, Kind.RETIRED, None, "a document that its evidence stands in was deleted")
    return len(keys)


def _unquote(document: Document, questions: Sequence[UUID]) -> None:
    def passages() -> Iterator[str]:
        return document.chunks.order_by("ordinal").values_list("body", flat=True).iterator(500)

    asked = RunQuestion.objects.filter(source__in=questions)
    for rows in (Question.objects.filter(pk__in=questions), asked):
        for column in ("question", "reference_answer"):
            texts = {str(key): text for key, text in rows.order_by("pk").values_list("pk", column)}
            for key, left in verbatim.without(texts, passages()).items():
                rows.filter(pk=key).update(**{column: left})


@transaction.atomic
def find_again(*, questions: Sequence[Question], scope: RetrievalScope) -> int:
    """Bind evidence whose document was taken in again or only now; return how many pieces found a place."""
    binder, count = Binder(scope), 0
    for question in questions:
        lost = [row for row in question.evidence.all() if row.document_id is None]
        if not lost:
            continue
        for row, piece in zip(_in_order(question), binder.pieces(seed_of(question)), strict=True):
            if row.document_id is None and piece.place is not None:
                _point(row, piece)
                row.save()
                count += 1
    return count


def _in_order(question: Question) -> list[Evidence]:
    """Return the evidence as `Binder.pieces` does: by DOI, by title, phrases."""
    rows = sorted(question.evidence.all(), key=lambda row: row.number)
    whole = [row for row in rows if not row.phrase and (row.doi or row.title)]
    return [
        *(row for row in whole if not row.title),
        *(row for row in whole if row.title),
        *(row for row in rows if row.phrase),
    ]


def _found(seed: SeedQuestion, writing: Writing) -> tuple[Piece, ...]:
    pieces = Binder(writing.scope).pieces(seed)
    if writing.must_be_found and (lacking := missing(pieces)):
        raise EvidenceNotFound(lacking)
    return pieces


def _locked(question: Question, seen_sha256: str | None = None) -> Question:
    row = Question.objects.select_for_update(of=("self",)).select_related("question_set").get(pk=question.pk)
    if seen_sha256 is not None and seen_sha256 != row.content_sha256:
        raise ChangedMeanwhile
    return row


def _fill(question: Question, seed: SeedQuestion) -> None:
    question.key, question.question, question.reference_answer = seed.id, seed.question, seed.reference_answer
    question.kind, question.split, question.tags = seed.kind, seed.split, list(seed.tags)
    question.unanswerable, question.author = seed.unanswerable, seed.author
    question.content_sha256 = seed.content_sha256()


def _replace_evidence(question: Question, pieces: Sequence[Piece]) -> None:
    question.evidence.all().delete()
    rows = []
    for number, piece in enumerate(pieces, start=1):
        row = Evidence(
            question=question, number=number, phrase=piece.phrase, doi=piece.doi, title=piece.title
        )
        _point(row, piece)
        rows.append(row)
    Evidence.objects.bulk_create(rows)


def _point(row: Evidence, piece: Piece) -> None:
    """Write down where a piece is; where it was said to be when it is not found."""
    if piece.place is not None:
        row.document_id = piece.place.document_id
        row.document_sha256 = piece.place.document_sha256
        row.passage_sha256, row.locator = piece.place.passage_sha256, piece.place.locator
        row.doi = row.doi or (piece.place.doi if piece.phrase else "")
    elif piece.pointer is not None:
        row.document_sha256, row.doi = piece.pointer.document_sha256, piece.pointer.doi
        row.passage_sha256, row.locator = piece.pointer.passage_sha256, piece.pointer.locator


def _sign(question: Question, *, name: str, at: datetime, by: User | None) -> None:
    question.signed_by, question.signed_by_name = by, name
    question.signed_at, question.signed_sha256 = at, question.content_sha256


def _unsign(question: Question) -> None:
    question.signed_by, question.signed_by_name = None, ""
    question.signed_at, question.signed_sha256 = None, ""


def _record(
    question: Question, kind: QuestionEvent.Kind, by: User | None, note: str = "", *, by_name: str = ""
) -> None:
    QuestionEvent.objects.create(
        question=question,
        kind=kind,
        content_sha256=question.content_sha256,
        by=by,
        by_name=by_name or ("" if by is None else by.get_username()),
        note=note[:300],
    )
