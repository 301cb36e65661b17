"""Every migration down and up on a database in use: `python -m tests.reliability.migrating PASSAGES`.

Expects a directory with a database that holds something. Prints what it saw as JSON: for each migration how
long it took, which tables were not the same after going down and up, and how long the longest statement of
somebody who reads meanwhile had to wait.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter, sleep
from typing import Any

import django

OURS = ("corpus", "retrieval", "answers", "evaluation")
# What says which migrations there were, and whom they gave which permissions.
ABOUT_MIGRATIONS = (
    "django_migrations", "django_content_type", "auth_permission", "auth_group_permissions",
    "corpus_grouppermission", "pghistory_context", "corpus_auditlink", "corpus_audithead",
    "corpus_auditevent",
)  # fmt: skip
MANY = """
INSERT INTO corpus_chunk (public_id, document_id, ordinal, body, content, section_path, locator, boxes,
    is_table, token_count, citation_unit, forward_references, content_sha256, rank_key, language,
    search_heading, search_body)
SELECT gen_random_uuid(), document_id, 100000 + n, body || n, content, section_path, locator, boxes, is_table,
    token_count, citation_unit, forward_references, content_sha256, rank_key + n, language, search_heading,
    search_body || ' ' || n
FROM (SELECT * FROM corpus_chunk ORDER BY id LIMIT 1) AS one, generate_series(1, %s) AS n;
"""
VECTORS = """
INSERT INTO corpus_chunkembedding (version_id, chunk_id, document_id, rank_key, vector)
SELECT one.version_id, chunk.id, chunk.document_id, chunk.rank_key, one.vector
FROM corpus_chunk AS chunk, (SELECT * FROM corpus_chunkembedding ORDER BY id LIMIT 1) AS one
WHERE NOT EXISTS (SELECT FROM corpus_chunkembedding WHERE chunk_id = chunk.id)
"""

READ = """
SELECT title, (SELECT count(*) FROM corpus_chunk AS chunk WHERE chunk.document_id = document.id)
FROM corpus_document AS document ORDER BY id LIMIT 3
"""


def main(passages: int) -> None:
    django.setup()
    from django.db import connection
    from django.db.migrations.exceptions import IrreversibleError
    from django.db.migrations.loader import MigrationLoader

    with connection.cursor() as cursor:
        cursor.execute(MANY, [passages])
        cursor.execute(VECTORS)
    seen: list[dict[str, Any]] = []
    graph = MigrationLoader(connection).graph
    for app, name in reversed(list(_in_order(graph))):
        before = _before(graph, app, name)
        try:
            seen.append({"migration": f"{app}.{name}", **_down_and_up(app, name, before)})
            sys.stderr.write(f"{seen[-1]}\n")
        except IrreversibleError:
            seen.append({"migration": f"{app}.{name}", "one_way": True})
            break
        if app == "corpus" and before is not None and before.startswith("0002"):
            break
    oldest = _catalog()
    old = _hashes(oldest)
    with _reading() as waited:
        seconds, _ = _timed(_migrate)
    new = _hashes(oldest)
    changed = sorted(name for name in old if old[name] != new[name])
    all_up = {"seconds": seconds, "waited": waited[0], "changed": changed}
    told = {"passages": passages, "seen": seen, "all_up": all_up, "missing": _missing()}
    sys.stdout.write(json.dumps(told))


def _in_order(graph: Any) -> Iterator[tuple[str, str]]:
    """Yield our migrations, each after what it builds on."""
    met: set[tuple[str, str]] = set()
    for leaf in graph.leaf_nodes():
        for key in graph.forwards_plan(leaf):
            if key not in met and key[0] in OURS:
                met.add(key)
                yield key


def _before(graph: Any, app: str, name: str) -> str | None:
    return next((parent.key[1] for parent in graph.node_map[app, name].parents if parent.key[0] == app), None)


def _down_and_up(app: str, name: str, before: str | None) -> dict[str, Any]:
    """Take one migration back, apply it again, and take it back for good; compare what both states hold."""
    down, _ = _timed(lambda: _migrate(app, before or "zero"))
    catalog = _catalog()
    lower = _hashes(catalog)
    with _reading() as waited:
        up, _ = _timed(lambda: _migrate(app, name))
    higher = _hashes(catalog)
    _migrate(app, before or "zero")
    again = _hashes(catalog)
    changed = sorted(table for table in lower if len({lower[table], higher[table], again[table]}) > 1)
    return {"down": down, "up": up, "waited": waited[0], "changed": changed}


def _migrate(*target: str) -> None:
    from django.core.management import call_command

    call_command("migrate", *target, verbosity=0, interactive=False)


def _missing() -> list[str]:
    from sci_rag_site.commands.preparation import unapplied_migrations

    return unapplied_migrations()


def _catalog() -> list[Any]:
    from sci_rag_site.backup import state

    return [table for table in state.tables() if table.name not in ABOUT_MIGRATIONS]


def _hashes(catalog: list[Any]) -> dict[str, str]:
    """Return the hash of each table over those of its columns that are there now."""
    from django.db import transaction

    from sci_rag_site.backup import state

    there = {table.label: set(table.columns) for table in state.tables()}
    hashed = {}
    with transaction.atomic():
        for table in catalog:
            if table.label not in there:
                continue
            columns = tuple(name for name in table.columns if name in there[table.label])
            hashed[table.label] = state._hashed(replace(table, columns=columns), lambda _count: None)[
                "sha256"
            ]
    return hashed


def _timed(act: Callable[[], Any]) -> tuple[float, Any]:
    started = perf_counter()
    found = act()
    return round(perf_counter() - started, 3), found


@contextmanager
def _reading() -> Iterator[list[float]]:
    """Read documents and passages on another connection without pause; keep the longest wait."""
    from django.db import connection

    ended, longest = threading.Event(), [0.0]

    def read() -> None:
        try:
            while not ended.is_set():
                with connection.cursor() as cursor:
                    seconds, _ = _timed(lambda cursor=cursor: cursor.execute(READ))
                longest[0] = max(longest[0], seconds)
                sleep(0.01)
        finally:
            connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield longest
    finally:
        ended.set()
        reader.join()


if __name__ == "__main__":
    main(int(sys.argv[1]))
