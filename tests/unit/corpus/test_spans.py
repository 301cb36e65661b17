"""What a span tells to an SDK: never what an exception says."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace

from corpus.metrics.spans import span


class Remembering(trace.NoOpTracer):
    """Notes how spans are started."""

    def __init__(self) -> None:
        self.started: list[dict[str, Any]] = []

    def start_as_current_span(self, name: str, **options: Any) -> Any:  # type: ignore[override]
        self.started.append({"name": name, **options})
        return super().start_as_current_span(name)


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Remembering:
    tracer = Remembering()
    monkeypatch.setattr(trace, "get_tracer", lambda _name: tracer)
    return tracer


def test_a_span_has_its_numbers_and_keeps_nothing_of_an_exception(tracer: Remembering) -> None:
    with pytest.raises(ValueError, match="canary"), span("layer", layer="vector"):
        raise ValueError("canary")

    (started,) = tracer.started
    assert (started["name"], started["attributes"]) == ("sci_rag.layer", {"layer": "vector"})
    assert started["record_exception"] is False
    assert started["set_status_on_exception"] is False
