"""Run the benchmarks one after another: `python -m benchmarks [--fast]`.

Exit code 1 when one of them misses what it gates on: counts, ratios and qualities, never wall-clock time
on a machine that others may be using.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.database import PREPARED

BENCHMARKS = (
    "retrieve_warm",
    "retrieval_quality",
    "ablations",
    "scale",
    "ingest_overhead",
    "graph_extraction",
    "communities",
    "condensed_prompts",
    "parse_pdf",
)


def main() -> int:
    """Run every benchmark in a process of its own, since each has its own database."""
    failed = []
    with _prepared_database() as prepared:
        environment = os.environ | {PREPARED: str(prepared)}
        for name in BENCHMARKS:
            print(f"\n== {name}", flush=True)
            command = [sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]]
            if subprocess.run(command, env=environment, check=False).returncode:
                failed.append(name)
    if failed:
        print(f"\nMissed: {', '.join(failed)}")
    return 1 if failed else 0


@contextmanager
def _prepared_database() -> Iterator[Path]:
    """Set a database up once: it takes ten seconds of each benchmark otherwise."""
    setting_up = (
        "import sys, pathlib; from benchmarks import database; database.start(pathlib.Path(sys.argv[1]))"
    )
    with tempfile.TemporaryDirectory(prefix="sci-rag-bench-") as folder:
        Path(folder).chmod(0o755)
        subprocess.run([sys.executable, "-c", setting_up, folder], check=True)
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main())
