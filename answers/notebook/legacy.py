"""Reading a legacy knowledge base: a SQLite file whose rows name a source by DOI. It may be hostile.

The file is opened read-only. Only ordinary tables are read, nothing the file brings is run, and every
value, row and second has a limit.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

DOI_COLUMN = "source_doi"
# By these names the words of a note are known, the likeliest first.
TEXT_COLUMNS = (
    "text", "content", "observation", "note", "body", "finding", "claim", "statement", "summary",
    "description",
)  # fmt: skip
TITLE_COLUMN = "title"
MOST_BYTES = 4 * 2**30
MOST_ROWS = 1_000_000
LONGEST_VALUE = 100_000
SECONDS_FOR_A_ROW = 20.0
LOCK_SECONDS = 5.0
_HEADER = b"SQLite format 3\x00"
_STEPS = 10_000
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
_FUNCTIONS = {"substr", "count"}
_PRAGMAS = {"table_info", "trusted_schema", "query_only", "cell_size_check"}


class UnreadableBase(ValueError):
    """The file is no knowledge base that can be read, with the reason and the way out."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the notes stand."""

    table: str
    doi: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it was read. A value that is no text, or too long, is None; one that is null is empty."""

    text: str | None
    doi: str | None
    title: str | None


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file to be read and nothing else. Raises `UnreadableBase` for whatever goes wrong inside."""
    _require_sqlite(path)
    try:
        address = f"{path.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=LOCK_SECONDS)) as base:
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 64 * 2**20)
            base.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 2**20)
            base.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            base.text_factory = bytes
            base.set_authorizer(_authorise)
            for pragma in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON"):
                base.execute(f"PRAGMA {pragma}")
            yield base
    except sqlite3.Error as error:
        raise UnreadableBase(_reason(error)) from None


def columns(base: sqlite3.Connection, *, table: str = "", text_column: str = "") -> Columns:
    """Return where the notes stand; `table` and `text_column` decide where more than one would do."""
    found = {name: names for name, names in _tables(base) if _named(names, DOI_COLUMN)}
    if table:
        chosen = _named(list(found), table)
        if not chosen:
            raise UnreadableBase(f"There is no table {table!r} with a column {DOI_COLUMN}.{_listed(found)}")
    elif len(found) == 1:
        (chosen,) = found
    elif found:
        raise UnreadableBase(f"Say with --table which one to read.{_listed(found)}")
    else:
        raise UnreadableBase(f"No table has a column {DOI_COLUMN}. Views and computed columns are not read.")
    names = found[chosen]
    text = _text_column(names, text_column)
    title = _named(names, TITLE_COLUMN)
    return Columns(chosen, _named(names, DOI_COLUMN), text, title if title != text else "")


def count(base: sqlite3.Connection, place: Columns) -> int:
    """Return how many rows the table has."""
    base.set_progress_handler(_Watch(), _STEPS)
    found = base.execute(f"SELECT count(*) FROM {_quoted(place.table)}").fetchone()  # noqa: S608
    return int(found[0])


def rows(base: sqlite3.Connection, place: Columns) -> Iterator[Row]:
    """Yield the rows of a table in the order they are stored."""
    wanted = [place.text, place.doi, place.title or place.text]
    parts = ", ".join(f"substr({_quoted(name)}, 1, {LONGEST_VALUE + 1})" for name in wanted)
    watch = _Watch()
    base.set_progress_handler(watch, _STEPS)
    for number, values in enumerate(base.execute(f"SELECT {parts} FROM {_quoted(place.table)}")):  # noqa: S608
        if number >= MOST_ROWS:
            raise UnreadableBase(f"The table has more than {MOST_ROWS:,} rows. Import it in parts.")
        text, doi, title = (_as_text(value) for value in values)
        yield Row(text, doi, title if place.title else "")
        watch.begin()


class _Watch:
    """Ends a statement that takes longer than any honest row does."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._until = time.monotonic() + SECONDS_FOR_A_ROW

    def __call__(self) -> int:
        return int(time.monotonic() > self._until)


def _require_sqlite(path: Path) -> None:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(len(_HEADER))
    except OSError as error:
        raise UnreadableBase(f"It cannot be read: {error.strerror}.") from None
    if head != _HEADER:
        raise UnreadableBase("It is not a SQLite database.")
    if size > MOST_BYTES:
        raise UnreadableBase(f"It is larger than {MOST_BYTES // 2**30} GiB. Import it in parts.")


def _authorise(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action in _ALLOWED:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _PRAGMAS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _tables(base: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    """Yield the ordinary tables with their columns; those with names that are no text are left out."""
    watch = _Watch()
    base.set_progress_handler(watch, _STEPS)
    listed = base.execute("SELECT name, substr(sql, 1, 40) FROM sqlite_schema WHERE type = 'table'")
    for raw_name, raw_sql in listed.fetchmany(10_000):
        name, sql = _as_text(raw_name), _as_text(raw_sql)
        if not name or sql is None or sql.lower().startswith("create virtual"):
            continue
        told = base.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
        yield name, [column for row in told if (column := _as_text(row[1]))]


def _text_column(names: list[str], wanted: str) -> str:
    others = [name for name in names if name.lower() != DOI_COLUMN]
    if wanted:
        if found := _named(others, wanted):
            return found
        raise UnreadableBase(f"There is no column {wanted!r}. There are: {', '.join(others)}.")
    for name in TEXT_COLUMNS:
        if found := _named(others, name):
            return found
    raise UnreadableBase(
        f"Say with --text-column which holds the words of a note. There are: {', '.join(others) or 'none'}."
    )


def _named(names: list[str], wanted: str) -> str:
    return next((name for name in names if name.lower() == wanted.lower()), "")


def _listed(found: dict[str, list[str]]) -> str:
    return f" There are: {', '.join(sorted(found))}." if found else ""


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _as_text(value: object) -> str | None:
    """Return a value as text; numbers as they are written, nothing for null, None for what is no text."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, bytes) or len(value) > 4 * LONGEST_VALUE:
        return None
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return text if len(text) <= LONGEST_VALUE else None


_WRITING = "Another program is writing to it. Close that and import again."
_RUNNING = "Its table runs things of its own when it is read. Copy the columns into a plain table."
_REASONS = (
    ("locked", _WRITING),
    ("busy", _WRITING),
    ("not a database", "It is not a SQLite database, or it is encrypted."),
    ("malformed", "The database is damaged."),
    ("interrupted", "Reading a row took too long; the database is damaged or made to harm."),
    ("too big", "A value in it is too large to be read."),
    ("prohibited", _RUNNING),
    ("not authorized", _RUNNING),
    ("unsafe use", _RUNNING),
    ("unable to open", "It cannot be opened. Copy it into a folder of your own and import that."),
)


def _reason(error: Exception) -> str:
    said = str(error).lower()
    return next((text for sign, text in _REASONS if sign in said), "The database cannot be read.")
