"""The forms of an export's files: a JSON object a line, or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from corpus.export.rows import Row

_ROWS_AT_ONCE = 1_000


class Form(StrEnum):
    JSONL = "jsonl"
    PARQUET = "parquet"


class FormUnavailable(RuntimeError):
    """The package that writes a form is not installed. The message says how to get it."""


# Columns of each file, in order. Text unless something else stands here.
_TYPES: dict[str, dict[str, str]] = {
    "documents": {
        "authors": "list", "year": "int", "no_derivatives": "bool", "retracted": "bool", "concern": "bool",
        "corrected": "bool", "pages": "int", "passages": "int",
    },
    "passages": {
        "ordinal": "int", "section_path": "list", "page_start": "int", "page_end": "int", "boxes": "boxes",
        "is_table": "bool", "tokens": "int",
    },
    "citations": {"ordinal": "int"},
}  # fmt: skip
COLUMNS: dict[str, tuple[str, ...]] = {
    "documents": tuple(
        "id title authors year doi journal url language bucket license_class license_source no_derivatives "
        "rights_statement version status superseded_by retracted concern corrected changed_since_ingested "
        "content_sha256 file_sha256 media_type pages passages parser ingested_at".split()
    ),
    "passages": tuple(
        "id document ordinal section_path locator page_start page_end boxes is_table language tokens "
        "citation_unit content_sha256 text".split()
    ),
    "citations": ("document", "ordinal", "text", "doi", "cites"),
}


def require(form: Form) -> None:
    """Raise `FormUnavailable` when this installation cannot write `form`."""
    if form is Form.PARQUET:
        _pyarrow()


def write(form: Form, name: str, rows: Iterable[Row], folder: Path) -> tuple[Path, int]:
    """Write `rows` as the file `name` of `folder`; return it and how many there were."""
    path = folder / f"{name}.{form}"
    count = _jsonl(path, rows) if form is Form.JSONL else _parquet(path, name, rows)
    return path, count


def _jsonl(path: Path, rows: Iterable[Row]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def _parquet(path: Path, name: str, rows: Iterable[Row]) -> int:
    arrow, parquet = _pyarrow()
    text, texts = arrow.string(), arrow.list_(arrow.string())
    types = {
        "bool": arrow.bool_(),
        "boxes": arrow.list_(arrow.list_(arrow.float64())),
        "int": arrow.int32(),
        "list": texts,
    }
    schema = arrow.schema(
        [(column, types.get(_TYPES[name].get(column, ""), text)) for column in COLUMNS[name]]
    )
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        batch: list[Row] = []
        for row in rows:
            batch.append(row)
            if len(batch) == _ROWS_AT_ONCE:
                writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
                count, batch = count + len(batch), []
        writer.write_table(arrow.Table.from_pylist(batch, schema=schema))
    return count + len(batch)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise FormUnavailable(
            "Parquet needs the package pyarrow. Install it with: pip install 'sci-rag[parquet]'; or choose "
            "--format jsonl."
        ) from None
    return pyarrow, pyarrow.parquet
