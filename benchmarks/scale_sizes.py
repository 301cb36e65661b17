"""How large the database of `scale`'s corpus is, and how long it takes to write and index it.

    python -m benchmarks.scale_sizes [--sizes 10000,100000] [--directory DIR]

Each size in a process and a database of its own. With `--directory` one that `scale` has filled is used; how
long that took to write is not known then.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks import database

_SIZES = {
    "database": "SELECT pg_database_size(current_database())",
    "passages, with their words": "SELECT pg_total_relation_size('corpus_chunk')",
    "vectors": "SELECT pg_total_relation_size('corpus_chunkembedding')",
    "codes, to be kept in memory": "SELECT pg_total_relation_size('corpus_vectorcode')",
    "of these the index of words": "SELECT pg_relation_size('corpus_chunk_search')",
}


def main() -> int:
    """Measure every size and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000", help="passages, with commas between")
    parser.add_argument("--directory", type=Path, help="keep the database here, by size")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    if options.one:
        _measure(sizes[0], options.directory)
        return 0
    for size in sizes:
        command = [
            sys.executable,
            "-m",
            "benchmarks.scale_sizes",
            *sys.argv[1:],
            "--sizes",
            str(size),
            "--one",
        ]
        subprocess.run(command, check=True)
    return 0


def _measure(size: int, directory: Path | None) -> None:
    if directory is not None:
        directory = directory / str(size)
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o755)
    database.start(directory)
    database.set_on_server(max_wal_size="8GB")
    from django.db import connection

    from benchmarks import scale_loading
    from benchmarks.scale_corpus import World

    started = perf_counter()
    scale_loading.load(World(size), memory="1GB")
    print(f"\n{size:,} passages, written and indexed in {perf_counter() - started:,.1f} s", flush=True)
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX IF EXISTS scale_naive")
        for name, statement in _SIZES.items():
            cursor.execute(statement)
            print(f"{name:<32} {cursor.fetchone()[0] / 1e6:10,.1f} MB")
        cursor.execute("SELECT set_config('maintenance_work_mem', '1GB', false)")
        started = perf_counter()
        cursor.execute("REINDEX INDEX corpus_chunk_search")
        print(f"{'the index of words, built anew':<32} {perf_counter() - started:10,.1f} s")


if __name__ == "__main__":
    sys.exit(main())
