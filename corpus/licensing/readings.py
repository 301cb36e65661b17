"""What a licence signal was read as, and how several readings make one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from corpus.rights import LicenseClass, raises

OPEN = frozenset({LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL})


@dataclass(frozen=True, slots=True)
class LicenseReading:
    """The class a signal stands for, and why. `matched_form` is the known form it was recognised by.

    `not_before` is the day from which the signal's own open licence applies, where that day is still to
    come; `then` is the class it gives from that day on.
    """

    license_class: LicenseClass
    no_derivatives: bool
    reason: str
    matched_form: str = ""
    not_before: date | None = None
    then: LicenseClass | None = None

    @property
    def is_open(self) -> bool:
        """Whether the class allows more than holding the text."""
        return self.license_class in OPEN

    @property
    def is_known(self) -> bool:
        """Whether the signal says anything about rights."""
        return self.license_class is not LicenseClass.UNKNOWN


def unknown(reason: str, matched_form: str = "") -> LicenseReading:
    """Return the reading of a signal that establishes nothing."""
    return LicenseReading(
        LicenseClass.UNKNOWN, no_derivatives=False, reason=reason, matched_form=matched_form
    )


def strictest(readings: Iterable[LicenseReading]) -> LicenseReading:
    """Return the one of `readings` that allows least, without derivatives if one of them says so.

    There must be at least one.
    """
    first, *others = readings
    least = first
    for other in others:
        if raises(other.license_class, least.license_class):
            least = other
    return replace(least, no_derivatives=any(one.no_derivatives for one in (first, *others)))
