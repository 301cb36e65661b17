"""The algebra of scopes."""

import pytest

from corpus.rights import LicenseClass, UnknownLicenseClass
from corpus.scope import EVERYTHING, NOTHING, Ceiling, InvalidScope, RetrievalScope, scope


def test_an_empty_allowlist_denies_and_a_missing_one_does_not() -> None:
    assert scope(license_classes=[]).denied
    assert scope(buckets=[]).denied
    assert not scope().denied
    assert not scope(exclude_dois=[]).denied


def test_nobody_without_a_ceiling_sees_anything() -> None:
    assert RetrievalScope().within(NOTHING).denied


def test_a_ceiling_never_widens_a_request() -> None:
    asked = scope(license_classes=["public"], buckets=["reports"])

    assert asked.within(EVERYTHING) == asked
    assert asked.within(Ceiling((LicenseClass.RESTRICTED,), None)).denied


def test_an_unknown_class_is_an_error_not_an_empty_result() -> None:
    with pytest.raises(UnknownLicenseClass, match="'opne'"):
        scope(license_classes=["opne"])


def test_years_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(InvalidScope, match="2020"):
        scope(year_min=2020, year_max=2010)
