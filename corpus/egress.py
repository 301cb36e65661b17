"""Which licence classes may leave for which provider, and for what. What nothing allows stays here.

`domain/egress.yaml` says it; without the file only open classes leave. Text that belongs to no document,
such as a question, is no matter of this: its classes are `NOTHING_HELD`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from corpus.domain_profile import checked
from corpus.rights import ALL_CLASSES, CLOSED, LicenseClass
from corpus.usage.purposes import Purpose

FILE: Final = "egress.yaml"
LOOPBACK: Final = "loopback"

Classes = frozenset[LicenseClass]
NOTHING_HELD: Final[Classes] = frozenset()
EVERY_CLASS: Final[Classes] = frozenset(ALL_CLASSES)

_Name = Annotated[str, Field(min_length=1, max_length=300)]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked. `host` is empty where the provider's own address is used."""

    model: str
    host: str = ""
    port: int | None = None
    # Something between may read along, wherever the address points.
    is_proxied: bool = False

    @property
    def provider(self) -> str:
        """Return the first part of the model's name, as litellm reads it."""
        return self.model.partition("/")[0]

    @property
    def is_on_loopback(self) -> bool:
        """Whether the address is this machine's own. Names are not looked up: another answer may follow."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Rule(_Model):
    """What one provider, or one model of it, may read; for some purposes or for all."""

    provider: _Name
    purposes: Annotated[tuple[Purpose, ...], Field(min_length=1)] | None = None
    classes: tuple[LicenseClass, ...]

    def fits(self, endpoint: Endpoint, purpose: Purpose) -> bool:
        """Say whether this rule is about such a call."""
        is_named = self.provider in {endpoint.provider, endpoint.model}
        return is_named and (self.purposes is None or purpose in self.purposes)


class EgressPolicy(_Model):
    """The table: classes by provider and purpose. The first rule that fits decides, else `outside`."""

    local: tuple[_Name, ...] = (LOOPBACK,)
    outside: tuple[LicenseClass, ...] = tuple(each for each in ALL_CLASSES if each not in CLOSED)
    rules: Annotated[tuple[Rule, ...], Field(max_length=200)] = ()

    def is_local(self, endpoint: Endpoint) -> bool:
        """Say whether what is sent to `endpoint` stays with us."""
        if endpoint.is_proxied or not endpoint.host:
            return False
        if LOOPBACK in self.local and endpoint.is_on_loopback:
            return True
        # An address with its port is that server alone; a name without one is the whole machine.
        return endpoint.host in self.local or f"{endpoint.host}:{endpoint.port}" in self.local

    def allowed(self, endpoint: Endpoint, purpose: Purpose) -> Classes:
        """Return the classes whose text may go to `endpoint` for `purpose`."""
        if self.is_local(endpoint):
            return EVERY_CLASS
        rule = next((rule for rule in self.rules if rule.fits(endpoint, purpose)), None)
        return frozenset(self.outside if rule is None else rule.classes)


def active_policy() -> EgressPolicy:
    """Return the table of this installation, read again when it has changed; raise `InvalidProfile`."""
    path = settings.DOMAIN_DIR / FILE
    try:
        changed = path.stat().st_mtime_ns
    except FileNotFoundError:
        return EgressPolicy()
    return _read(path, changed)


@lru_cache(maxsize=4)
def _read(path: Path, _changed: int) -> EgressPolicy:
    return checked(path, EgressPolicy)


def classes_of(names: Iterable[str]) -> Classes:
    """Return stored names of classes as what a request carries."""
    return frozenset(map(LicenseClass, names))
