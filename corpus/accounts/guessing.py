"""How often a password may be tried. Pure: what was counted and the time go in, the new count comes out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# After so long without a pause an earlier one is forgotten.
_FORGIVEN = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Rule:
    """At most `most` failures within `window`; then a pause that doubles each time, up to `longest`."""

    most: int
    window: timedelta
    longest: timedelta


@dataclass(frozen=True, slots=True)
class Count:
    """What was tried under one key since when, and until when the last pause lasts or lasted.

    `pauses` is how many came shortly after one another.
    """

    tried: int = 0
    since: datetime | None = None
    until: datetime | None = None
    pauses: int = 0


_QUARTER = timedelta(minutes=15)
# One name from one address, or from a device that its owner has signed in with before.
PAIR = Rule(10, _QUARTER, timedelta(hours=2))
# One name from everywhere else. The pause does not grow: whoever guesses must not keep the owner out.
NAME = Rule(50, _QUARTER, _QUARTER)
# One address, whatever names it tries: a lab behind one address mistypes, too.
ADDRESS = Rule(100, _QUARTER, _QUARTER)


def attempt(count: Count, rule: Rule, now: datetime) -> Count | None:
    """Return the count with one more attempt, taken as failed until it succeeds; None during a pause.

    The attempt that reaches the limit is let through, and the pause begins with it.
    """
    if count.until is not None and now < count.until:
        return None
    if count.since is None or now >= count.since + rule.window or _led_to_a_pause(count):
        is_recent = count.until is not None and now < count.until + _FORGIVEN
        count = replace(count, tried=0, since=now, pauses=count.pauses if is_recent else 0)
    tried = count.tried + 1
    if tried < rule.most:
        return replace(count, tried=tried)
    pause = min(rule.window * 2 ** min(count.pauses, 10), rule.longest)
    return replace(count, tried=tried, until=now + pause, pauses=count.pauses + 1)


def _led_to_a_pause(count: Count) -> bool:
    return count.since is not None and count.until is not None and count.since < count.until
