"""Sentences about rights: whose licence they name, and what the words around the name limit."""

from __future__ import annotations

import time

import pytest

from corpus.licensing import normalise
from corpus.rights import LicenseClass

PUBLIC, RESTRICTED, UNKNOWN = LicenseClass.PUBLIC, LicenseClass.RESTRICTED, LicenseClass.UNKNOWN
COMMERCIAL, NONCOMMERCIAL = LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL

WITH_DATA_WAIVED = (
    "This article is licensed under a Creative Commons Attribution 4.0 International License, which permits "
    "use in any medium. The images or other third party material in this article are included in the "
    "article's Creative Commons licence, unless indicated otherwise. If your intended use is not permitted "
    "by statutory regulation, you will need to obtain permission from the copyright holder. To view a copy "
    "of this licence, visit http://creativecommons.org/licenses/by/4.0/. The Creative Commons Public Domain "
    "Dedication waiver (http://creativecommons.org/publicdomain/zero/1.0/) applies to the data made "
    "available in this article."
)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (WITH_DATA_WAIVED, COMMERCIAL),
        ("This is an open access article under the CC BY-NC-ND license.", NONCOMMERCIAL),
        ("Licensee MDPI. Distributed under the Creative Commons Attribution (CC BY) license.", COMMERCIAL),
        ('Licensed under <a href="http://creativecommons.org/licenses/by/2.0">this licence</a>.', COMMERCIAL),
        ("Except where otherwise noted, this work is licensed under CC BY-SA 4.0.", COMMERCIAL),
        ("This is a work of the U.S. Government and not subject to copyright.", PUBLIC),
        ("\u00a9 2012 Crown Copyright. Distributed under the Open Government Licence", COMMERCIAL),
        ("For permissions, please e-mail: permissions@publisher.example", RESTRICTED),
        ("No part of this book may be reproduced without written permission.", RESTRICTED),
    ],
)
def test_a_statement_gives_the_text_its_class(statement: str, expected: LicenseClass) -> None:
    assert normalise(statement).license_class is expected


@pytest.mark.parametrize(
    "statement",
    [
        "The data supporting this article are available under CC0.",
        "Supplementary materials are released under a CC BY 4.0 licence.",
        "The source code is available under the MIT License.",
        "Figure 1 is adapted from an earlier work (CC BY 4.0).",
        "We trained on the CC BY 4.0 subset of the archive.",
        "Contains public sector information licensed under the Open Government Licence v3.0.",
    ],
)
def test_the_licence_of_data_figures_or_another_work_is_not_that_of_the_text(statement: str) -> None:
    assert normalise(statement).license_class is UNKNOWN


@pytest.mark.parametrize(
    "statement",
    [
        "This article is not licensed under CC BY 4.0.",
        "This article is not in the public domain.",
        "After 12 months this article will be available under CC BY 4.0.",
        "Authors may choose CC BY or CC BY-NC-ND.",
        "No longer distributed under the terms of the CC BY licence.",
    ],
)
def test_a_licence_refused_or_yet_to_come_opens_nothing(statement: str) -> None:
    assert normalise(statement).license_class is UNKNOWN


def test_the_stricter_of_a_name_and_an_address_counts() -> None:
    statement = (
        "Distributed under the terms of the Creative Commons Attribution License "
        "(http://creativecommons.org/licenses/by-nc/2.0/uk/)."
    )
    assert normalise(statement).license_class is NONCOMMERCIAL


def test_words_that_limit_commercial_use_lower_the_class() -> None:
    assert normalise("Licensed under CC BY 4.0 for non-commercial use only.").license_class is NONCOMMERCIAL
    both = "Licensed under CC BY 4.0 for any purpose, commercial or non-commercial."
    assert normalise(both).license_class is COMMERCIAL


def test_words_that_forbid_changes_set_the_flag() -> None:
    assert normalise("Licensed under CC BY-NC 4.0, provided it is not altered.").no_derivatives


def test_a_statement_that_opens_and_reserves_is_for_a_person() -> None:
    assert normalise("\u00a9 2020. All rights reserved. Licensed under CC BY 4.0.").license_class is UNKNOWN


def test_an_address_that_only_looks_like_a_licence_opens_nothing() -> None:
    statement = "Licensed under https://creativecommons.org.evil.example/licenses/by/4.0/ by its authors."
    assert normalise(statement).license_class is UNKNOWN


@pytest.mark.parametrize(
    "piece",
    [
        "(cc by-nc ",
        "creative commons attribution-",
        "<a href=",
        "http://",
        "&#",
        "not ",
        "data ",
        "non-commercial ",
    ],
)
def test_the_longest_statement_is_read_in_little_time(piece: str) -> None:
    statement = (piece * 10_000)[:10_000]
    began = time.thread_time()
    normalise(statement)
    assert time.thread_time() - began < 2
