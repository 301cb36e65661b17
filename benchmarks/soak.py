"""A day's work in some minutes on the production server: what grows, and what breaks.

    python -m benchmarks.soak [--minutes 20] [--rate 14.4] [--passages 10000] [--directory DIR]

Twenty minutes stand for 24 hours: 17,280 questions, 500 files taken in, 200 documents deleted, 25 keys
revoked and 25 documents restricted, and the clock's jobs of every hour; in fewer minutes, so much less of
each. Pages and REST are asked at a steady rate; when the machine cannot keep up, the questions that found
none of the askers free are counted as left out. Every half minute the memory, files, threads, connections
and temporary files of the site and its worker are read, and the doctor looks. Gates: no five-hundred, no
finding of the doctor's, at most 1 MB more memory for 1,000 questions after the warm-up (the first fifth).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import askers, load, load_people, served
from benchmarks.load_people import ENDED_EARLY, REFUSED, TOLD_TO_RETRY, WHOLE, Plan

DAY_MINUTES = 20.0
ASKS, FILES, DELETIONS, REVOCATIONS = 17_280, 500, 200, 50
EVERY = 30.0
ASKERS = 48
BY_REST = 0.2
GROWTH_MB = 1.0
# Documents go and are restricted while answers are written from them: these are then as they should be.
_NO_FAULT = (WHOLE, TOLD_TO_RETRY, REFUSED, ENDED_EARLY)
HOURLY = (
    "site.close_abandoned_answers", "site.tell_of_retractions", "site.clear_expired_sessions",
    "site.tidy_sign_ins", "site.trim_page_images", "site.forget_taken_messages",
    "corpus.verify_originals", "corpus.ask_about_embargoes", "corpus.forget_deliveries",
    "site.say_where_the_chain_ends",
)  # fmt: skip
_MODEL_SECONDS, _TOKENS = 0.25, 20


@dataclass(frozen=True, slots=True)
class Sample:
    """How much of everything there is at one moment."""

    asked: int
    web: float
    worker: float
    files: int
    threads: int
    connections: int
    temporary: int
    findings: tuple[str, ...]


@dataclass(slots=True)
class Day:
    """What happened so far."""

    asked: int = 0
    left_out: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    samples: list[Sample] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)


def main() -> int:
    """Run and print; 1 when something broke or grew."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=DAY_MINUTES)
    parser.add_argument("--rate", type=float, default=ASKS / DAY_MINUTES / 60, help="questions a second")
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2, help="of gunicorn; 0 is `sci-rag up`")
    parser.add_argument("--directory", type=Path, help="keep the database here, and use it again")
    options = parser.parse_args()

    questions = load.prepared(options.passages, options.directory)
    sessions = served.sessions(ASKERS)
    keys = load.keys(int(ASKERS * BY_REST))
    with (
        tempfile.TemporaryDirectory(prefix="soak-") as folder,
        served.model(pace=_TOKENS / _MODEL_SECONDS, tokens=_TOKENS) as model,
        served.site(
            model,
            workers=options.workers,
            more={"TMPDIR": folder, "SCI_RAG_LOG_LEVEL": "INFO", "SCI_RAG_LOG_FORMAT": "json"},
            log=Path(folder) / "log",
        ) as running,
    ):
        port = running.port
        day, share = Day(), options.minutes / DAY_MINUTES
        plan = Plan(port, sessions[len(keys) :], keys, questions)
        site = _Site(running, Path(folder))
        asyncio.run(load_people.burst(plan))
        with _others(day, port, site, share, options.minutes):
            asyncio.run(_asking(day, plan, options.rate, options.minutes * 60))
        log = (Path(folder) / "log").stat().st_size
        return _report(day, options.minutes, log)


async def _asking(day: Day, plan: Plan, rate: float, seconds: float) -> None:
    """Ask at a steady rate, each question by an asker who is free."""
    began, chance = time.monotonic(), random.Random(1)  # noqa: S311 reproducible, not secret
    free = list(range(len(plan.sessions) + len(plan.keys)))
    running: set[asyncio.Task[None]] = set()

    async def ask(number: int) -> None:
        outcome = await load_people.question(plan, number, chance.choice(plan.questions), began)
        day.asked += 1
        day.ended[outcome.ended] += 1
        free.append(number)

    due = 0
    while (now := time.monotonic() - began) < seconds:
        while due < now * rate:
            due += 1
            if not free:
                day.left_out += 1
                continue
            task = asyncio.create_task(ask(free.pop(0)))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.sleep(0.02)
    await asyncio.gather(*running)


@dataclass(frozen=True, slots=True)
class _Site:
    running: served.Running
    scratch: Path

    def sample(self, asked: int) -> Sample:
        """Look at all processes of the site, at its database and at what lies about."""
        from django.db import connection

        from sci_rag_site.health.doctor import examine
        from sci_rag_site.health.findings import Status

        web, workers = served.family(self.running.process), served.family(self.running.worker)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            connections = cursor.fetchone()[0]
        broken = tuple(found.name for found in examine(probe=False) if found.status is Status.FAIL)
        connection.close()
        return Sample(
            asked,
            served.resident_mb(web),
            served.resident_mb(workers),
            served.entries(web, "fd"),
            served.entries(web, "task"),
            connections,
            sum(1 for path in self.scratch.rglob("*") if path.is_file()) - 1,
            broken,
        )


@contextmanager
def _others(day: Day, port: int, site: _Site, share: float, minutes: float) -> Iterator[None]:
    """Do meanwhile what else happens in a day, and look at everything every half minute."""
    work = [
        threading.Thread(target=_sampling, args=(day, site)),
        threading.Thread(target=_librarian, args=(day, port, share, minutes * 60)),
        # A day has as many hours however short it is.
        threading.Thread(target=_clock, args=(day, minutes * 60 / 24)),
    ]
    for thread in work:
        thread.start()
    try:
        yield
    finally:
        day.is_over.set()
        for thread in work:
            thread.join(60)
        day.samples.append(site.sample(day.asked))


def _sampling(day: Day, site: _Site) -> None:
    while not day.is_over.is_set():
        day.samples.append(site.sample(day.asked))
        day.is_over.wait(EVERY)


def _clock(day: Day, hour: float) -> None:
    """Ring for the jobs of every hour, each hour."""
    from sci_rag_site.celery import app

    while not day.is_over.wait(hour):
        for name in HOURLY:
            app.send_task(name)
            day.done["jobs"] += 1


def _librarian(day: Day, port: int, share: float, seconds: float) -> None:
    """Take documents in, delete some, restrict some and revoke keys, spread evenly and in turn."""
    from django.contrib.auth.models import Group, User
    from django.db import connection

    librarian, _ = User.objects.get_or_create(username="soak-librarian")
    librarian.groups.add(Group.objects.get(name="librarian"))
    (key,) = load.keys_of([librarian])
    steps = ["take in"] * round(FILES * share) + ["delete"] * round(DELETIONS * share)
    steps += ["revoke"] * round(REVOCATIONS * share / 2) + ["restrict"] * round(REVOCATIONS * share / 2)
    random.Random(2).shuffle(steps)  # noqa: S311 reproducible, not secret
    for number, step in enumerate(steps):
        if day.is_over.wait(seconds / (len(steps) + 1)):
            return
        try:
            day.done[_STEPS[step](port, key, number, librarian)] += 1
        except Exception as error:  # noqa: BLE001 - counted, whatever it is
            day.done[f"{step} failed: {type(error).__name__}"] += 1
        connection.close()


def _take_in(port: int, key: str, number: int, _: Any) -> str:
    text = f"Notes of the day, number {number}.\n\n" + "\n\n".join(
        f"Bales of lot {number}-{part} lost {part + 2} % of their dry matter in {number % 9 + 1} months."
        for part in range(40)
    )
    mark = "a-boundary-that-no-note-has"
    body = (
        f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="note-{number}.txt"\r\n'
        f"Content-Type: text/plain\r\n\r\n{text}\r\n--{mark}--\r\n"
    )
    headers = {"Authorization": f"Bearer {key}", "Content-Type": f"multipart/form-data; boundary={mark}"}
    reply = asyncio.run(askers.exchange(port, "POST", "/api/v1/ingest", headers, body))
    return "taken in" if reply.status == 202 else f"take in: status {reply.status}"


def _delete(*_: Any) -> str:
    from corpus.actions import deletion
    from corpus.models import Document

    first = Document.objects.order_by("?").values_list("pk", flat=True).first()
    certificate = deletion.delete(document_id=first)
    return "deleted" if certificate.is_complete else "deleted, something left"


def _restrict(port: int, key: str, number: int, librarian: Any) -> str:
    from corpus.actions import rights
    from corpus.models import Document

    some = Document.objects.filter(license_class="public").order_by("?")[:1]
    rights.set_license(documents=some, license_class="restricted", by=librarian, evidence="Soak")
    return "restricted"


def _revoke(port: int, key: str, number: int, librarian: Any) -> str:
    """Revoke a key; the question that comes after it has to be refused."""
    from corpus.keys import actions
    from corpus.keys.models import ApiKey

    (secret,) = load.keys_of([librarian])
    actions.revoke(key=ApiKey.objects.filter(owner=librarian).latest("created_at"), by=None)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    reply = asyncio.run(askers.exchange(port, "GET", "/api/v1/documents", headers, ""))
    return "revoked" if reply.status == 401 else f"revoked, and still status {reply.status}"


_STEPS: dict[str, Callable[..., str]] = {
    "take in": _take_in,
    "delete": _delete,
    "restrict": _restrict,
    "revoke": _revoke,
}


def _report(day: Day, minutes: float, log: int) -> int:
    print(
        f"{day.asked:,} questions in {minutes:.0f} minutes, {day.asked / minutes / 60:.1f} a second; ", end=""
    )
    print(f"{day.left_out:,} left out, because nobody was free to ask them")
    print("ended: " + ", ".join(f"{count:,} {name}" for name, count in day.ended.most_common()))
    print("also: " + ", ".join(f"{count:,} {name}" for name, count in day.done.most_common()))
    print(f"log: {log / max(day.asked, 1):.0f} bytes a question")
    names = ("asked", "web MB", "worker MB", "files", "threads", "database", "temporary")
    print("".join(f"{name:>11}" for name in names))
    for one in day.samples:
        print(
            f"{one.asked:>11,}{one.web:>11.1f}{one.worker:>11.1f}{one.files:>11}{one.threads:>11}"
            f"{one.connections:>11}{one.temporary:>11}"
        )
    # What is found at the start the day has not done: synthetic documents have no files.
    begun = set(day.samples[0].findings)
    findings = Counter(name for one in day.samples for name in one.findings if name not in begun)
    print("the doctor found: " + ("; ".join(findings) or "nothing"))
    _print_dead_rows()
    settled = [one for one in day.samples if one.asked >= day.asked / 5] or day.samples
    growth = _slope(settled, "web")
    print(f"after the warm-up, for 1,000 questions: {growth:+.2f} MB of the site's processes", end="")
    print(f", {_slope(settled, 'worker'):+.2f} MB of the worker's; goal at most {GROWTH_MB} MB")
    broken = [name for name in day.ended if name not in _NO_FAULT]
    broken += [name for name in day.done if "status" in name or "failed" in name or "left" in name]
    print("broken: " + (", ".join(broken) or "nothing"))
    return int(bool(broken or findings or growth > GROWTH_MB))


def _slope(samples: Sequence[Sample], name: str) -> float:
    """Return how many MB more there were for 1,000 questions more, by least squares."""
    asked = np.array([one.asked / 1000 for one in samples])
    if np.ptp(asked) == 0:
        return 0.0
    return float(np.polyfit(asked, [getattr(one, name) for one in samples], 1)[0])


def _print_dead_rows() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, n_dead_tup, n_live_tup FROM pg_stat_user_tables"
            " WHERE n_dead_tup > 1000 ORDER BY n_dead_tup DESC LIMIT 5"
        )
        rows = cursor.fetchall()
    connection.close()
    shares = (f"{name} {dead / max(dead + live, 1):.0%} of {dead + live:,}" for name, dead, live in rows)
    print("dead rows: " + (", ".join(shares) or "few"))


if __name__ == "__main__":
    sys.exit(main())
