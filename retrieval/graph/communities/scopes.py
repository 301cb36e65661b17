"""The scopes that communities are built for: those the domain profile names."""

from __future__ import annotations

from corpus.domain_profile import active_profile
from corpus.models import Document
from corpus.querysets import DocumentQuerySet
from corpus.scope import RetrievalScope


class UnknownScopeName(ValueError):
    """A name that the domain profile gives to no scope."""


def named() -> dict[str, RetrievalScope]:
    """Return the named scopes, in the order of the profile."""
    return {name: one.scope() for name, one in active_profile().community_scopes.items()}


def scope_named(name: str) -> RetrievalScope:
    """Return the scope called `name`; raise `UnknownScopeName`."""
    known = named()
    if name not in known:
        there = f"Those that domain.yaml names are: {', '.join(known)}." if known else "There is none."
        raise UnknownScopeName(f"No scope is called {name!r}. {there}")
    return known[name]


def contributors(wanted: RetrievalScope) -> DocumentQuerySet:
    """Return the documents that communities of `wanted` may be made of.

    Those it allows, without those whose licence forbids derivatives: a summary is one.
    """
    return Document.objects.within(wanted).filter(no_derivatives=False)
