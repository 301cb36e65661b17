"""RIS, CSL-JSON and Zotero's JSON and CSV."""

import json

import pytest

from corpus.bibliography import items, ris
from corpus.bibliography.records import Code, Library


def codes(library: Library) -> list[tuple[int, str, Code]]:
    return [(problem.line, problem.key, problem.code) for problem in library.problems]


def test_a_ris_record_is_read() -> None:
    (record,) = ris.read(
        "TY  - JOUR\nID  - k1\nAU  - Müller, Jörg\nAU  - Doe, Ann, Jr.\nTI  - On straw\n  and hay\n"
        "T2  - Journal of Straw\nPY  - 2010/05/12/\nDO  - 10.1000/abc\nUR  - https://example.org/x\n"
        "L1  - files/12/a.pdf\nL1  - https://example.org/b.pdf\nLA  - eng\nER  - \n",
        10,
    ).records

    assert (record.key, record.line, record.title) == ("k1", 1, "On straw and hay")
    assert record.authors == ("Jörg Müller", "Ann Doe Jr.")
    assert (record.container, record.year, record.doi) == ("Journal of Straw", 2010, "10.1000/abc")
    assert (record.url, record.language) == ("https://example.org/x", "en")
    assert [item.paths[0] for item in record.attachments] == ["files/12/a.pdf", "https://example.org/b.pdf"]


def test_ris_without_ends_and_with_stray_lines_loses_no_record() -> None:
    library = ris.read("stray\nTY  - BOOK\nTI  - A\nTY  - BOOK\nTI  - B\nSN  - 0306406152\n", 10)

    assert [record.title for record in library.records] == ["A", "B"]
    assert library.records[1].identifier == ("isbn", "9780306406157")
    assert codes(library) == [
        (1, "", Code.BROKEN_ENTRY),
        (2, "", Code.REPAIRED_ENTRY),
        (4, "", Code.REPAIRED_ENTRY),
    ]


def test_a_csl_item_is_read() -> None:
    item = {
        "id": "k1", "type": "article-journal", "title": "On <i>straw</i> &amp; hay",
        "author": [{"given": "Ludwig", "non-dropping-particle": "van", "family": "B"}, {"literal": "WHO"}],
        "issued": {"date-parts": [["2010", 5]]}, "container-title": "J", "DOI": "10.1000/abc", "PMID": "12",
        "license": "CC BY", "attachments": [{"path": "a.pdf"}, "b.pdf"],
    }  # fmt: skip
    (record,) = items.read_json(json.dumps([item]), 10).records

    assert (record.title, record.authors) == ("On straw & hay", ("Ludwig van B", "WHO"))
    assert (record.year, record.doi, record.pmid, record.rights) == (2010, "10.1000/abc", "12", "CC BY")
    assert [file.paths[0] for file in record.attachments] == ["a.pdf", "b.pdf"]


def test_items_of_zotero_have_their_attachments_by_parent() -> None:
    library = items.read_json(
        json.dumps(
            [
                {"key": "AAAA", "data": {"key": "AAAA", "itemType": "book", "title": "T",
                 "ISBN": "0306406152",
                 "date": "5/2001", "rights": "All rights reserved", "extra": "PMID: 12\nCitation Key: k1",
                 "creators": [{"creatorType": "editor", "name": "E"},
                              {"creatorType": "author", "firstName": "A", "lastName": "B"}]}},
                {"key": "BBBB", "data": {"key": "BBBB", "itemType": "attachment", "parentItem": "AAAA",
                 "path": "storage:a.pdf", "filename": "a.pdf", "contentType": "application/pdf"}},
                {"key": "CCCC", "data": {"itemType": "note", "parentItem": "AAAA", "note": "x"}},
            ]
        ),
        10,
    )  # fmt: skip
    (record,) = library.records

    assert (library.format, record.key, record.authors, record.year) == ("zotero-json", "k1", ("A B",), 2001)
    assert (record.rights, record.identifier) == ("All rights reserved", ("pmid", "12"))
    assert record.attachments[0].paths[0] == "storage:BBBB/a.pdf"


def test_a_list_that_breaks_off_keeps_what_stands_before() -> None:
    library = items.read_json('[{"type": "book", "title": "A"},\n {"type": "book", "title": ', 10)

    assert [record.title for record in library.records] == ["A"]
    assert codes(library) == [(2, "", Code.INVALID_JSON)]


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, "[1" + "0" * 10_000 + "]",
     "[null, 1, {}]", '{"a": 1}', "[", "{", '{"items": 3}'],
)  # fmt: skip
def test_json_that_describes_no_work_is_a_named_problem(text: str) -> None:
    library = items.read_json(text, 10)

    assert library.records == []
    assert library.problems


@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], {}, [[]], [{}], "\ud800", "\0", ["x", None]])
def test_values_of_any_type_do_no_harm(value: object) -> None:
    names = (
        "id key title author creators issued DOI ISBN PMID URL note extra attachments file license language"
    )
    for kind in ({"type": "book"}, {"itemType": "book"}, {"itemType": "attachment"}):
        items.read_json(json.dumps([kind | dict.fromkeys(names.split(), value)]), 10)


def test_zoteros_table_is_read() -> None:
    (record,) = items.read_csv(
        '"Key","Item Type","Publication Year","Author","Title","DOI","File Attachments","Rights"\n'
        '"K1","journalArticle","2010","Müller, Jörg; Doe, Ann","On\nstraw","10.1000/abc","a.pdf; b.html",'
        '"CC BY"\n',
        10,
    ).records

    assert (record.key, record.title, record.authors) == ("K1", "On straw", ("Jörg Müller", "Ann Doe"))
    assert (record.year, record.rights) == (2010, "CC BY")
    assert [item.paths[0] for item in record.attachments] == ["a.pdf", "b.html"]
