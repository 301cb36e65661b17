"""What a key may be allowed to do."""

from __future__ import annotations

from enum import StrEnum


class Permission(StrEnum):
    """One thing a key allows, beside and never beyond what its owner may do."""

    QUERY = "retrieval:query"
    ANSWER = "retrieval:answer"
    READ = "corpus:read"
    WRITE = "corpus:write"


ALL_PERMISSIONS = tuple(Permission)
LABELS = {
    Permission.QUERY: "Search the corpus",
    Permission.ANSWER: "Have questions answered",
    Permission.READ: "Read documents, passages, entities and notes",
    Permission.WRITE: "Take files in and keep notes",
}


class UnknownPermission(ValueError):
    """A permission that does not exist; the message lists those that do."""


def parse_permission(name: str) -> Permission:
    """Return the permission called `name`; raise `UnknownPermission` when there is none."""
    try:
        return Permission(name)
    except ValueError:
        known = ", ".join(ALL_PERMISSIONS)
        raise UnknownPermission(f"{name!a} is not a permission of a key. Use: {known}.") from None
