"""Which runs somebody may know of: those that touched nothing out of their reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet

from corpus import ceilings
from corpus.models import Document
from corpus.rights import LicenseClass
from evaluation.runs.models import EvaluationRun, RunDocument

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def known_runs(user: User | AnonymousUser) -> QuerySet[EvaluationRun]:
    """Return the runs all of whose documents `user` may know of.

    What is deleted cannot be looked up any more: its runs show to whoever may see unknown rights alone.
    """
    ceiling = ceilings.of(user)
    covered = Document.objects.under(ceiling).order_by().values("id")
    hidden = RunDocument.objects.filter(run=OuterRef("pk")).exclude(document_ref__in=covered)
    if LicenseClass.UNKNOWN in ceiling.license_classes:
        hidden = hidden.filter(Exists(Document.objects.filter(pk=OuterRef("document_ref"))))
    return EvaluationRun.objects.filter(~Exists(hidden))
