"""BibTeX: every entry becomes a record or a named problem."""

import json
import re
import unicodedata
from pathlib import Path

import pytest

from corpus.bibliography import bibtex
from corpus.bibliography.reading import read
from corpus.bibliography.records import Code, Library


def parse(text: str) -> Library:
    return bibtex.read(text, 1_000)


def codes(library: Library) -> list[tuple[int, str, Code]]:
    return [(problem.line, problem.key, problem.code) for problem in library.problems]


def test_an_entry_becomes_a_record() -> None:
    (record,) = parse(
        "% a comment\n"
        '@Article{k1,\n author = "M{\\"u}ller, J{\\"o}rg and Doe, Ann",\n Title = {On {Straw} \\& hay},\n'
        " date = {2010-01-27}, journaltitle = {J. Straw}, DOI = {https://doi.org/10.1000/ABC},\n"
        " langid = {ngerman}, copyright = {CC BY 4.0}, edition = {2nd}, publisher = {P},\n"
        " url = {http://a.b/~c\\_d}, file = {x.pdf}, file = {y.pdf}\n}\n"
    ).records

    assert (record.key, record.line, record.kind) == ("k1", 2, "article")
    assert (record.title, record.authors) == ("On Straw & hay", ("Jörg Müller", "Ann Doe"))
    assert (record.year, record.container, record.doi) == (2010, "J. Straw", "10.1000/ABC")
    assert (record.language, record.rights, record.version) == ("de", "CC BY 4.0", "2nd")
    assert (record.publisher, record.url) == ("P", "http://a.b/~c_d")
    assert [item.paths[0] for item in record.attachments] == ["x.pdf", "y.pdf"]
    assert record.identifier == ("doi", "10.1000/abc")
    assert record.described.license_class is None


def test_strings_are_put_in_and_joined_whatever_their_case() -> None:
    library = parse(
        '@string{JS = "Journal"}\n@article{a, journal = js # { of } # "Straw", month = jan, year = 2001}'
    )

    assert library.records[0].container == "Journal of Straw"
    assert library.problems == []


def test_a_string_nobody_defined_is_named() -> None:
    library = parse("@article{a, title = {T}, journal = js}")

    assert library.records[0].container == "js"
    assert codes(library) == [(1, "a", Code.UNDEFINED_STRING)]


def test_children_inherit_from_their_parents() -> None:
    library = parse(
        "@inproceedings{c, title = {Child}, author = {A B}, crossref = {P}}\n"
        "@proceedings{p, title = {Whole}, date = {2006}, editor = {E F}, isbn = {0306406152},"
        " doi = {10.1000/p}}"
    )
    child, parent = library.records

    assert (child.title, child.container, child.year, child.authors) == ("Child", "Whole", 2006, ("A B",))
    assert (child.doi, child.identifier) == ("", None)
    assert parent.identifier == ("doi", "10.1000/p")


def test_missing_parents_are_named_and_circles_end() -> None:
    library = parse(
        "@book{a, title={A}, crossref={b}}\n@book{b, title={B}, crossref={a}}\n@book{c, crossref={no}}"
    )

    assert [record.title for record in library.records] == ["A", "B", ""]
    assert codes(library) == [(3, "c", Code.MISSING_PARENT)]


def test_entries_with_one_key_are_both_kept_and_named() -> None:
    library = parse("@book{a, title={A}}\n@book{a, title={B}}")

    assert [record.title for record in library.records] == ["A", "B"]
    assert codes(library) == [(2, "a", Code.DUPLICATE_KEY)]


def test_a_broken_entry_gives_what_can_be_read_and_does_not_take_the_next_one() -> None:
    library = parse(
        "@article{a, title = {T}, , year = {2020}}\n@article{b, title = {Never closed, year = {2020}\n"
        "@article{c, title = {Good}}\n@article{d, title = {Last}, year = 2021"
    )

    assert [(record.key, record.title, record.year) for record in library.records] == [
        ("a", "T", 2020),
        ("c", "Good", None),
        ("d", "Last", 2021),
    ]
    assert codes(library) == [
        (1, "a", Code.REPAIRED_ENTRY),
        (2, "b", Code.BROKEN_ENTRY),
        (4, "d", Code.REPAIRED_ENTRY),
    ]


def test_a_broken_entry_is_found_where_it_stands_and_not_where_it_is_quoted() -> None:
    library = parse("@book{a, title = {How to write @misc{x, }}\n}\n@misc{x, , title = {Real}}")

    assert [(record.key, record.title) for record in library.records][-1] == ("x", "Real")


def test_what_only_controls_the_typesetting_is_no_record() -> None:
    library = parse(
        '@IEEEtranBSTCTL{x, CTLuse = {yes}}\n@comment{jabref-meta: a}\n@preamble{"b"}\n@xdata{y, title={Z}}'
    )

    assert library.records == []


def test_values_that_cannot_be_kept_are_named_and_the_record_stays() -> None:
    library = parse("@article{a, title = {" + "x" * 2_000 + "}, doi = {none}, year = {2020}}")

    assert (library.records[0].title, library.records[0].year) == ("", 2020)
    assert codes(library) == [(1, "a", Code.INVALID_FIELD)] * 2


def test_a_file_is_read_in_pieces_as_if_it_were_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "@string{s = {S}}\n" + "".join(
        f"junk\n@book{{k{n % 7}, title = {{T{n}\n @ {{x}}}},\n journal = s}}\n@book{{open, title = {{\n"
        for n in range(30)
    )
    whole = parse(text)

    monkeypatch.setattr(bibtex, "_PIECE", 20)

    assert parse(text) == whole
    assert len(whole.records) == 30


def test_more_records_than_allowed_are_cut_off_by_name() -> None:
    library = bibtex.read("@book{a, title={A}}\n@book{b, title={B}}\n@book{c, title={C}}", 2)

    assert len(library.records) == 2
    assert codes(library) == [(3, "", Code.TOO_LARGE)]


def test_strings_made_of_strings_do_not_fill_the_memory() -> None:
    bomb = (
        "@string{a = {" + "x" * 100_000 + "}}\n" + "".join(f"@string{{b{n} = a # a}}\n" for n in range(400))
    )

    assert Code.TOO_LARGE in [problem.code for problem in parse(bomb).problems]


@pytest.mark.parametrize("piece", ["{", "}", '"', "@a{", "@a{b, c=,", "\n@a{b, c={d}, ", "=", "#", "\\", "@"])
def test_nothing_repeated_without_end_makes_it_fail(piece: str) -> None:
    for start in ("", "@book{k, title = ", "@book{k, title = {", '@string{s = "'):
        parse(start + piece * 3_000)


def _plain(text: str) -> str:
    bare = unicodedata.normalize("NFKD", re.sub(r"<[^>]+>", "", text or "")).casefold()
    return "".join(char for char in bare if char.isalnum())


def _first_name(item: dict) -> str:
    people = item.get("creators", [])
    main = [person for person in people if person["creatorType"] not in ("editor", "translator")] or people
    if not main:
        return ""
    return _plain(main[0].get("name") or f"{main[0].get('firstName', '')} {main[0].get('lastName', '')}")


def test_real_exports_agree_with_what_their_maintainers_expect(shared_data: Path) -> None:
    """At least 97 % of the records of real bug reports have the expected title, first author and year."""
    total = agreeing = 0
    for path in sorted((shared_data / "bib/bbt_import").glob("*.bib")):
        expected = path.with_name(path.name.replace(".roundtrip", "")).with_suffix(".json")
        by_key = {record.key: record for record in reversed(read(path).records)}
        items = json.loads(expected.read_text(encoding="utf-8"))["items"] if expected.exists() else []
        for item in items:
            if item["itemType"] == "note":
                continue
            total += 1
            record = by_key.get(item["citationKey"])
            year = re.search(r"\d{4}", str(item.get("date", "")))
            agreeing += record is not None and (
                _plain(record.title),
                _plain(next(iter(record.authors), "")),
                record.year,
            ) == (
                _plain(item.get("title") or item.get("caseName", "")),
                _first_name(item),
                int(year[0]) if year else None,
            )

    assert total >= 90
    assert agreeing / total >= 0.97


def test_every_real_file_is_read(shared_data: Path) -> None:
    for path in sorted((shared_data / "bib").rglob("*.*")):
        library = read(path)

        assert library.records or "standa.json" in path.name, path.name
