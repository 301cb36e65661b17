"""Properties of the normaliser: spelling does not matter, anything added does."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from corpus.licensing import normalise
from corpus.licensing.readings import OPEN
from corpus.licensing.tables import jurisdictions
from corpus.rights import LicenseClass

CODES = ("cc-by-4.0", "cc-by-nc-nd-3.0", "cc-by-sa", "cc0-1.0", "MIT", "ODbL-1.0", "ogl-3.0")
ADDRESSES = (
    "creativecommons.org/licenses/by/4.0",
    "creativecommons.org/licenses/by-nc-sa/3.0/at",
    "creativecommons.org/publicdomain/zero/1.0",
    "nationalarchives.gov.uk/doc/open-government-licence/version/3",
)
LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8)
ANYTHING = st.text(max_size=200)
# What a code or an address may go on with and still name an open licence.
GRAMMAR = re.compile(r"[-_ ]*(?:nc|nd|sa|igo|v?\d(?:\.\d)?|only|or|later|[-_ ])*", re.IGNORECASE)


@given(st.sampled_from(CODES), LETTERS, st.sampled_from(["-", " ", "", "_", "/"]))
@example("MIT", "cmu", "-")
def test_letters_after_a_code_never_stay_open_unless_they_are_of_the_grammar(
    code: str, letters: str, between: str
) -> None:
    written = f"{code}{between}{letters}"
    of_the_grammar = letters in jurisdictions() or GRAMMAR.fullmatch(letters) is not None
    known_otherwise = of_the_grammar or written.lower() == "mit-cmu"
    reading = normalise(written)
    assert known_otherwise or reading.license_class not in OPEN


@given(st.sampled_from(CODES), LETTERS, st.sampled_from(["-", " ", "", "_", "/", "."]))
def test_letters_before_a_code_never_stay_open(code: str, letters: str, between: str) -> None:
    reading = normalise(f"{letters}{between}{code}")
    assert reading.license_class not in OPEN


@example(address="creativecommons.org/licenses/by/4.0", letters="be", between="-")
@given(
    st.sampled_from(ADDRESSES), LETTERS, st.sampled_from(["/", "-", "", ".", "%", "?", "#", "@", ":", ";"])
)
def test_letters_after_an_address_never_stay_open(address: str, letters: str, between: str) -> None:
    page = between == "/" and letters in {"deed", "rdf", "legalcode", *jurisdictions()}
    assert page or normalise(f"https://{address}{between}{letters}").license_class not in OPEN


@given(st.sampled_from(ADDRESSES), LETTERS, st.sampled_from([".", "-", "", "@", "/", ".org/", "?"]))
def test_letters_before_the_host_never_stay_open(address: str, letters: str, between: str) -> None:
    host = f"{letters}{between}"
    assert host == "www." or normalise(f"https://{host}{address}").license_class not in OPEN


@given(
    st.sampled_from(ADDRESSES),
    st.sampled_from(["http://", "https://", "HTTPS://", "http://www.", "Http://WWW."]),
    st.sampled_from(["", "/", "//", ".", "/ "]),
    st.booleans(),
    st.sampled_from(["", " ", "\n", "\u00a0", "\t "]),
)
def test_scheme_case_space_and_slash_do_not_change_an_address(
    address: str, scheme: str, end: str, upper: bool, space: str
) -> None:
    written = f"{space}{scheme}{address.upper() if upper else address}{end}{space}"
    assert normalise(written) == normalise(f"https://{address}")


@given(st.sampled_from(CODES), st.booleans(), st.sampled_from(["", " ", "\r\n", "\u2009"]))
def test_case_and_space_do_not_change_a_code(code: str, upper: bool, space: str) -> None:
    written = f"{space}{code.upper() if upper else code.lower()}{space}"
    assert normalise(written).license_class == normalise(code).license_class


@given(ANYTHING)
@example("cc-by\ud800")
def test_any_text_has_a_reading(text: str) -> None:
    assert normalise(text).license_class in LicenseClass


@given(st.lists(st.sampled_from(["MIT", "Apache-2.0", "BUSL-1.1", "CC-BY-NC-4.0"]), min_size=1, max_size=5))
def test_all_of_several_licences_allow_no_more_than_the_strictest(names: list[str]) -> None:
    together = normalise(" AND ".join(names)).license_class
    if "BUSL-1.1" in names:
        assert together is LicenseClass.RESTRICTED
    elif "CC-BY-NC-4.0" in names:
        assert together is LicenseClass.OPEN_NONCOMMERCIAL
    else:
        assert together is LicenseClass.OPEN_COMMERCIAL


@given(st.sampled_from(CODES), ANYTHING)
def test_a_code_inside_any_text_is_open_only_where_words_grant_it(code: str, text: str) -> None:
    reading = normalise(f"{text} x {code} x {text}")
    assert reading.license_class not in OPEN
