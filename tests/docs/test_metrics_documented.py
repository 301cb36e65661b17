"""docs/operating.md names every metric with its labels, and none that is gone."""

import re
from pathlib import Path

from corpus.metrics import catalogue

OPERATING = (Path(__file__).resolve().parents[2] / "docs/operating.md").read_text(encoding="utf-8")


def test_every_metric_is_documented_with_its_labels() -> None:
    rows = re.findall(r"^\| `(sci_rag_\w+)` \|([^|]*)\|", OPERATING, re.MULTILINE)
    documented = {name: tuple(re.findall(r"`(\w+)`", labels)) for name, labels in rows}

    assert documented == {metric.name: metric.labels for metric in catalogue.ALL}
