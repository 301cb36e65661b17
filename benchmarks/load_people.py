"""People who ask, read for a while and ask again, or all at once: a process of its own with one thread.

Reads what to do as a JSON object from standard input and writes what came of it as JSON, a list for each
question: when it was asked, how many seconds it took, what it ended as, and the seconds to come back after.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from benchmarks import askers

WHOLE, TOLD_TO_RETRY = "whole", "told to retry"
# An answer all the same: what it would have stood on is gone, or a stage did not come to its end.
REFUSED, ENDED_EARLY = "refused", "ended early"
_PATIENCE = 90.0
_RETRY_AFTER = re.compile(rb"(?i)\r\nretry-after: (\d+)")


@dataclass(frozen=True, slots=True)
class Plan:
    """Who asks what for how long. A person is a session, or a key where they ask by REST."""

    port: int
    sessions: Sequence[str]
    keys: Sequence[str]
    questions: Sequence[str]
    seconds: float = 0.0
    think: float = 30.0
    pings: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question."""

    asked: float
    seconds: float
    ended: str
    retry_after: int | None = None


async def people(plan: Plan) -> list[Outcome]:
    """Have everybody ask and think in turn until the time is over; the first questions are spread evenly."""
    began, outcomes = time.monotonic(), list[Outcome]()

    async def person(number: int) -> None:
        chance = random.Random(number)  # noqa: S311 reproducible, not secret
        pause = chance.uniform(0, plan.think)
        while time.monotonic() + pause < began + plan.seconds:
            await asyncio.sleep(pause)
            outcomes.append(await question(plan, number, chance.choice(plan.questions), began))
            pause = chance.uniform(0.5, 1.5) * plan.think

    await asyncio.gather(*(person(number) for number in range(len(plan.sessions) + len(plan.keys))))
    return outcomes


async def burst(plan: Plan) -> list[Outcome]:
    """Have everybody ask in the same moment, once."""
    began, numbers = time.monotonic(), range(len(plan.sessions) + len(plan.keys))
    questions = [plan.questions[number % len(plan.questions)] for number in numbers]
    asked = (question(plan, number, questions[number], began) for number in numbers)
    return list(await asyncio.gather(*asked))


async def pings(plan: Plan) -> list[Outcome]:
    """Ask `/healthz` again and again, so many at a time."""
    began, outcomes = time.monotonic(), list[Outcome]()

    async def pinging() -> None:
        while (asked := time.monotonic()) < began + plan.seconds:
            reply = await askers.exchange(plan.port, "GET", "/healthz", {}, "")
            ended = WHOLE if reply.status == 200 else str(reply.status)
            outcomes.append(Outcome(asked - began, reply.seconds, ended))

    await asyncio.gather(*(pinging() for _ in range(plan.pings)))
    return outcomes


async def question(plan: Plan, number: int, asking: str, began: float) -> Outcome:
    """Ask as person `number` does and return what came of it."""
    asked = time.monotonic()
    words = f"{asking} I am asker {number}."
    try:
        reply = await asyncio.wait_for(_sent(plan, number, words), _PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        return Outcome(asked - began, time.monotonic() - asked, type(error).__name__)
    retry = _RETRY_AFTER.search(reply.head)
    return Outcome(asked - began, reply.seconds, _ended(reply, number), int(retry[1]) if retry else None)


async def _sent(plan: Plan, number: int, words: str) -> askers.Reply:
    if number < len(plan.sessions):
        return await askers.fetch(
            plan.port, "POST", "/ask/stream/", plan.sessions[number], urlencode({"question": words})
        )
    headers = {
        "Authorization": f"Bearer {plan.keys[number - len(plan.sessions)]}",
        "Content-Type": "application/json",
    }
    return await askers.exchange(plan.port, "POST", "/api/v1/answer", headers, json.dumps({"query": words}))


def _ended(reply: askers.Reply, number: int) -> str:
    if reply.status == 503 and b"etry-" in reply.head:
        return TOLD_TO_RETRY
    if reply.status != 200:
        return f"status {reply.status}"
    if b"Many questions" in reply.body:
        return "turned away in its stream"
    is_done = b'class="done">Citations checked' in reply.body or b'"finish":"stop"' in reply.body
    if not is_done:
        return REFUSED if b"Nothing found that answers" in reply.body else ENDED_EARLY
    return WHOLE if f"Asker {number} ".encode() in reply.body else "somebody else's"


def main() -> None:
    """Do what the plan says."""
    told = json.loads(sys.stdin.read())
    do = {"people": people, "burst": burst, "pings": pings}[told.pop("do")]
    outcomes = asyncio.run(do(Plan(**told)))
    sys.stdout.write(json.dumps([list(asdict(outcome).values()) for outcome in outcomes]))


if __name__ == "__main__":
    main()
