"""What licence signals are read as, and what is never read as open."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from corpus.licensing import normalise
from corpus.licensing.readings import OPEN
from corpus.rights import LicenseClass

PUBLIC, RESTRICTED, UNKNOWN = LicenseClass.PUBLIC, LicenseClass.RESTRICTED, LicenseClass.UNKNOWN
COMMERCIAL, NONCOMMERCIAL = LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        ("https://creativecommons.org/licenses/by/4.0/", COMMERCIAL),
        ("http://www.creativecommons.org/licenses/by-sa/3.0/at/deed.de", COMMERCIAL),
        ("https://creativecommons.org/licenses/by-nc/3.0/igo/legalcode", NONCOMMERCIAL),
        ("https://creativecommons.org/licenses/nc-sa/1.0/", NONCOMMERCIAL),
        ("https://creativecommons.org/licenses/by/4.0/?ref=chooser-v1", COMMERCIAL),
        ("http://creativecommons.org/licenses/bync/4.0", NONCOMMERCIAL),
        ("https://creativecommons.org/licenses/by/NC-ND 4.0/", NONCOMMERCIAL),
        ("http://https://creativecommons.org/licenses/by/4.0/deed.es", COMMERCIAL),
        ("https://creativecommons.org/publicdomain/mark/1.0/", PUBLIC),
        ("https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/", COMMERCIAL),
        ("https://spdx.org/licenses/Apache-2.0.html", COMMERCIAL),
        ("CC BY 4.0", COMMERCIAL),
        ("cc-by-nd-nc", NONCOMMERCIAL),
        ("CC BY-NC-SA 3.0 IGO", NONCOMMERCIAL),
        ("CC BY\u2014NC 4.0", NONCOMMERCIAL),
        ("Creative Commons Attribution No Derivatives 3.0 Germany", COMMERCIAL),
        ("Attribution-NonCommercial-NoDerivs 3.0 United States", NONCOMMERCIAL),
        ("CC0 1.0 Universal (CC0 1.0) Public Domain Dedication", PUBLIC),
        ("MIT OR GPL-3.0-only", COMMERCIAL),
        ("(MIT OR Apache-2.0) AND CC-BY-NC-4.0", NONCOMMERCIAL),
        ("GPL-2.0-only WITH Classpath-exception-2.0", COMMERCIAL),
        ("MIT AND BUSL-1.1", RESTRICTED),
        ("closed", RESTRICTED),
        ("publisher-specific-oa", RESTRICTED),
        ("https://publisher.example/page/text-and-data-mining", RESTRICTED),
        ("https://doi.org/10.15223/policy-029", RESTRICTED),
        ("\u00a9 2020 A Publisher. All rights reserved.", RESTRICTED),
    ],
)
def test_a_known_form_is_its_class(signal: str, expected: LicenseClass) -> None:
    assert normalise(signal).license_class is expected


@pytest.mark.parametrize(
    "signal",
    [
        "",
        "cc-by-xyz",
        "cc-by-99",
        "cc-by-sa-nd",
        "cc-by-nc-nc",
        "CC BY plus NC",
        "CC BY 4.0 XX",
        "CC BY 4.0 DE",
        "cc0-2.0",
        "fair",
        "MIT AND nonsense",
        "MIT OR nonsense",
        "GPL-2.0-only WITH nonsense",
        "implied-oa",
        "bronze",
        "Open Access",
        "https://creativecommons.org/",
        "https://creativecommons.org/licenses/",
        "https://creativecommons.org/licenses/by/5.0/",
        "https://creativecommons.org/licenses/by/3.0/xx/",
        "https://creativecommons.org/licenses/by/4.0/8",
        "https://creativecommons.org/licenses/7by/4.0/",
        "https://orcid.org/0000-0002-1825-0097",
        "https://journal.example/about/editorialPolicies#openAccessPolicy",
        "Creative Commons Attribution Foo License",
        "This work is licensed under a Creative Commons License.",
    ],
)
def test_an_unknown_form_is_unknown(signal: str) -> None:
    assert normalise(signal).license_class is UNKNOWN


@pytest.mark.parametrize(
    "signal",
    [
        "https://creativecommons.org@evil.example/licenses/by/4.0/",
        "https://user:creativecommons.org@evil.example/licenses/by/4.0/",
        "https://evil.example@creativecommons.org/licenses/by/4.0/",
        "http://creativecommons.org.evil.example/licenses/by/4.0",
        "https://evil.example/creativecommons.org/licenses/by/4.0/",
        "https://evil.example/?u=https://creativecommons.org/licenses/by/4.0/",
        "https://evil.example#https://creativecommons.org/licenses/by/4.0/",
        "https://creativecommons.org:8443/licenses/by/4.0/",
        "https://creativecommons.org\\@evil.example/licenses/by/4.0/",
        "https://creativecommons.org/licenses/by-nc/../by/4.0/",
        "https://creativecommons.org/licenses/by%2Dnc/4.0/",
        "https://creativecommons.org/licenses/by/4.0/..",
        "//creativecommons.org/licenses/by/4.0/",
        "ftp://creativecommons.org/licenses/by/4.0/",
        "javascript://creativecommons.org/licenses/by/4.0/",
        "https://cre\u0430tivecommons.org/licenses/by/4.0/",
        "\u0421\u0421 BY 4.0",
        "\uff23\uff23 \uff22\uff39",
        "CC\x00BY",
        "CC\u200bBY 4.0",
        "CC BY\u202e 4.0",
        "(" * 1_000 + "MIT" + ")" * 1_000,
        "CC BY 4.0 " * 100_000,
        "a" * 1_000_000,
    ],
)
def test_a_hostile_form_is_unknown(signal: str) -> None:
    assert normalise(signal).license_class is UNKNOWN


def test_no_derivatives_is_a_flag_beside_the_class() -> None:
    with_derivatives, without = normalise("cc-by-nc"), normalise("cc-by-nd")
    assert not with_derivatives.no_derivatives
    assert (without.license_class, without.no_derivatives) == (COMMERCIAL, True)


def test_a_reading_says_by_which_form_and_why() -> None:
    reading = normalise("http://creativecommons.org/licenses/by-nc/3.0/at/")
    assert reading.matched_form == "CC BY-NC 3.0 AT"
    assert reading.reason == "CC BY-NC 3.0 AT restricts commercial use."


def _shared_strings(shared_data: Path) -> list[dict[str, str]]:
    path = shared_data / "licences" / "licence_strings.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def test_no_ineligible_signal_of_the_shared_table_becomes_open(shared_data: Path) -> None:
    rows = _shared_strings(shared_data)
    opened = [
        row["raw"] for row in rows if row["class"] not in OPEN and normalise(row["raw"]).license_class in OPEN
    ]
    assert len(rows) > 300
    assert opened == []


def test_the_shared_table_is_read_as_labelled(shared_data: Path) -> None:
    rows = _shared_strings(shared_data)
    readings = [(row, normalise(row["raw"])) for row in rows]
    exact = [row for row, reading in readings if reading.license_class == row["class"]]
    assert len(exact) / len(rows) >= 0.98
    flagged = [
        row["raw"]
        for row, reading in readings
        if reading.is_open and reading.no_derivatives != ("nd" in row["flags"].split("|"))
    ]
    assert flagged == []


@pytest.mark.parametrize(
    "signal",
    [
        "https://creativecommons.org/licenses/by/4.0/us/",
        "CC BY 4.0 (pending)",
        "CC BY 4.0 from 2027",
        "CC BY 4.0 for subscribers",
        "CC BY 4.0 license revoked",
        "CC BY 4.0 except for text",
        "This article is licensed under CC BY 4.0 for personal use",
        "This article is published under the CC BY 4.0 license for educational purposes only",
        "Licensed under CC BY 4.0 by the first author only",
        "Creative Commons Attribution License is not granted",
        "https://creativecommons.org/licenses/by/4.0/ (abstract only)",
        "https://creativecommons.org/licenses/by/4.0/ zzz",
        "Open Government Licence zzz",
        "CC BY 2.51",
        "CC BY .0",
    ],
)
def test_a_licence_that_is_limited_doubted_or_misspelt_opens_nothing(signal: str) -> None:
    assert not normalise(signal).is_open


@pytest.mark.parametrize(
    "signal",
    [
        "Licence CC BY, pas d'utilisation commerciale",
        "Distributed under Creative Commons Attribution 4.0, uso no comercial",
        "This article is licensed under CC BY 4.0, nicht kommerziell",
        "Licensed under CC BY 4.0 for noncommerical use",
        "Atribución-NoComercial 4.0 Internacional",
        "Namensnennung - Nicht kommerziell 4.0 International",
        "Attribution - Pas d'Utilisation Commerciale - Pas de Modification 4.0 International",
    ],
)
def test_limits_in_other_languages_and_misspelt_ones_are_limits(signal: str) -> None:
    assert normalise(signal).license_class == NONCOMMERCIAL


@pytest.mark.parametrize(
    ("signal", "license_class"),
    [
        ("<http://creativecommons.org/licenses/by/4.0/>", COMMERCIAL),
        ("Creative Commons CC BY license", COMMERCIAL),
        ("cc-by-nc-nd/4.0", NONCOMMERCIAL),
        ("apache-2-0", COMMERCIAL),
        ("Licence Ouverte / Open Licence 2.0", COMMERCIAL),
        ("https://github.com/etalab/licence-ouverte/blob/master/LO.md", COMMERCIAL),
        ("https://www.gnu.org/copyleft/fdl.html", COMMERCIAL),
        ("http://www.usa.gov/publicdomain/label/1.0/", "public"),
        ("https://opensource.org/license/apache-2-0/", COMMERCIAL),
        ("Namensnennung 4.0 International", COMMERCIAL),
        ("Atribución 4.0 Internacional", COMMERCIAL),
        ("IEEE Open Access Publishing Agreement (OAPA)", "restricted"),
        ("Todos los derechos reservados", "restricted"),
        ("http://purl.org/coar/access_right/c_16ec", "restricted"),
        ("http://purl.org/coar/access_right/c_abf2", "unknown"),
    ],
)
def test_further_known_forms(signal: str, license_class: str) -> None:
    assert normalise(signal).license_class == license_class
