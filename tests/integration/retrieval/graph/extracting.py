"""What the tests of extraction share: documents with passages, and a model that says what it is told."""

import hashlib
import json
from typing import Any

from corpus.models import Chunk, Document
from retrieval.graph.extraction.rules import RuleExtractor
from retrieval.graph.extraction.running import Reach, extract
from retrieval.models import ExtractionRun
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.unit.retrieval.graph.ontologies import ONTOLOGY

DRY = "Pyrolysis produces biochar. Anaerobic digestion (AD) gives methane."
WET = "AD produces methane."


def document(*bodies: str, **fields: Any) -> Document:
    """A document whose hash comes from its text, as it does after ingestion."""
    sha256 = hashlib.sha256("\n".join(bodies).encode()).hexdigest()
    made: Document = DocumentFactory(content_sha256=sha256, chunk_count=len(bodies), **fields)
    for ordinal, body in enumerate(bodies):
        ChunkFactory(document=made, ordinal=ordinal, body=body)
    return made


def by_rules(**options: Any) -> ExtractionRun:
    return extract(extractor=RuleExtractor(ONTOLOGY), ontology=ONTOLOGY, reach=Reach(**options))


def reply(*, entities: list[Any] | None = None, relations: list[Any] | None = None) -> str:
    return json.dumps({"entities": entities or [], "relations": relations or []})


def thing(name: str, kind: str = "material", passage: Any = 1, **more: Any) -> dict[str, Any]:
    return {"passage": passage, "name": name, "type": kind, "aliases": [], **more}


def edge(source: str, target: str, quote: str, **more: Any) -> dict[str, Any]:
    return {
        "passage": 1,
        "source": source,
        "target": target,
        "type": "produces",
        "quote": quote,
        "confidence": 1.0,
        **more,
    }


def bodies() -> dict[int, str]:
    return dict(Chunk.objects.values_list("pk", "body"))
