"""What waits for a person among the answers, beside what waits in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from answers import alerts
from corpus.waiting import Waiting

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def waiting(user: User | AnonymousUser) -> list[Waiting]:
    """Return what waits for `user`, counting only what their ceiling covers and they may look at."""
    if not user.has_perm("answers.view_answer"):
        return []
    return [
        Waiting(
            _("Answers that cite a work retracted or doubted since"),
            _("Each carries a warning, and whoever asked was told. See whether something rests on them."),
            alerts.affected_under_ceiling(user).count(),
            f"{reverse('admin:answers_answer_changelist')}?cites=warned",
            "danger",
        )
    ]
