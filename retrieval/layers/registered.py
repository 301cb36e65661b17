"""The ways to search for passages. A new one is a module beside this one and a line in `REGISTERED`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from corpus.domain_profile import LayerProfile

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

# What a layer counts and hands over that the domain profile says nothing of.
_UNSAID = LayerProfile(weight=0.5)


@dataclass(frozen=True, slots=True)
class Registered:
    """One layer: its name, its class as a dotted path, and what a page calls it.

    The path is followed when something is searched: what only needs the names loads no layer. `counts` is
    for layers of which the domain profile says nothing.
    """

    name: str
    place: str
    words: StrOrPromise
    counts: LayerProfile = _UNSAID


# In the order in which they are named and shown. The profile `deep` runs all of them.
REGISTERED = (
    Registered("vector", "retrieval.layers.vector.VectorLayer", gettext_lazy("vector similarity")),
    Registered("keyword", "retrieval.layers.keyword.KeywordLayer", gettext_lazy("keywords")),
    Registered("graph", "retrieval.layers.graph.GraphLayer", gettext_lazy("entity graph")),
    Registered("community", "retrieval.layers.community.CommunityLayer", gettext_lazy("community summaries")),
    Registered("hyde", "retrieval.layers.hyde.HydeLayer", gettext_lazy("hypothetical passage")),
)
