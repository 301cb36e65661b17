"""Which questions somebody may know of, and questions as they are written in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet

from corpus import ceilings
from evaluation.ground_truth.models import Evidence, Question, QuestionSet
from evaluation.questions import Pointer, SeedQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def known_questions(user: User | AnonymousUser) -> QuerySet[Question]:
    """Return the questions all of whose evidence `user` may know of: their words repeat what was read."""
    known = ceilings.about_covered_documents(user, lookup="document")
    hidden = Evidence.objects.filter(question=OuterRef("pk")).exclude(known)
    return Question.objects.filter(~Exists(hidden))


def known_sets(user: User | AnonymousUser) -> QuerySet[QuestionSet]:
    """Return the sets `user` may know of: those of which they may know a question, and the empty ones.

    Each counts the questions that they may know of, and how many of those are asked and signed.
    """
    known = known_questions(user)
    any_question = Question.objects.filter(question_set=OuterRef("pk"))
    asked = Q(questions__in=known, questions__retired_at__isnull=True)
    return QuestionSet.objects.filter(
        Exists(known.filter(question_set=OuterRef("pk"))) | ~Exists(any_question)
    ).annotate(
        asked=Count("questions", filter=asked),
        signed=Count("questions", filter=asked & Q(questions__signed_at__isnull=False)),
    )


def sets_to_ask(user: User | AnonymousUser) -> QuerySet[QuestionSet]:
    """Return the sets with a question that is asked and that `user` may know of."""
    known = known_questions(user).filter(question_set=OuterRef("pk"), retired_at__isnull=True)
    return QuestionSet.objects.filter(Exists(known))


def asked(question_set: QuestionSet) -> QuerySet[Question]:
    """Return the questions of a set that are asked, in order of their keys, with their evidence."""
    return with_evidence(question_set.questions.filter(retired_at__isnull=True)).order_by("key", "pk")


def with_evidence(questions: QuerySet[Question]) -> QuerySet[Question]:
    """Fetch the evidence along with the questions."""
    rows = Evidence.objects.order_by("number", "pk").select_related("document")
    return questions.prefetch_related(Prefetch("evidence", queryset=rows))


def seed_of(question: Question) -> SeedQuestion:
    """Return a question as files write it."""
    rows = sorted(question.evidence.all(), key=lambda row: row.number)
    whole = [row for row in rows if not row.phrase]
    phrases = [row for row in rows if row.phrase]
    return SeedQuestion(
        id=question.key,
        question=question.question,
        reference_answer=question.reference_answer,
        reference_documents=tuple(row.doi for row in whole if row.doi and not row.title),
        reference_titles=tuple(row.title for row in whole if row.title),
        evidence_phrases=tuple(row.phrase for row in phrases),
        pointers=tuple(_pointer(row) for row in phrases if row.document_sha256),
        tags=tuple(question.tags),
        kind=question.kind,  # type: ignore[arg-type]  # the database knows the same words
        split=question.split,  # type: ignore[arg-type]
        unanswerable=question.unanswerable,
        drafted=question.drafted,
        author=question.author,
        signed_by=question.signed_by_name or None,
        signed_at=question.signed_at,
    )


def _pointer(row: Evidence) -> Pointer:
    return Pointer(
        phrase=row.phrase,
        document_sha256=row.document_sha256,
        doi=row.doi,
        passage_sha256=row.passage_sha256,
        locator=row.locator,
    )
