"""What a sign-in provider says of a person, read strictly: who they are called and which groups it names.

Everything here was written by somebody else's server. What is not of the form that was agreed is left out,
never guessed at: a group that is missed narrows, one that is made up would widen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Nobody is in more groups that this site is told of; a provider that sends more has to be told which.
MOST_GROUPS = 2_000
LONGEST_GROUP = 255
_NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")


class TooManyGroups(ValueError):
    """The claim names more groups than are read: which of them count would be chance."""


@dataclass(frozen=True, slots=True)
class Vouched:
    """A person as the provider names them, after all checks of where that came from."""

    issuer: str
    subject: str
    groups: frozenset[str]
    username: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""


def vouched(claims: Mapping[str, Any], *, issuer: str, groups_claim: str) -> Vouched:
    """Return the person that verified `claims` are about; raise `TooManyGroups`."""
    return Vouched(
        issuer=issuer,
        subject=str(claims["sub"]),
        groups=groups_in(claims, groups_claim),
        username=_username(claims),
        first_name=_words(claims.get("given_name"), 150),
        last_name=_words(claims.get("family_name"), 150),
        email=_email(claims.get("email")),
    )


def groups_in(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """Return the groups that the claim `name` holds: of a list each, of a text or a number that one.

    The name may lead through objects with dots, as `realm_access.roles` does. What is nested in a list, an
    object, a truth value or nothing at all names no group.
    """
    found = _at(claims, name)
    values = found if isinstance(found, list) else [found]
    if len(values) > MOST_GROUPS:
        raise TooManyGroups
    return frozenset(group for group in map(_group, values) if group is not None)


def _at(claims: Mapping[str, Any], name: str) -> Any:
    # A name may itself have dots: some providers call their claims by an address.
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return found


def _group(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    # An int of any length is read from JSON; writing a long one out takes its square in time.
    if isinstance(value, int) and value.bit_length() > 256:
        return None
    text = str(value)
    return text if is_group(text) else None


def is_group(text: str) -> bool:
    """Whether `text` can be the name of a group at a provider, compared to the letter."""
    return bool(text) and len(text) <= LONGEST_GROUP and text == text.strip() and text.isprintable()


def _username(claims: Mapping[str, Any]) -> str:
    for claim in ("preferred_username", "email", "name"):
        value = claims.get(claim)
        if isinstance(value, str):
            name = unicodedata.normalize("NFKC", value[:500]).strip()
            name = name.partition("@")[0] if claim == "email" else name
            name = _NOT_IN_NAMES.sub("-", name).strip("-")[:140]
            if name:
                return name
    return "person"


def _words(value: Any, longest: int) -> str:
    if not isinstance(value, str):
        return ""
    return " ".join("".join(c if c.isprintable() else " " for c in value[:1000]).split())[:longest]


def _email(value: Any) -> str:
    found = _words(value, 255)
    return found if "@" in found and " " not in found and len(found) <= 254 else ""
