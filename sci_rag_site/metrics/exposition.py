"""The text that monitors read: every metric with what it is, in the format of Prometheus."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from corpus.metrics import catalogue
from corpus.metrics.catalogue import Metric, sample
from sci_rag_site.metrics.gauges import Reading

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(counted: Mapping[str, float], readings: Iterable[Reading]) -> str:
    """Return the text. What was counted and what is read are the two sources, which share no name."""
    read: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for metric, labels, value in readings:
        read[metric.name].append((sample(metric.name, metric.ordered(labels)), value))
    lines: list[str] = []
    for metric in catalogue.ALL:
        found = read[metric.name] or list(_counted(metric, counted))
        if found:
            lines += [f"# HELP {metric.name} {metric.help}.", f"# TYPE {metric.name} {metric.kind}"]
            lines += [f"{name} {_number(value)}" for name, value in found]
    return "\n".join([*lines, ""])


def _counted(metric: Metric, counted: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    if metric.kind == "histogram":
        yield from _histogram(metric, counted)
        return
    for name, value in sorted(counted.items()):
        if name.partition("{")[0] == metric.name:
            # What is kept of a breaker is until when it is open.
            yield name, float(value > time.time()) if metric is catalogue.BREAKER_OPEN else value


def _histogram(metric: Metric, counted: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield buckets that include the smaller ones, for each combination of labels that was observed."""
    prefix = f"{metric.name}_count"
    for name in sorted(name for name in counted if name.partition("{")[0] == prefix):
        labels = name[len(prefix) :].strip("{}")
        sofar = 0.0
        for bound in catalogue.BUCKETS:
            bucket = f'{metric.name}_bucket{{{labels}{"," if labels else ""}le="{bound}"}}'
            sofar += counted.get(bucket, 0.0)
            yield bucket, sofar
        yield (
            f"{metric.name}_sum{name[len(prefix) :]}",
            counted.get(f"{metric.name}_sum{name[len(prefix) :]}", 0.0),
        )
        yield name, counted[name]


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
