"""Recall and latency of the layers by size of the corpus and share of the scope, beside the naive forms.

    python -m benchmarks.scale [--fast] [--sizes 10000,100000] [--directory DIR] [--buffers 2GB]

For each size a synthetic corpus (`scale_corpus`) and scopes of 100, 20, 5, 1 and 0.1 % of it: of random
documents, and of whole clusters with questions about those (near) or about others (far). Recall@10 is
against exact ranking in numpy. Then whole requests, 1, 10 and 50 at a time. Gates: recall at least 0.99 in
the mean and 0.9 at worst, as many rows as are asked and eligible, no failed or degraded request, no
connection kept. Times are reported; in `CPU` those of the server's process alone, which a busy machine
stretches less. The naive forms run in the same minutes on the same questions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from benchmarks import database

SHARES = (1.0, 0.2, 0.05, 0.01, 0.001)


def main() -> int:
    """Measure every size in a process of its own, print the tables and how times grow."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="10000,100000", help="passages, with commas between")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--requests", type=int, default=1_000, help="whole requests at 50 at a time")
    parser.add_argument("--directory", type=Path, help="keep the database here, by size, and use it again")
    parser.add_argument("--buffers", default="256MB", help="the server's shared_buffers")
    parser.add_argument("--fast", action="store_true", help="30,000 passages and few questions")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fast:
        options.sizes, options.questions, options.requests = "30000", 20, 100
    sizes = [int(size) for size in options.sizes.split(",")]
    if options.one:
        return _measure(sizes[0], options)
    outcomes, missed = [], 0
    for size in sizes:
        command = [sys.executable, "-m", "benchmarks.scale", *sys.argv[1:], "--sizes", str(size), "--one"]
        command = [word for word in command if word != "--fast"]
        command += [f"--questions={options.questions}", f"--requests={options.requests}"]
        medians: dict[str, float] = {}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                if line.startswith("{"):
                    medians = json.loads(line)
                else:
                    print(line, end="", flush=True)
        outcomes.append((size, medians))
        missed = max(missed, process.returncode)
    _growth(outcomes)
    return missed


def _growth(outcomes: list[tuple[int, dict[str, float]]]) -> None:
    if len(outcomes) < 2:
        return
    print("\nGrowth: milliseconds of CPU at the median, and how much more than for the size before")
    for name in outcomes[0][1]:
        line, before = f"{name:<24}", 0.0
        for size, values in outcomes:
            value = values.get(name, 0.0)
            times = f"({value / before:.1f} x)" if before else ""
            line += f"{size:>10,}: {value:>8.1f} {times:<10}"
            before = value
        print(line)


def _measure(size: int, options: argparse.Namespace) -> int:
    directory = None if options.directory is None else options.directory / str(size)
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o755)
    database.start(directory)
    database.set_on_server(shared_buffers=options.buffers, max_wal_size="8GB")
    from benchmarks import scale_concurrent, scale_layers, scale_loading, scale_naive
    from benchmarks.scale_corpus import World

    world = World(size)
    version = scale_loading.load(world, memory="1GB")
    scale_naive.build_index(version, memory="2GB")
    medians, missed = scale_layers.measure(world, SHARES, options.questions)
    missed += scale_concurrent.measure(world, options.requests)
    print(json.dumps(medians))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
