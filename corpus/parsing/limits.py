"""What one file may cost before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Budgets of one document. Seconds and bytes bind the child process, the rest binds the parsers."""

    max_bytes: int = 100 * _MEGABYTE
    max_pages: int = 5_000
    max_characters: int = 20_000_000
    wall_seconds: float = 300.0
    cpu_seconds: int = 300
    memory_bytes: int = 1_024 * _MEGABYTE
    max_result_bytes: int = 64 * _MEGABYTE


DEFAULT_LIMITS = ParseLimits()
