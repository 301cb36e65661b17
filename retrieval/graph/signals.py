"""What the graph does when a document goes: things that it alone named go with it, at once.

Mentions and edges go by their keys. A name without them would still be words of a document that nobody may
keep, so it does not wait for the next `graph gc`.
"""

from __future__ import annotations

from typing import Any

from corpus.models import Document
from retrieval.graph.actions import gc
from retrieval.graph.models import Mention

_NAMED = "_named_in_graph"


def remember_what_it_names(*, instance: Document, **_: Any) -> None:
    """Note the entities that a document mentions, before its mentions go."""
    mentions = Mention.objects.filter(document=instance)
    setattr(instance, _NAMED, list(mentions.order_by().values_list("entity_id", flat=True).distinct()))


def remove_what_nothing_else_names(*, instance: Document, **_: Any) -> None:
    """Remove those that no other document mentions."""
    named = getattr(instance, _NAMED, [])
    if named:
        gc.collect_of(entities=named)
