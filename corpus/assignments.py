"""What a worker has to know before it works on one file, in one statement: it asks twice for every file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Field, JSONField, Model

from corpus.models import EmbeddingVersion, IngestionItem, IngestionRun

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A file of a run, what parsing made of it so far, and the vectors that questions use now.

    Of the rows only what workers need is read; anything else of them costs a query.
    """

    item: IngestionItem
    run: IngestionRun
    parsed: bytes | None
    version: EmbeddingVersion | None


def _fields(model: type[Model], *names: str) -> list[Field[Any, Any]]:
    """Return fields in the order in which a row of the model is built from them."""
    return [field for field in model._meta.concrete_fields if field.attname in names]


_ITEM = _fields(IngestionItem, "id", "run_id", "path", "line", "document_id", "file_sha256", "described")
_RUN = _fields(IngestionRun, "id", "started_by_id", "origin", "parameters")
_USER = _fields(User, "id", "username", "is_active", "is_superuser")
_VERSION = _fields(EmbeddingVersion, "id", "name", "dimensions")


def _columns(table: str, fields: list[Field[Any, Any]]) -> str:
    return ", ".join(f"{table}.{field.column}" for field in fields)


_STATEMENT = f"""
SELECT {_columns("item", _ITEM)}, {_columns("run", _RUN)}, {_columns("who", _USER)},
    {_columns("version", _VERSION)}, parsed.payload
FROM corpus_ingestionitem item
JOIN corpus_ingestionrun run ON run.id = item.run_id
LEFT JOIN auth_user who ON who.id = run.started_by_id
LEFT JOIN corpus_embeddingversion version ON version.is_active
LEFT JOIN corpus_stageresult parsed ON parsed.item_id = item.id
WHERE item.id = %s
"""  # noqa: S608 - columns of our models


def of_item(key: int | None) -> Assignment:
    """Return what there is to know about the file `key`; raise `IngestionItem.DoesNotExist`."""
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT, [key])
        row = cursor.fetchone()
    if row is None:
        raise IngestionItem.DoesNotExist(f"There is no item {key}.")
    values = iter(row)
    item, run = _built(IngestionItem, _ITEM, values), _built(IngestionRun, _RUN, values)
    who, version = _built(User, _USER, values), _built(EmbeddingVersion, _VERSION, values)
    run.started_by, item.run = who if who.pk else None, run
    parsed = next(values)
    return Assignment(item, run, None if parsed is None else bytes(parsed), version if version.pk else None)


def _built(model: type[M], fields: list[Field[Any, Any]], values: Iterator[Any]) -> M:
    names = [field.attname for field in fields]
    read = [_read(field, next(values)) for field in fields]
    return model.from_db(DEFAULT_DB_ALIAS, names, read)


def _read(field: Field[Any, Any], value: Any) -> Any:
    return json.loads(value) if isinstance(field, JSONField) and value is not None else value
