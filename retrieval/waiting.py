"""What waits for a person in the knowledge graph, beside what waits in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from corpus.waiting import Waiting
from retrieval.graph import deciding, merge_queue

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def waiting(user: User | AnonymousUser) -> list[Waiting]:
    """Return what waits for `user`: nothing for who may not see every document, since pairs come from all."""
    if not deciding.may_decide(user):
        return []
    return [
        Waiting(
            _("Entities that may be one"),
            _("Names that look like the same thing. Until somebody says so they are two."),
            merge_queue.waiting().count(),
            reverse("admin:retrieval_mergeproposal_queue"),
            "caution",
        )
    ]
