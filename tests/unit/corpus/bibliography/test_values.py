"""Names, dates, identifiers and languages in the forms libraries write them."""

import pytest

from corpus.bibliography.dates import year_of
from corpus.bibliography.identifiers import arxiv_in, doi_in, isbn_in, pmid_in
from corpus.bibliography.languages import language_code
from corpus.bibliography.names import bibtex_names, inverted_name


@pytest.mark.parametrize(
    ("field", "names"),
    [
        (r"M{\"u}ller, J{\"o}rg and others", ("Jörg Müller",)),
        ("von Hicks, III, Michael", ("Michael von Hicks III",)),
        ("Ludwig van Beethoven and Knuth, Donald E.", ("Ludwig van Beethoven", "Donald E. Knuth")),
        ("{{The Breast Cancer Collaborative Group}}", ("The Breast Cancer Collaborative Group",)),
        ("{Simon and Schuster} and {Barnes}, A.", ("Simon and Schuster", "A. Barnes")),
        ("Smith, J.; Doe, A.", ("J. Smith", "A. Doe")),
        (
            "family=Müller, given=Jörg and prefix=de, family=Vries, given=Anna",
            ("Jörg Müller", "Anna de Vries"),
        ),
        ("First\nAuthor   and\n  Second Author", ("First Author", "Second Author")),
        ("{broken", ("broken",)),
        ("a,b,c,d,e,", ("c d e a b",)),
        ("", ()),
    ],
)
def test_names_of_bibtex_come_out_given_name_first(field: str, names: tuple[str, ...]) -> None:
    assert bibtex_names(field) == names


def test_inverted_names_are_turned_round() -> None:
    assert [inverted_name(name) for name in ("Müller, Jörg", "Hicks, Michael, III", "WHO")] == [
        "Jörg Müller",
        "Michael Hicks III",
        "WHO",
    ]


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("2010-01-27", 2010),
        ("2010/2012", 2010),
        ("2010/05/12/", 2010),
        ("12 Mai 1998", 1998),
        ("20150312", 2015),
        ("2012?", 2012),
        ("[c. 1613]", 1613),
        ("03-04-2011", 2011),
        ("{2009}", 2009),
        ("19xx", None),
        ("-0044", None),
        ("-2011", None),
        ("in press", None),
        ("12345", None),
        ("", None),
    ],
)
def test_the_year_is_found_in_any_date(date: str, year: int | None) -> None:
    assert year_of(date) == year


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("HTTP://DX.DOI.ORG/10.1000/ABC.", "10.1000/ABC"),
        ("doi: 10.1000/abc", "10.1000/abc"),
        ("see https://doi.org/10.1016/S0140-6736(03)14065-2, there", "10.1016/S0140-6736(03)14065-2"),
        ("10.1002%2Fabc", "10.1002/abc"),
        ("not one", ""),
        ("10.1000/" + "x" * 600, ""),
    ],
)
def test_a_doi_is_kept_as_given_without_its_resolver(text: str, doi: str) -> None:
    assert doi_in(text) == doi


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2101.00001v2", "2101.00001"),
        ("arXiv:1902.07120", "1902.07120"),
        ("arXiv preprint arXiv:1702.04615", "1702.04615"),
        ("https://arxiv.org/pdf/hep-th/9901001v1.pdf", "hep-th/9901001"),
        ("astro-ph/0405395", "astro-ph/0405395"),
        ("pages 1234.5678 of", ""),
        ("10.1234/5678", ""),
    ],
)
def test_arxiv_numbers_lose_their_version(text: str, number: str) -> None:
    assert arxiv_in(text) == number


def test_pubmed_numbers_are_found_in_notes_and_addresses() -> None:
    found = [
        pmid_in(text) for text in ("28520842", "PMID: 012", "x pubmed/77", "PMC586", "12a", "123456789012")
    ]

    assert found == ["28520842", "12", "77", "", "", ""]


@pytest.mark.parametrize(
    ("text", "isbn"),
    [
        ("0-306-40615-2", "9780306406157"),
        ("ISBN 978-85-63994-24-0", "9788563994240"),
        ("0415170540 (hardcover)", "9780415170543"),
        ("978-0-306-40615-8 9780306406157", "9780306406157"),
        ("080442957X", "9780804429573"),
        ("0-306-40615-3", ""),
        ("1234567890123456", ""),
    ],
)
def test_an_isbn_counts_when_its_check_digit_is_right(text: str, isbn: str) -> None:
    assert isbn_in(text) == isbn


def test_languages_are_known_by_name_and_by_code() -> None:
    found = [language_code(name) for name in ("ngerman", "English", "en-US", "fre", "Klingon language", "")]

    assert found == ["de", "en", "en", "fr", "", ""]
