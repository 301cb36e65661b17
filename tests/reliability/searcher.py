"""A process of the site that searches and changes rights, told what to do in lines of JSON.

It says of each search what was found and which server its layers were put to.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import django

django.setup()

from django.db import connections  # noqa: E402

from corpus.metrics import catalogue  # noqa: E402
from corpus.metrics.store import total  # noqa: E402
from corpus.models import Document  # noqa: E402
from corpus.scope import scope  # noqa: E402
from retrieval.retriever import retrieve  # noqa: E402
from tests.integration.retrieval.corpora import add  # noqa: E402

QUESTION = "How much methane does rice straw give?"


def fill(count: int) -> None:
    """Store documents that all speak to the question, half of them under a class that may be taken away."""
    for number in range(count):
        add(
            f"Straw {number}",
            [f"Rice straw of lot {number} gave {200 + number} litres of methane.", f"Lot {number} was dry."],
            license_class="open_commercial" if number % 2 else "public",
        )


def search() -> dict[str, Any]:
    """Search within a scope, and say where the layers read."""
    before = _reads()
    result = retrieve(question=QUESTION, scope=scope(license_classes=["public", "open_commercial"]), limit=20)
    after = _reads()
    return {
        "found": [[item.title, item.ordinal, float(item.score)] for item in result.items],
        "eligible": result.eligible.passages,
        "fingerprint": result.fingerprint,
        "degraded": list(result.degraded),
        "server": next(name for name in after if after[name] > before.get(name, 0)),
    }


def searches(count: int) -> list[dict[str, Any]]:
    """Search again and again."""
    return [search() for _ in range(count)]


def take_away(title: str) -> None:
    """Make a document one that nobody in the scope may see."""
    Document.objects.filter(title=title).update(license_class="restricted")


def give_back(title: str) -> None:
    """Undo that."""
    Document.objects.filter(title=title).update(license_class="public")


def _reads() -> dict[str, float]:
    counted = total(catalogue.folder(), catalogue.joined)
    names = {f'{catalogue.READS.name}{{server="{name}"}}': name for name in ("primary", "replica")}
    return {names[name]: value for name, value in counted.items() if name in names}


COMMANDS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (fill, search, searches, take_away, give_back)
}


def main() -> None:
    """Answer until there are no more questions."""
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(COMMANDS[request["do"]](*request["with"])), flush=True)  # noqa: T201
        connections.close_all()


if __name__ == "__main__":
    main()
