"""Keeping what a look at a held document found, and holding it back where that is suspicious and unread."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pghistory
from django.db import transaction
from django.utils import timezone

from corpus import places, suspicion
from corpus.actions.quarantine import SUSPICIOUS, say_so
from corpus.models import Document
from corpus.parsing.hidden import Hidden

PROCESS = "corpus scan"
State = Document.State


@transaction.atomic
def keep(*, document_id: UUID, read_from: str, hidden: Sequence[Hidden]) -> bool:
    """Keep the hidden text that was found in a document's original; return whether it is held back by it.

    What a person has read and let go holds it back no more. `read_from` is the hash of the text that was
    looked at: with another one nothing is kept, and the document stays due. Raises `Document.DoesNotExist`.
    """
    document = Document.objects.select_for_update().get(pk=document_id)
    if document.content_sha256 != read_from:
        return False
    document.extra = places.with_hidden(document.extra, hidden)
    document.scanned_under = suspicion.VERSION
    is_held = document.state == State.READY and bool(places.unread(document))
    if is_held:
        document.state, document.state_reason = State.QUARANTINED, SUSPICIOUS
    document.updated_at = timezone.now()
    with pghistory.context(process=PROCESS, reason="Found by the rules of today"):
        document.save(update_fields=["extra", "scanned_under", "state", "state_reason", "updated_at"])
    if is_held:
        say_so(document)
    return is_held
