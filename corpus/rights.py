"""Licence classes and what may follow from them."""

from __future__ import annotations

from enum import StrEnum


class LicenseClass(StrEnum):
    """What a document's rights allow. `unknown` is the default, and unsafe."""

    PUBLIC = "public"
    OPEN_COMMERCIAL = "open_commercial"
    OPEN_NONCOMMERCIAL = "open_noncommercial"
    RESTRICTED = "restricted"
    UNKNOWN = "unknown"


ALL_CLASSES: tuple[LicenseClass, ...] = tuple(LicenseClass)
EXTERNAL_SAFE: tuple[LicenseClass, ...] = (LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL)
CLOSED: tuple[LicenseClass, ...] = (LicenseClass.RESTRICTED, LicenseClass.UNKNOWN)

# From what may be done least to most. A move to the left is lowering, to the right is raising.
_STRICTNESS = (
    LicenseClass.UNKNOWN,
    LicenseClass.RESTRICTED,
    LicenseClass.OPEN_NONCOMMERCIAL,
    LicenseClass.OPEN_COMMERCIAL,
    LicenseClass.PUBLIC,
)

LABELS: dict[LicenseClass, str] = {
    LicenseClass.PUBLIC: "Public domain",
    LicenseClass.OPEN_COMMERCIAL: "Open, commercial use allowed",
    LicenseClass.OPEN_NONCOMMERCIAL: "Open, non-commercial",
    LicenseClass.RESTRICTED: "Restricted",
    LicenseClass.UNKNOWN: "Unknown",
}


class UnknownLicenseClass(ValueError):
    """A name that is none of the five classes."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' is not a licence class. Use one of: {', '.join(ALL_CLASSES)}.")


def parse_class(name: str) -> LicenseClass:
    """Return the class called `name`; raise `UnknownLicenseClass` for anything else."""
    try:
        return LicenseClass(name)
    except ValueError:
        raise UnknownLicenseClass(name) from None


def raises(before: LicenseClass, after: LicenseClass) -> bool:
    """Say whether going from `before` to `after` allows more than was allowed."""
    return _STRICTNESS.index(after) > _STRICTNESS.index(before)
