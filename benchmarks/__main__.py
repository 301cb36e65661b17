"""Run the benchmarks one after another: `python -m benchmarks [--fast]`.

Exit code 1 when one of them misses what it gates on: counts, ratios and qualities, never wall-clock time
on a machine that others may be using.
"""

from __future__ import annotations

import subprocess
import sys

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
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        if subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]], check=False
        ).returncode:
            failed.append(name)
    if failed:
        print(f"\nMissed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
