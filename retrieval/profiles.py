"""Profiles: which layers a request runs, and how long each may take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from corpus.domain_profile import DomainProfile, LayerProfile
from retrieval.layers.registered import REGISTERED

INTERACTIVE, DEEP, AUTO = "interactive", "deep", "auto"


class UnknownProfile(ValueError):
    """A profile that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' is not a profile. Use one of: {', '.join(NAMES)}.")


class UnknownLayer(ValueError):
    """A layer that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' is not a layer. Use one of: {', '.join(LAYERS)}.")


@dataclass(frozen=True, slots=True)
class Profile:
    """`seconds` bounds a layer's work in the database; what a model takes comes on top."""

    name: str
    layers: tuple[str, ...]
    seconds: float


LAYERS = tuple(layer.name for layer in REGISTERED)
PROFILES = {
    INTERACTIVE: Profile(INTERACTIVE, ("vector", "keyword"), 8.0),
    DEEP: Profile(DEEP, LAYERS, 30.0),
}
NAMES = (*PROFILES, AUTO)


def profile(name: str) -> Profile:
    """Return the profile called `name`; raise `UnknownProfile` for any other."""
    try:
        return PROFILES[name]
    except KeyError:
        raise UnknownProfile(name) from None


def check(name: str) -> None:
    """Raise `UnknownProfile` unless `name` is a profile or `auto`."""
    if name not in NAMES:
        raise UnknownProfile(name)


def switched(layers: Iterable[str], switches: Mapping[str, bool]) -> tuple[str, ...]:
    """Return `layers` with each layer of `switches` put in or taken out, in the order of `LAYERS`.

    Raises `UnknownLayer`.
    """
    for name in switches:
        if name not in LAYERS:
            raise UnknownLayer(name)
    chosen = set(layers)
    return tuple(name for name in LAYERS if switches.get(name, name in chosen))


def weights(domain: DomainProfile) -> dict[str, Fraction]:
    """Return what each layer's vote counts, exactly as the domain profile writes it."""
    return {name: Fraction(str(values.weight)) for name, values in _counts(domain).items()}


def pool(domain: DomainProfile, layer: str, limit: int) -> int:
    """Return how many candidates a layer hands over, never fewer than are asked for."""
    return max(_counts(domain)[layer].pool, limit)


def _counts(domain: DomainProfile) -> dict[str, LayerProfile]:
    return {layer.name: getattr(domain.layers, layer.name, layer.counts) for layer in REGISTERED}
