"""People on the production server: so many who ask, read for half a minute and ask again; then a burst.

    python -m benchmarks.load [--people 50,200,500] [--seconds 60] [--workers 2] [--fast] [--strict]

Site, worker and database run as docs/operating.md says (`--workers 0`: as `sci-rag up` does), on 30,000
synthetic passages; the model takes a second; a fifth of the people ask by REST. Site, database, model and
people share the machine. One's own share of a question is what it took less the model's second. Gates:
nobody of those who think gets an error, in a burst nobody gets another one than being told when to come
back. Times gate with `--strict` only: the machine may be doing other things.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from benchmarks import database, served
from benchmarks.load_people import TOLD_TO_RETRY, WHOLE, Outcome

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MODEL_SECONDS, TOKENS = 1.0, 20
BY_REST = 0.2
# Seconds at p95 of one's own share.
GOALS = {50: 0.5, 200: 1.0, 500: 2.5}
SOONEST_REFUSAL, LONGEST_ACCEPTED = 0.5, 10.0
# What the site sends: not how transactions begin and end, nor what constraints and triggers look up.
_STATEMENTS = """
SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
WHERE query !~* '^\\s*(begin|commit|rollback|savepoint|release|set|reset)\\M'
    AND query !~ 'FOR KEY SHARE OF x$' AND query !~ '^SELECT corpus_audit_append'
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What a line of the report says of the gates."""

    errors: int
    is_slow: bool


@dataclass(frozen=True, slots=True)
class Site:
    """A running site and who may ask it."""

    port: int
    process: int
    postmaster: int
    sessions: Sequence[str]
    keys: Sequence[str]
    questions: Sequence[str]

    def do(self, what: str, people: int, **more: Any) -> list[Outcome]:
        """Have `people` do something, in a process of their own, and return what came of it."""
        by_rest = int(people * BY_REST)
        plan = {
            "do": what,
            "port": self.port,
            "sessions": self.sessions[: people - by_rest],
            "keys": self.keys[:by_rest],
            "questions": self.questions,
            **more,
        }
        told = subprocess.run(
            [sys.executable, "-m", "benchmarks.load_people"],
            cwd=served.ROOT,
            input=json.dumps(plan),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return [Outcome(*row) for row in json.loads(told.stdout)]

    def used(self) -> tuple[float, float, int]:
        """Return the processor seconds of site and database, and how many statements there were."""
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute(_STATEMENTS)
            statements = int(cursor.fetchone()[0])
        connection.close()
        web = served.processor_seconds(*served.family(self.process))
        _, *children = served.family(self.postmaster)
        stored = served.processor_seconds(self.postmaster, ended=True) + served.processor_seconds(*children)
        return web, stored, statements


def main() -> int:
    """Measure and print; 1 when somebody got an error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", default="50,200,500", help="how many, with commas between")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=30.0)
    parser.add_argument("--passages", type=int, default=30_000)
    parser.add_argument("--workers", type=int, default=2, help="of gunicorn; 0 is `sci-rag up`")
    parser.add_argument("--burst", type=int, default=500, help="how many ask in one moment")
    parser.add_argument("--bursts", type=int, default=5)
    parser.add_argument("--directory", type=Path, help="keep the database here, and use it again")
    parser.add_argument("--fast", action="store_true", help="few people, a small corpus, one small burst")
    parser.add_argument("--strict", action="store_true", help="times count as well")
    options = parser.parse_args()
    if options.fast:
        options.people, options.seconds, options.think = "20", 12.0, 6.0
        options.passages, options.burst, options.bursts = 1_000, 150, 1
    numbers = [int(number) for number in options.people.split(",")]

    questions = prepared(options.passages, options.directory)
    most = max(*numbers, options.burst)
    sessions = served.sessions(most)
    secrets = keys(int(most * BY_REST))
    workers = options.workers
    with (
        served.model(pace=TOKENS / MODEL_SECONDS, tokens=TOKENS) as model,
        served.site(model, workers=workers) as running,
    ):
        site = Site(running.port, running.process, _postmaster(), sessions, secrets, questions)
        # Everything is loaded, in each process, before anything is timed.
        site.do("burst", 10 * max(workers, 1))
        print(f"load average {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores; {_how(workers)}")
        pinged = site.do("pings", 1, seconds=5.0, pings=16)
        print(f"/healthz: {len(pinged) / 5:.0f} a second by 16 clients")
        _head()
        rows = [_people(site, number, options.seconds, options.think, len(pinged) / 5) for number in numbers]
        rows += [_burst(site, options.burst) for _ in range(options.bursts)]
    return int(any(row.errors or (options.strict and row.is_slow) for row in rows))


def prepared(passages: int, directory: Path | None = None) -> list[str]:
    """Make a database that counts its statements, with a corpus, and return questions for it."""
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o755)
    os.environ["SCI_RAG_LOG_LEVEL"] = "ERROR"
    database.start(directory)
    database.set_on_server(shared_preload_libraries="pg_stat_statements", max_wal_size="8GB")
    from django.db import connection

    from benchmarks import scale_loading
    from benchmarks.scale_corpus import World
    from corpus.models import Chunk

    with connection.cursor() as cursor:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
    world = World(passages)
    # A day's work changes what is kept: it is not filled up again.
    if not Chunk.objects.exists():
        scale_loading.load(world, memory="256MB")
    connection.close()
    return [question.text for question in world.questions(200)]


def keys(count: int) -> list[str]:
    """Return the secrets of new keys of the first `count` askers."""
    from django.contrib.auth.models import User

    return keys_of(User.objects.filter(username__startswith="asker-").order_by("id")[:count])


def keys_of(owners: Iterable[User]) -> list[str]:
    """Return the secrets of new keys of `owners`, which may ask as often as a key may at all."""
    from corpus.keys import actions
    from corpus.keys.models import MOST_REQUESTS_PER_MINUTE
    from corpus.keys.permissions import ALL_PERMISSIONS
    from corpus.scope import EVERYTHING

    wanted = actions.Wanted("Load", ALL_PERMISSIONS, EVERYTHING, MOST_REQUESTS_PER_MINUTE)
    return [actions.create(owner=owner, wanted=wanted, by=None).secret.reveal() for owner in owners]


def _postmaster() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    stat = Path(f"/proc/{backend}/stat").read_text(encoding="utf-8")
    connection.close()
    return int(stat.rpartition(")")[2].split()[1])


def _how(workers: int) -> str:
    return f"gunicorn with {workers} workers" if workers else "sci-rag up"


def _head() -> None:
    names = (
        "asks",
        "a second",
        "to ping",
        "own p50",
        "own p95",
        "longest",
        "web CPU",
        "db CPU",
        "statements",
    )
    print(f"\n{'people':<8}" + "".join(f"{name:>11}" for name in names) + "  errors")


def _people(site: Site, number: int, seconds: float, think: float, pings: float) -> Row:
    before = site.used()
    outcomes = site.do("people", number, seconds=seconds, think=think)
    web, stored, statements = (now - then for now, then in zip(site.used(), before, strict=True))
    own = [one.seconds - MODEL_SECONDS for one in outcomes if one.ended == WHOLE]
    errors = Counter(one.ended for one in outcomes if one.ended != WHOLE)
    asks, rate = max(len(outcomes), 1), len(outcomes) / seconds
    print(
        f"{number:<8}{len(outcomes):>11}{rate:>11.1f}{rate / pings:>11.4f}{_median(own):>9.2f} s"
        f"{_p95(own):>9.2f} s{max(own, default=0):>9.2f} s{web / asks * 1000:>8.0f} ms"
        f"{stored / asks * 1000:>8.0f} ms{statements / asks:>11.1f}  {_words(errors)}",
        flush=True,
    )
    goal = GOALS.get(number)
    is_slow = goal is not None and _p95(own) > goal
    if goal is not None:
        print(f"        goal: own p95 at most {goal} s, {'missed' if is_slow else 'met'}")
    return Row(errors.total(), is_slow)


def _burst(site: Site, number: int) -> Row:
    outcomes = site.do("burst", number)
    whole = [one.seconds for one in outcomes if one.ended == WHOLE]
    away = [one for one in outcomes if one.ended == TOLD_TO_RETRY]
    others = Counter(one.ended for one in outcomes if one.ended not in (WHOLE, TOLD_TO_RETRY))
    refusals = [one.seconds for one in away]
    waits = [one.retry_after for one in away if one.retry_after is not None]
    print(
        f"burst of {number}: {len(whole)} answered, p95 {_p95(whole):.1f} s; {len(away)} told to retry in "
        f"{min(waits, default=0)} to {max(waits, default=0)} s, after {_median(refusals):.2f} s "
        f"(p95 {_p95(refusals):.2f}, longest {max(refusals, default=0):.2f}); others: {_words(others)}",
        flush=True,
    )
    is_slow = _p95(whole) > LONGEST_ACCEPTED or max(refusals, default=0) > SOONEST_REFUSAL
    return Row(others.total(), is_slow)


def _words(errors: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in errors.most_common()) or "none"


def _median(values: Sequence[float]) -> float:
    return median(values) if values else 0.0


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else max(values, default=0.0)


if __name__ == "__main__":
    sys.exit(main())
