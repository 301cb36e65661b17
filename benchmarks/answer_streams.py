"""Fifty askers whose answers stream at once, while somebody reads other pages of the same site.

    python -m benchmarks.answer_streams [--fast] [--askers N] [--tokens N]

The site is `sci-rag up`, with its worker and its own database. A model in another process writes thirty
tokens a second to everybody. All ask at the same moment; from then until the last answer is whole, the
page to ask, the history, an answer and `/healthz` are read in turn. Askers, model and site share the
machine. Gates on what must hold whatever else the machine does: each answer is whole, stored as it was
streamed, and its asker's own. The times of pages are printed with the load of the machine; they gate
only where `--strict` is given.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any

from benchmarks import askers, database, served

PACE = 30.0
SLOWEST_PAGE = 0.5
QUESTION = "How much dry matter do corn stover bales lose in the open?"


def main() -> int:
    """Measure and print; 1 when an answer is not whole, or with `--strict` a page is slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="twelve askers and short answers")
    parser.add_argument("--askers", type=int, default=50)
    parser.add_argument("--tokens", type=int, default=450, help="tokens of an answer; 30 come a second")
    parser.add_argument("--strict", action="store_true", help="slow pages count as well")
    options = parser.parse_args()
    if options.fast:
        options.askers, options.tokens = 12, 60

    database.start()
    _take_in_the_demo()
    sessions = served.sessions(options.askers)
    paths = ["/", "/answers/", f"/answers/{_earlier_answer(sessions[0])}/", "/healthz"]
    with served.model(pace=PACE, tokens=options.tokens) as model, served.site(model) as running:
        port, process = running.port, running.process
        asyncio.run(_warmed_up(port, sessions[0], paths))
        load, used, started = os.getloadavg()[0], served.processor_seconds(process), time.monotonic()
        told = asyncio.run(askers.crowd(port=port, sessions=sessions, question=QUESTION, paths=paths))
        wall, used = time.monotonic() - started, served.processor_seconds(process) - used
        print(
            f"{options.askers} askers, {options.tokens} tokens each at {PACE:.0f} a second, in {wall:.1f} s"
        )
        print(f"load average before {load:.1f}, after {os.getloadavg()[0]:.1f}, of {os.cpu_count()} cores")
        print(f"the site's process used {used:.1f} s of a core, {used / wall:.0%} of one")
        return _report(told, tokens=options.tokens, strict=options.strict)


def _take_in_the_demo() -> None:
    from django.conf import settings

    from corpus.ingestion import ingest
    from corpus.inputs import from_manifest

    ingest(from_manifest(settings.DOMAIN_DIR / "demo" / "manifest.jsonl"))


def _earlier_answer(session: str) -> Any:
    from django.contrib.auth.models import User

    from answers import engine
    from corpus.scope import RetrievalScope

    first = User.objects.get(username="asker-0")
    row = engine.answer(question=QUESTION, requested=RetrievalScope(exclude_retracted=True), by=first)
    return row.pk


async def _warmed_up(port: int, session: str, paths: Sequence[str]) -> None:
    """Read every page and get one answer, so that nothing is loaded for the first time while it is timed."""
    for path in paths:
        reply = await askers.fetch(port, "GET", path, session)
        assert reply.status == 200, (path, reply.status)
    await askers.crowd(port=port, sessions=[session], question=QUESTION, paths=paths)


def _report(told: askers.Told, *, tokens: int, strict: bool) -> int:
    from answers.models import Answer

    whole, others = 0, Counter[str]()
    for number, reply in enumerate(told.streams):
        row = Answer.objects.filter(pk=reply.answer_id).first() if reply.answer_id else None
        own = row is not None and row.text.startswith(f"Asker {number} ")
        is_whole = bool(row and own and row.finish == Answer.Finish.STOP and row.text == reply.text)
        whole += is_whole
        if not is_whole:
            others[f"{row.finish} {row.error} {row.degraded}" if row else f"status {reply.status}"] += 1
    refused = sum(reply.status != 200 or b"Many questions" in reply.body for reply in told.streams)
    first = [reply.first_word for reply in told.streams if reply.first_word is not None]
    print(
        f"whole, stored as streamed, and its asker's own: {whole} of {len(told.streams)}; refused: {refused}"
    )
    for ending, times in others.most_common():
        print(f"  ended otherwise: {times} {ending}")
    if len(first) > 1:
        print(f"first word after {median(first):.2f} s (median), {max(first):.2f} s (longest)")
    longest = max(reply.seconds for reply in told.streams)
    print(f"last answer whole after {longest:.1f} s; the model alone takes {tokens / PACE:.1f} s")
    every = [reply for replies in told.pages.values() for reply in replies]
    for path, replies in [*told.pages.items(), ("all pages", every)]:
        _print_page(path, replies)
    slow = _p95(every) > SLOWEST_PAGE
    failed = sum(reply.status != 200 for reply in every)
    verdict = "missed" if slow else "met"
    print(f"pages that failed: {failed}; goal p95 under {SLOWEST_PAGE * 1000:.0f} ms: {verdict}")
    return int(whole < len(told.streams) or bool(failed) or (slow and strict))


def _print_page(path: str, replies: Sequence[askers.Reply]) -> None:
    seconds = [reply.seconds for reply in replies]
    shown = "/answers/ID/" if len(path) > len("/answers/ID/") else path
    print(
        f"{shown:<12} {len(replies):>4} times, p50 {median(seconds) * 1000:.0f} ms, "
        f"p95 {_p95(replies) * 1000:.0f} ms, longest {max(seconds) * 1000:.0f} ms"
    )


def _p95(replies: Sequence[askers.Reply]) -> float:
    seconds = [reply.seconds for reply in replies]
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else max(seconds, default=0.0)


if __name__ == "__main__":
    sys.exit(main())
