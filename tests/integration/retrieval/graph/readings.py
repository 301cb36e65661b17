"""Documents of some length, and a model that replies at the length such documents give rise to."""

import re
from pathlib import Path

from corpus.models import Document
from tests.integration.retrieval.graph.extracting import document, edge, reply, thing
from tests.loopback.openai_server import Reply, Request, says

DEMO = Path(__file__).resolve().parents[4] / "domain" / "demo" / "documents"


def library(*, pieces: int = 900, **fields: object) -> list[Document]:
    """Return documents with the text of the demo corpus, in passages of about so many characters."""
    made = []
    for path in sorted(DEMO.glob("*.md")) + sorted(DEMO.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        bodies = [text[start : start + pieces] for start in range(0, len(text), pieces)]
        made.append(document(*bodies, **fields))
    return made


def extracts(request: Request) -> Reply:
    """Reply with four things and a relation for each passage that is asked about."""
    numbers = sorted({int(number) for number in re.findall(r"number=(\d+)>", request.prompt)})
    things = [
        thing(name, "process", passage=number, description="")
        for number in numbers
        for name in ("anaerobic digestion", "biogas", "corn stover", "storage")
    ]
    edges = [
        edge("anaerobic digestion", "biogas", "Anaerobic digestion turns matter into biogas.", passage=number)
        for number in numbers
    ]
    return says(reply(entities=things, relations=edges))
