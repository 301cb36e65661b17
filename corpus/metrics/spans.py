"""Spans for an SDK of OpenTelemetry: names, statuses and numbers. Without an SDK they do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace


@contextmanager
def span(name: str, **about: str | int | float) -> Iterator[trace.Span]:
    """Measure the block as a span under the one around it. Of an exception it keeps nothing: it may quote."""
    tracer = trace.get_tracer("sci_rag")
    with tracer.start_as_current_span(
        f"sci_rag.{name}", attributes=about, record_exception=False, set_status_on_exception=False
    ) as started:
        yield started
