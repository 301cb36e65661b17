"""One finding of the doctor, and running the checks so that a broken one is a finding too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import structlog

logger = structlog.get_logger(__name__)


class Status(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do about it. No secrets, no content of documents."""

    name: str
    status: Status
    message: str
    fix: str = ""

    def as_dict(self) -> dict[str, str]:
        return {"name": self.name, "status": str(self.status), "message": self.message, "fix": self.fix}


Check = Callable[[], Iterable[Finding]]


def ok(name: str, message: str) -> Finding:
    return Finding(name, Status.OK, message)


def warn(name: str, message: str, fix: str) -> Finding:
    return Finding(name, Status.WARN, message, fix)


def fail(name: str, message: str, fix: str) -> Finding:
    return Finding(name, Status.FAIL, message, fix)


def counted(name: str, count: int, *, good: str, bad: str, fix: str) -> Finding:
    """Return a warning when there are any; `bad` takes the count."""
    return warn(name, bad.format(f"{count:,}"), fix) if count else ok(name, good)


def run(checks: Iterable[Check]) -> Iterator[Finding]:
    """Yield the findings of `checks`; one that breaks yields a failure by its name."""
    for check in checks:
        name = check.__name__.replace("_", " ")
        try:
            yield from check()
        except Exception as error:  # noqa: BLE001 - the doctor reports what it cannot look at
            logger.warning("doctor.check_failed", check=name, kind=type(error).__name__)
            yield fail(
                name,
                f"It could not be looked at: {type(error).__name__}.",
                "Mend what failed before it and run 'sci-rag doctor' again.",
            )


def report(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the findings as JSON values, with the worst status and the counts."""
    listed = list(findings)
    counts = {str(status): sum(item.status is status for item in listed) for status in Status}
    worst = Status.FAIL if counts["fail"] else Status.WARN if counts["warn"] else Status.OK
    return {"status": str(worst), "counts": counts, "checks": [item.as_dict() for item in listed]}
