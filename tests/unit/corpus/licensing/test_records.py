"""Licences in Crossref records and JATS articles: every element, its version, and the day it begins."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus.licensing import JatsLicense, normalise
from corpus.licensing.readings import OPEN
from corpus.rights import LicenseClass

BY, BY_NC_ND = (
    "https://creativecommons.org/licenses/by/4.0/",
    "https://creativecommons.org/licenses/by-nc-nd/4.0/",
)
MINING, TERMS = (
    "https://www.elsevier.com/tdm/userlicense/1.0/",
    "http://onlinelibrary.wiley.com/termsAndConditions#vor",
)
TODAY = date(2026, 6, 1)


def element(url: str, version: str = "vor", start: Sequence[int] = (2020, 1, 1)) -> dict[str, Any]:
    return {
        "URL": url,
        "content-version": version,
        "delay-in-days": 0,
        "start": {"date-parts": [list(start)]},
    }


def test_the_whole_array_is_read_not_its_first_element() -> None:
    reading = normalise([element(MINING, "tdm"), element(BY_NC_ND)], on=TODAY)
    assert reading.license_class is LicenseClass.OPEN_NONCOMMERCIAL
    assert reading.no_derivatives


def test_terms_for_mining_alone_are_restricted() -> None:
    assert normalise([element(MINING, "tdm")], on=TODAY).license_class is LicenseClass.RESTRICTED


def test_an_open_licence_for_mining_alone_opens_nothing() -> None:
    assert normalise([element(BY, "tdm")], on=TODAY).license_class is LicenseClass.UNKNOWN


def test_the_accepted_manuscript_may_be_open_where_the_published_version_is_not() -> None:
    array = [element(TERMS), element(BY, "am")]
    assert normalise(array, on=TODAY).license_class is LicenseClass.RESTRICTED
    assert normalise(array, on=TODAY, version="am").license_class is LicenseClass.OPEN_COMMERCIAL


def test_a_licence_that_begins_later_is_unknown_until_its_day() -> None:
    array = [element(BY, start=(2026, 6, 2))]
    before = normalise(array, on=TODAY)
    assert (before.license_class, before.not_before, before.then) == (
        LicenseClass.UNKNOWN,
        date(2026, 6, 2),
        LicenseClass.OPEN_COMMERCIAL,
    )
    assert normalise(array, on=date(2026, 6, 2)).license_class is LicenseClass.OPEN_COMMERCIAL


def test_terms_hold_until_the_open_licence_begins() -> None:
    array = [element(TERMS, start=(2025, 1, 1)), element(BY, start=(2027, 1, 1))]
    reading = normalise(array, on=TODAY)
    assert (reading.license_class, reading.not_before) == (LicenseClass.RESTRICTED, date(2027, 1, 1))
    assert normalise(array, on=date(2027, 1, 1)).license_class is LicenseClass.OPEN_COMMERCIAL


def test_of_licences_that_began_together_the_strictest_counts() -> None:
    assert normalise([element(BY), element(TERMS)], on=TODAY).license_class is LicenseClass.RESTRICTED
    unread = element("https://publisher.example/policy")
    assert normalise([element(BY), unread], on=TODAY).license_class is LicenseClass.UNKNOWN


def test_a_month_is_over_before_its_licence_counts() -> None:
    array = [element(BY, start=(2026, 6))]
    assert normalise(array, on=TODAY).license_class is LicenseClass.UNKNOWN
    assert normalise(array, on=date(2026, 6, 30)).license_class is LicenseClass.OPEN_COMMERCIAL


@pytest.mark.parametrize(
    "start", [{"date-parts": [[2026, 13, 1]]}, {"date-parts": [["x"]]}, "soon", {"date-parts": []}]
)
def test_a_day_that_cannot_be_read_opens_nothing(start: Any) -> None:
    array: list[Mapping[str, Any]] = [{"URL": BY, "content-version": "vor", "start": start}]
    assert normalise(array, on=TODAY).license_class is LicenseClass.UNKNOWN


@pytest.mark.parametrize("array", [[], [{}], [{"URL": None}], [element(BY)] * 1_000])
def test_an_array_that_says_nothing_is_unknown(array: list[Mapping[str, Any]]) -> None:
    assert normalise(array, on=TODAY).license_class is LicenseClass.UNKNOWN


def test_no_array_of_the_shared_records_becomes_open_against_its_label(shared_data: Path) -> None:
    lines = (
        (shared_data / "licences" / "crossref_licence_arrays.jsonl").read_text(encoding="utf-8").splitlines()
    )
    wrong, openings = [], []
    for record in map(json.loads, lines):
        array = [element(one["URL"], one["content_version"], one["start"]) for one in record["licenses"]]
        for version in ("vor", "am"):
            expected = record[f"expected_{version}_class"]
            found = normalise(array, on=TODAY, version=version).license_class
            if expected is not None and found != expected:
                wrong.append(record["DOI"])
                openings += [record["DOI"]] if found in OPEN else []
    assert openings == []
    # The labels know some addresses of publishers' terms by one scheme only and call the other unknown.
    assert len(wrong) <= 8


def test_an_element_is_read_by_its_address_and_words_together() -> None:
    words = "Distributed under the terms of the Creative Commons Attribution License."
    by_nc = "http://creativecommons.org/licenses/by-nc/3.0"
    assert normalise(JatsLicense(text=words)).license_class is LicenseClass.OPEN_COMMERCIAL
    assert normalise(JatsLicense(href=by_nc, text=words)).license_class is LicenseClass.OPEN_NONCOMMERCIAL
    assert (
        normalise(JatsLicense(type="CC-BY-NC-ND", href=BY)).license_class is LicenseClass.OPEN_NONCOMMERCIAL
    )


def test_an_author_page_in_place_of_an_address_says_nothing() -> None:
    profile = "https://orcid.org/0000-0002-1825-0097"
    assert normalise(JatsLicense(href=profile)).license_class is LicenseClass.UNKNOWN
    words = "This article is licensed under CC BY 4.0."
    assert normalise(JatsLicense(href=profile, text=words)).license_class is LicenseClass.OPEN_COMMERCIAL


def test_an_element_whose_parts_disagree_opens_nothing() -> None:
    words = "All rights reserved."
    assert normalise(JatsLicense(href=BY, text=words)).license_class is LicenseClass.UNKNOWN
    assert normalise(JatsLicense(type="open-access")).license_class is LicenseClass.UNKNOWN


def test_an_element_that_begins_later_is_unknown_until_its_day() -> None:
    licence = JatsLicense(href=BY, references=((BY, date(2027, 1, 1)),))
    before = normalise(licence, on=TODAY)
    assert (before.license_class, before.not_before) == (LicenseClass.UNKNOWN, date(2027, 1, 1))
    assert normalise(licence, on=date(2027, 1, 1)).license_class is LicenseClass.OPEN_COMMERCIAL


def test_a_text_that_begins_later_says_when_and_what_it_gives_then() -> None:
    reading = normalise(
        "https://creativecommons.org/licenses/by-nc/4.0/ (from 2027-01-01)", on=date(2026, 1, 1)
    )

    assert (reading.license_class.value, reading.not_before) == ("unknown", date(2027, 1, 1))
    assert reading.then is not None
    assert reading.then.value == "open_noncommercial"


def test_a_text_that_reserves_rights_does_so_before_the_day_it_names() -> None:
    assert normalise("All rights reserved. (from 2027-01-01)", on=date(2026, 1, 1)).license_class.value == (
        "restricted"
    )
