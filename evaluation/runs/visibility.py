"""Which runs somebody may know of: those that touched nothing out of their reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q, QuerySet

from corpus import ceilings
from corpus.models import Document
from corpus.rights import ALL_CLASSES, LicenseClass
from corpus.scope import Ceiling
from evaluation.ground_truth.queries import known_questions
from evaluation.runs.models import EvaluationRun, RunDocument, RunQuestion

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def known_runs(user: User | AnonymousUser) -> QuerySet[EvaluationRun]:
    """Return the runs `user` may know of: what they searched, what they asked, what they found.

    Whoever may not know of one document, of one question or of a part of the scope does not see the run: its
    numbers speak of all of it. What is deleted cannot be looked up any more: its runs show to whoever may see
    unknown rights alone.
    """
    ceiling = ceilings.of(user)
    covered = Document.objects.under(ceiling).order_by().values("id")
    found = RunDocument.objects.filter(run=OuterRef("pk")).exclude(document_ref__in=covered)
    asked = RunQuestion.objects.filter(run=OuterRef("pk")).exclude(source__in=known_questions(user))
    if LicenseClass.UNKNOWN in ceiling.license_classes:
        found = found.filter(Exists(Document.objects.filter(pk=OuterRef("document_ref"))))
        asked = asked.filter(source__isnull=False)
    return EvaluationRun.objects.filter(_searched(ceiling), ~Exists(found), ~Exists(asked))


def _searched(ceiling: Ceiling) -> Q:
    """Return the condition that a run's scope lies within `ceiling`."""
    classes = [str(item) for item in ceiling.license_classes]
    condition = Q(scope__license_classes__contained_by=classes)
    if set(ceiling.license_classes) == set(ALL_CLASSES):
        condition |= Q(scope__license_classes=None)
    if ceiling.buckets is not None:
        condition &= Q(scope__buckets__contained_by=list(ceiling.buckets))
    return condition
