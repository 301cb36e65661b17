"""What is built, for which scope, and whether the graph has changed since."""

from __future__ import annotations

from corpus.scope import RetrievalScope
from retrieval.graph.communities import scopes
from retrieval.graph.communities.reading import Graph
from retrieval.graph.communities.scopes import UnknownScopeName
from retrieval.graph.community_models import CommunityBuild


def current_build(scope: RetrievalScope) -> CommunityBuild | None:
    """Return the current build of exactly `scope`, whatever it is called; None when there is none.

    Whether it is up to date says `is_stale`. Whether every document it was read from is still eligible is
    to be asked wherever something of it is shown: that changes without the build.
    """
    built = CommunityBuild.objects.filter(is_current=True, scope=scope.selection.as_dict())
    return built.order_by("scope_name", "pk").first()


def current_build_of(name: str) -> CommunityBuild | None:
    """Return the current build of the scope called `name`."""
    return CommunityBuild.objects.filter(is_current=True, scope_name=name).first()


def is_stale(build: CommunityBuild) -> bool:
    """Say whether its name stands for another scope by now, or the graph of its scope is another.

    That is an edge or a document more or less, other rights or another status of one, or a community gone.
    Every edge is looked at: milliseconds for thousands, a third of a second for 100,000.
    """
    try:
        wanted = scopes.scope_named(build.scope_name)
    except UnknownScopeName:
        return True
    return not stands(build, wanted, stamp(wanted))


def serves(build: CommunityBuild) -> bool:
    """Say whether every document it was read from may still contribute; questions are not given it else."""
    try:
        allowed = scopes.contributors(scopes.scope_named(build.scope_name)).order_by().values("pk")
    except UnknownScopeName:
        return False
    return build.read.filter(document__in=allowed).count() == build.documents_read


def stands(build: CommunityBuild, wanted: RetrievalScope, stamp: str) -> bool:
    """Say whether `build` is whole, and of `wanted` with the graph that has this stamp."""
    return (
        build.scope == wanted.selection.as_dict()
        and build.graph_sha256 == stamp
        and build.communities.count() == build.size
    )


def stamp(wanted: RetrievalScope) -> str:
    """Return the hash of the graph as `wanted` sees it."""
    return Graph(wanted).stamp()
