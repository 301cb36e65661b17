"""A legacy base is read as a hostile file: it is read or refused by name, and nothing of its own is run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from answers.notebook import legacy
from answers.notebook.legacy import Columns, Row, UnreadableBase

Write = Callable[[sqlite3.Connection], object]
PLAIN = "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, content TEXT, source_doi TEXT)"


@pytest.fixture
def base(tmp_path: Path) -> Callable[..., Path]:
    def made(*statements: str | tuple[str, tuple[object, ...]], name: str = "kb.sqlite") -> Path:
        path = tmp_path / name
        with sqlite3.connect(path) as connection:
            for statement in statements:
                text, values = statement if isinstance(statement, tuple) else (statement, ())
                connection.execute(text, values)
        connection.close()
        return path

    return made


def read(path: Path, **which: str) -> tuple[Columns, list[Row]]:
    with legacy.opened(path) as connection:
        place = legacy.columns(connection, **which)
        return place, list(legacy.rows(connection, place))


def refusal(path: Path, **which: str) -> str:
    with pytest.raises(UnreadableBase) as refused:
        read(path, **which)
    return str(refused.value)


def test_the_table_with_the_column_is_found_and_the_words_by_their_name(base: Callable[..., Path]) -> None:
    path = base("CREATE TABLE other (x)", PLAIN, "INSERT INTO notes VALUES (1, 'T', 'It holds.', '10.1/a')")

    place, found = read(path)

    assert place == Columns("notes", "source_doi", "content", "title")
    assert found == [Row("It holds.", "10.1/a", "T")]


def test_names_are_quoted_and_read_whatever_their_case(base: Callable[..., Path]) -> None:
    path = base(
        'CREATE TABLE "my ""notes"" -- ; DROP" ("Source_DOI" TEXT, "Observation" TEXT)',
        'INSERT INTO "my ""notes"" -- ; DROP" VALUES (\'10.1/a\', \'It holds.\')',
    )

    place, found = read(path)

    assert (place.table, place.text, place.doi) == ('my "notes" -- ; DROP', "Observation", "Source_DOI")
    assert found == [Row("It holds.", "10.1/a", "")]


def test_odd_values_are_text_or_nothing(base: Callable[..., Path]) -> None:
    values: list[tuple[object, object]] = [
        (None, None), (7, 1.5), (b"\xff\xfe", b"\x00\x01"), ("a\0b", "10.1/a\0"), ("x" * 100_001, "y"),
        (b"plain bytes", "z"), ("ü" * 100_000, None),
    ]  # fmt: skip
    path = base(PLAIN, *(("INSERT INTO notes (content, source_doi) VALUES (?, ?)", pair) for pair in values))

    _, found = read(path)

    assert [(row.text, row.doi) for row in found[:3]] == [("", ""), ("7", "1.5"), (None, "\0\1")]
    assert found[3].text in ("a\0b", "a")
    assert [row.text for row in found[4:6]] == [None, "plain bytes"]
    assert found[6].text == "ü" * 100_000


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (("CREATE TABLE notes (content TEXT, doi TEXT)",), "No table has a column source_doi"),
        ((PLAIN, "CREATE TABLE more (content TEXT, source_doi TEXT)"), "--table"),
        (("CREATE TABLE notes (a TEXT, b TEXT, source_doi TEXT)",), "--text-column"),
        (("CREATE TABLE t (content)", "CREATE VIEW notes AS SELECT 1 AS source_doi FROM t"), "Views and"),
    ],
)  # fmt: skip
def test_what_cannot_be_guessed_is_asked_for(
    base: Callable[..., Path], statements: tuple[str, ...], said: str
) -> None:
    assert said in refusal(base(*statements))


def test_what_is_asked_for_must_be_there(base: Callable[..., Path]) -> None:
    path = base(PLAIN, "CREATE TABLE more (words TEXT, source_doi TEXT)")

    assert read(path, table="MORE", text_column="WORDS")[0] == Columns("more", "source_doi", "words")
    assert "There are: more, notes" in refusal(path, table="none")
    assert "There are: words" in refusal(path, table="more", text_column="content")


@pytest.mark.parametrize(
    "content", [b"", b"SQLite", b"PK\x03\x04" + b"\0" * 100, b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_a_file_that_is_no_base_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "kb.sqlite"
    path.write_bytes(content)

    assert refusal(path)


def test_a_damaged_base_is_refused(base: Callable[..., Path]) -> None:
    path = base(PLAIN, *[("INSERT INTO notes (content) VALUES (?)", ("y" * 3000,))] * 200)
    damaged = bytearray(path.read_bytes())
    damaged[4096 * 3 : 4096 * 40] = b"\xa5" * (4096 * 37)
    path.write_bytes(damaged)

    assert "damaged" in refusal(path)


def test_a_base_that_another_program_writes_to_is_refused_after_a_moment(
    base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legacy, "LOCK_SECONDS", 0.1)
    path = base(PLAIN)
    writer = sqlite3.connect(path)
    writer.execute("BEGIN EXCLUSIVE")

    assert "Another program" in refusal(path)
    writer.close()


@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
def test_what_a_table_computes_is_not_read(base: Callable[..., Path], kind: str) -> None:
    computed = f"source_doi TEXT GENERATED ALWAYS AS (hex(zeroblob(1000000))) {kind}"

    assert "computed columns are not read" in refusal(base(f"CREATE TABLE notes (content TEXT, {computed})"))


def test_only_reading_is_allowed_while_a_base_is_open(base: Callable[..., Path], tmp_path: Path) -> None:
    path = base(PLAIN, "INSERT INTO notes (content) VALUES ('x')")
    for statement in (
        "DELETE FROM notes", f"ATTACH '{tmp_path / 'other'}' AS other", "SELECT hex(content) FROM notes",
        "SELECT load_extension('x')", "PRAGMA journal_mode=WAL", "CREATE TEMP TABLE t (x)",
    ):  # fmt: skip
        with legacy.opened(path) as connection, pytest.raises(sqlite3.DatabaseError):
            connection.execute(statement)


def test_a_virtual_table_is_not_read(base: Callable[..., Path]) -> None:
    path = base("CREATE VIRTUAL TABLE notes USING fts5(content, source_doi)")

    assert "No table has a column" in refusal(path)


def test_more_rows_than_anybody_keeps_are_refused(
    base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legacy, "MOST_ROWS", 3)
    path = base(PLAIN, *["INSERT INTO notes (content) VALUES ('x')"] * 4)

    assert "more than 3 rows" in refusal(path)


def test_a_row_that_takes_too_long_ends_the_reading(
    base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(legacy, "SECONDS_FOR_A_ROW", -1.0)
    monkeypatch.setattr(legacy, "_STEPS", 1)
    path = base(PLAIN, "INSERT INTO notes (content) VALUES ('x')")

    assert "took too long" in refusal(path)
