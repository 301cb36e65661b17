"""A process that has everything loaded and forks children that work, to be killed; and how a test uses it.

A fork costs milliseconds where a fresh process costs seconds, so that a thousand kills fit into minutes. The
children run what workers and commands run, with nothing of it replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings


class Forks:
    """The process that forks, and the children it has at the moment: one or none."""

    def __init__(self, *, database: str, media: Path, embeds: bool) -> None:
        names = (
            "SCI_RAG_EMBEDDING_MODEL", "SCI_RAG_EMBEDDING_DIMENSIONS", "SCI_RAG_EMBEDDING_API_BASE",
            "SCI_RAG_EMBEDDING_API_KEY",
        )  # fmt: skip
        given = {"DATABASE": database, "EMBEDS": embeds, "MEDIA_ROOT": str(media)} | {
            name: getattr(settings, name) for name in names
        }
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "SCI_RAG_LOG_LEVEL": "ERROR"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.faults.forking", json.dumps(given)],
            cwd=settings.BASE_DIR, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._said() == "ready"

    def _said(self) -> Any:
        return json.loads(self._process.stdout.readline())

    def run(self, work: str, *arguments: str, seconds: float | None = None) -> int:
        """Let a child work, for so long at most; return how it ended, -9 when it was killed."""
        self._process.stdin.write(json.dumps([work, *arguments]) + "\n")
        self._process.stdin.flush()
        child = self._said()
        if seconds is not None:
            time.sleep(seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return int(self._said())

    def close(self) -> None:
        """End it."""
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


class Killer:
    """Lets children work and kills them at moments drawn from the time that the whole work takes."""

    def __init__(self, forks: Forks, *, seed: int) -> None:
        self._forks = forks
        self._moments = random.Random(seed)  # noqa: S311 - the moments are to be the same every time
        self.rounds = 0

    def whole(self, work: str, *arguments: str) -> float:
        """Let a child do all of it; return how long that took."""
        started = time.monotonic()
        assert self._forks.run(work, *arguments) == 0
        return time.monotonic() - started

    def kill(
        self,
        times: int,
        work: str,
        *arguments: str,
        within: float,
        ended: Callable[[], None],
        look: Callable[[], list[str]],
        every: int = 5,
    ) -> list[str]:
        """Kill children until `times` were killed at work; `ended` hears of those that came to the end."""
        found: list[str] = []
        killed = 0
        while killed < times:
            code = self._forks.run(work, *arguments, seconds=self._moments.uniform(0, within))
            if code == -signal.SIGKILL:
                killed += 1
                if killed % every == 0:
                    found += [f"after kill {killed}: {trouble}" for trouble in look()]
                continue
            assert code == 0, f"a child ended with {code}"
            self.rounds += 1
            ended()
        return found


# --- What children do ----------------------------------------------------------------------------------


def ingest() -> None:
    """Be a worker: take back what dead ones held, and work until nothing waits."""
    from corpus import pipeline
    from tests.reliability.faults.flows import work_off

    pipeline.reclaim()
    work_off()


def extract(run: str) -> None:
    """Carry a run of extraction on, as a worker does."""
    from retrieval.graph.extraction import background

    background.work(UUID(run))


def merge() -> None:
    """Decide on one pair after the other."""
    from retrieval.graph.actions import resolution
    from retrieval.graph.resolution_models import MergeProposal

    for proposal in MergeProposal.objects.filter(state=MergeProposal.State.PROPOSED).order_by("pk"):
        resolution.decide(proposals=[proposal], state=MergeProposal.State.APPROVED, by=None)


def reembed(version: str) -> None:
    """Give every passage a vector of another version and switch to it."""
    from tests.reliability.faults.flows import Reembed

    Reembed(version).run()


_WORKS: dict[str, Callable[..., None]] = {
    "ingest": ingest, "extract": extract, "merge": merge, "re-embed": reembed,
}  # fmt: skip


def main() -> None:
    """Fork a child for every line, say its number, and then how it ended."""
    given = json.loads(sys.argv[1])
    settings.DATABASES["default"]["NAME"] = given.pop("DATABASE")
    embeds = given.pop("EMBEDS")
    for name, value in given.items():
        setattr(settings, name, value)
    _load(embeds=embeds)
    print('"ready"', flush=True)  # noqa: T201 - what the test waits for
    for line in sys.stdin:
        work, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            _be(work, arguments)
        print(child, flush=True)  # noqa: T201 - whom to kill
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - how it ended


def _be(work: str, arguments: list[str]) -> None:
    try:
        # What the test says to the parent is not for its children.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _WORKS[work](*arguments)
        os._exit(0)
    except BaseException:  # noqa: BLE001 - said by the exit code, and to whoever looks
        import traceback

        traceback.print_exc()
        os._exit(1)


def _load(*, embeds: bool) -> None:
    """Load everything that the children need, and connect to nothing: connections do not outlive a fork."""
    import django

    django.setup()
    from corpus.gateways.litellm_library import litellm
    from retrieval.graph.extraction import background
    from retrieval.graph.ontology import active_ontology
    from tests.reliability.faults import flows

    if embeds:
        litellm()
    active_ontology()
    assert background
    assert flows


if __name__ == "__main__":
    main()
