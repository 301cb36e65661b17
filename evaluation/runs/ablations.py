"""The registered ways of searching that an evaluation compares. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from corpus.domain_profile import GraphProfile
from retrieval.fusion import SCORES, Fusion
from retrieval.profiles import AUTO, DEEP, INTERACTIVE, LAYERS

FULL_DEEP = "full_deep"
RESOLVED = "resolved_entities"
WITH_RERANK = "with_rerank"
_NOTHING: Mapping[str, bool] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way of searching. `reranks`, `walk` and `fusion` are None where they are as always."""

    name: str
    about: str
    profile: str = DEEP
    switches: Mapping[str, bool] = field(default_factory=lambda: _NOTHING)
    reranks: bool | None = None
    walk: GraphProfile | None = None
    fusion: Fusion | None = None
    excludes_retracted: bool = False

    def options(self) -> dict[str, object]:
        """Return what it sets beyond profile and switches, as JSON values."""
        values: dict[str, object] = {}
        if self.reranks is not None:
            values["reranker"] = self.reranks
        if self.walk is not None:
            values["walk"] = self.walk.model_dump()
        if self.fusion is not None:
            values["fusion"] = self.fusion
        if self.excludes_retracted:
            values["exclude_retracted"] = True
        return values


class UnknownConfiguration(ValueError):
    """A configuration that is not registered."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' is not a configuration. Use some of: {', '.join(CONFIGURATIONS)}.")


def _only(*layers: str) -> dict[str, bool]:
    return {layer: layer in layers for layer in LAYERS}


def _without(layer: str) -> dict[str, bool]:
    return {layer: False}


_REGISTERED = (
    Configuration(FULL_DEEP, "every layer, as the domain profile says"),
    Configuration(INTERACTIVE, "the quick profile", profile=INTERACTIVE),
    Configuration("vector_only", "nearness of meaning alone", switches=_only("vector")),
    Configuration("keyword_only", "words alone", switches=_only("keyword")),
    Configuration("no_graph", "without the graph walk", switches=_without("graph")),
    Configuration("no_community", "without communities", switches=_without("community")),
    Configuration("no_hyde", "without the imagined passage", switches=_without("hyde")),
    Configuration(
        "confidence_weighted",
        "the graph walk ranks by its weakest edge before the distance",
        walk=GraphProfile(strongest_path=True),
    ),
    Configuration(
        "with_citations", "the graph walk goes one reference further", walk=GraphProfile(citation_hop=True)
    ),
    Configuration(WITH_RERANK, "the best passages graded once more", reranks=True),
    Configuration("no_rerank", "no grading, whatever the domain profile says", reranks=False),
    Configuration("fused_by_scores", "fusion by scores in place of ranks", fusion=SCORES),
    Configuration("auto_routed", "profile and layers as the router decides", profile=AUTO),
    Configuration("no_retracted", "retracted works left out", excludes_retracted=True),
    Configuration(RESOLVED, "every layer, over a graph whose duplicates were merged"),
)
CONFIGURATIONS: dict[str, Configuration] = {one.name: one for one in _REGISTERED}


def chosen(names: Iterable[str]) -> tuple[Configuration, ...]:
    """Return the named configurations in the registered order, always with what they are compared with.

    Raises `UnknownConfiguration`.
    """
    wanted = {FULL_DEEP, *names}
    for name in wanted:
        if name not in CONFIGURATIONS:
            raise UnknownConfiguration(name)
    return tuple(one for name, one in CONFIGURATIONS.items() if name in wanted)


def of_profile(profile: str) -> tuple[Configuration, ...]:
    """Return the one configuration that searches by a profile without ablations."""
    name = {DEEP: FULL_DEEP, INTERACTIVE: INTERACTIVE, AUTO: "auto_routed"}.get(profile)
    if name is None:
        raise UnknownConfiguration(profile)
    return (CONFIGURATIONS[name],)
