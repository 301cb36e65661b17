"""What is kept of a note that is deleted, so that it can be kept again."""

from __future__ import annotations

from typing import Any

from answers.notebook.models import Observation

WORDS = ("kind", "title", "text", "is_shared", "last_number", "imported_key")
LINK = (
    "number", "relationship", "named", "named_title", "withdrawn_under", "withdrawn_from", "standing_then",
)  # fmt: skip


def as_kept(note: Observation) -> dict[str, Any]:
    """Return what is needed to keep `note` again, as JSON values."""
    links = note.links.order_by("number")
    return {
        **{name: getattr(note, name) for name in WORDS},
        "answer": note.answer_id and str(note.answer_id),
        "created_at": note.created_at.isoformat(),
        "changed_at": note.changed_at.isoformat(),
        "links": [
            {
                **{name: getattr(link, name) for name in LINK},
                "source": str(link.source_id),
                "document": link.document_id and str(link.document_id),
                "added_at": link.added_at.isoformat(),
            }
            for link in links
        ],
    }
