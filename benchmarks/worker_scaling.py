"""What a second worker process is worth for work that is bound by parsing.

    python -m benchmarks.worker_scaling [--fast] [--files N] [--rounds N]

The same PDFs are handed over again and again; one worker process with one place reads and cuts them, then
two do, in turns. Only the queue `parse` is served, so that nothing but parsing is timed: from the moment
the files are handed over until the last one is parsed. The workers are warm by then. Redis is the broker
where the machine has `redis-server`, else messages are files. The goal, 1.7 times as fast with two, needs
two processors that have nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

GOAL = 1.7
PAGES, LINES = 12, 46
WORDS = (
    "straw biochar soil nitrogen field winter harvest moisture carbon pellets storage losses digestion "
    "methane residue season rotation yield enzyme lignin ash density transport rainfall compost microbial"
).split()


def write_pdfs(folder: Path, count: int) -> list[Path]:
    """Write papers of two columns, no two with the same text."""
    from reportlab.pdfgen.canvas import Canvas

    choose = random.Random(7)  # noqa: S311 - reproducible, not secret
    paths = []
    for number in range(count):
        path = folder / f"{number:03}.pdf"
        canvas = Canvas(str(path), invariant=True)
        for page in range(PAGES):
            canvas.setFont("Helvetica-Bold", 13)
            canvas.drawString(60, 790, f"Paper {number}, part {page + 1}")
            canvas.setFont("Helvetica", 9)
            for column in (60, 310):
                for line in range(LINES):
                    canvas.drawString(column, 760 - 15 * line, " ".join(choose.choices(WORDS, k=6)))
            canvas.showPage()
        canvas.save()
        paths.append(path)
    return paths


@contextmanager
def broker() -> Iterator[str]:
    """Run a Redis of our own where there is one, and yield its address; empty: messages are files."""
    server = shutil.which("redis-server")
    if server is None:
        yield ""
        return
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [server, "--port", str(port), "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def workers(count: int, folder: Path) -> Iterator[None]:
    """Run so many worker processes with one place each, for parsing alone."""
    command = [
        sys.executable, "-m", "celery", "-A", "sci_rag_site", "--quiet", "worker", "--queues=parse",
        "--concurrency=1", "--without-gossip", "--without-mingle", "--without-heartbeat",
    ]  # fmt: skip
    environment = os.environ | {"SCI_RAG_LOG_LEVEL": "ERROR"}
    with (folder / "workers.log").open("ab") as log:
        running = [
            subprocess.Popen(
                [*command, f"--hostname=parse{number}@%h"],
                env=environment, stdout=log, stderr=log, start_new_session=True,
            )
            for number in range(count)
        ]  # fmt: skip
    try:
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def parsed_in(paths: list[Path]) -> float:
    """Hand files over, wait until all are parsed, and return how long that took."""
    from corpus import jobs
    from corpus.enqueueing import enqueue
    from corpus.inputs import from_paths
    from corpus.models import IngestionRun

    started = perf_counter()
    run = enqueue(from_paths(paths), by=None)
    waiting = run.jobs.filter(kind=jobs.Kind.PARSE, state__in=jobs.OPEN_STATES)
    while waiting.exists():
        time.sleep(0.05)
    took = perf_counter() - started
    parsed = run.jobs.filter(kind=jobs.Kind.EMBED).count()
    assert parsed == len(paths), f"{parsed} of {len(paths)} were parsed"
    IngestionRun.objects.filter(pk=run.pk).delete()
    return took


def measured(count: int, warm_up: list[Path], paths: list[Path], folder: Path) -> float:
    """Return how long so many warm workers take."""
    with workers(count, folder):
        parsed_in(warm_up)
        return parsed_in(paths)


def main() -> int:
    """Measure and print; 1 when two workers are less than 1.7 times as fast as one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="a few files once, to see that it runs")
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    count, rounds = (6, 1) if options.fast else (options.files, options.rounds)

    folder = Path(tempfile.mkdtemp(prefix="sci-rag-bench-workers-"))
    try:
        with broker() as address:
            os.environ["CELERY_BROKER_URL"] = address
            from benchmarks import database

            database.start()
            paths = write_pdfs(folder, count + 8)
            warm_up, rest = paths[:8], paths[8:]
            times: dict[int, list[float]] = {1: [], 2: []}
            for _ in range(rounds):
                for number, taken in times.items():
                    taken.append(measured(number, warm_up, rest, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    for number, taken in times.items():
        each = ", ".join(f"{one:.1f}" for one in taken)
        print(f"{number} worker processes: {count / median(taken):5.2f} files/s  (seconds: {each})")
    ratio = median(one / two for one, two in zip(times[1], times[2], strict=True))
    print(f"{count} PDFs of {PAGES} pages, broker {address.partition(':')[0] or 'files'}: ", end="")
    print(f"two are {ratio:.2f} times as fast as one; goal {GOAL}: {'met' if ratio >= GOAL else 'missed'}")
    return 1 if ratio < GOAL and not options.fast else 0


if __name__ == "__main__":
    sys.exit(main())
