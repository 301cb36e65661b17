"""An answer as PROV-O in JSON-LD. The context stands in the file: nothing is fetched to read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from answers.exports.record import record
from answers.reading import ReadableAnswer

VOCABULARY = "urn:sci-rag:vocabulary:"
_XSD = "http://www.w3.org/2001/XMLSchema#"
CONTEXT: dict[str, Any] = {
    "prov": "http://www.w3.org/ns/prov#",
    "dcterms": "http://purl.org/dc/terms/",
    "xsd": _XSD,
    "sr": VOCABULARY,
    "id": "@id",
    "type": "@type",
    "value": "prov:value",
    "title": "dcterms:title",
    "citation": "dcterms:bibliographicCitation",
    "identifier": "dcterms:identifier",
    "started": {"@id": "prov:startedAtTime", "@type": "xsd:dateTime"},
    "ended": {"@id": "prov:endedAtTime", "@type": "xsd:dateTime"},
    "used": {"@id": "prov:used", "@type": "@id"},
    "generatedBy": {"@id": "prov:wasGeneratedBy", "@type": "@id"},
    "derivedFrom": {"@id": "prov:wasDerivedFrom", "@type": "@id"},
    "associatedWith": {"@id": "prov:wasAssociatedWith", "@type": "@id"},
    "attributedTo": {"@id": "prov:wasAttributedTo", "@type": "@id"},
    "informedBy": {"@id": "prov:wasInformedBy", "@type": "@id"},
    "record": {"@id": "sr:record", "@type": "@json"},
    "number": {"@id": "sr:number", "@type": "xsd:integer"},
    "cited": {"@id": "sr:cited", "@type": "xsd:boolean"},
    "available": {"@id": "sr:available", "@type": "xsd:boolean"},
    "locator": "sr:locator",
    "sha256": "sr:sha256",
    "licenseClass": "sr:licenseClass",
    "status": "sr:status",
    "fingerprint": "sr:corpusFingerprint",
    "scopeDigest": "sr:scopeDigest",
    "promptSha256": "sr:promptSha256",
    "embedding": "sr:embeddingVersion",
    "profile": "sr:profile",
}


def provenance(answers: Iterable[ReadableAnswer]) -> dict[str, Any]:
    """Return the graph of `answers`; the whole record of each stands in it as a JSON literal."""
    graph = [node for shown in answers for node in _nodes(record(shown))]
    return {"@context": CONTEXT, "@graph": graph}


def _nodes(kept: dict[str, Any]) -> list[dict[str, Any]]:
    me = f"urn:uuid:{kept['id']}"
    sources = [_source(me, source) for source in kept["sources"]]
    cited = [node["id"] for node in sources if node["cited"]]
    engine = {
        "id": f"{me}#engine",
        "type": ["prov:SoftwareAgent"],
        "title": kept["model"] or f"sci-rag {kept['engine']} engine",
    }
    asker = {"id": f"{me}#asker", "type": ["prov:Person"], "title": kept["asked_by"] or "operator"}
    question = {"id": f"{me}#question", "type": ["prov:Entity"], "value": kept["question"]}
    searched = {
        "id": f"{me}#searched-question",
        "type": ["prov:Entity"],
        "value": kept["searched_question"],
        "derivedFrom": [question["id"]],
    }
    making = {
        "id": f"{me}#making",
        "type": ["prov:Activity"],
        "started": kept["asked_at"],
        "ended": kept["finished_at"],
        "used": [searched["id"], *(node["id"] for node in sources)],
        "associatedWith": [engine["id"], asker["id"]],
        "informedBy": f"urn:uuid:{kept['follows']}#making" if kept["follows"] else None,
        "fingerprint": kept["fingerprint"],
        "scopeDigest": kept["scope_digest"],
        "promptSha256": kept["prompt_sha256"],
        "embedding": kept["embedding_version"],
        "profile": kept["profile"],
    }
    answer = {
        "id": me,
        "type": ["prov:Entity"],
        "value": kept["text"],
        "generatedBy": making["id"],
        "attributedTo": engine["id"],
        "derivedFrom": cited,
        "record": kept,
    }
    nodes = [answer, making, question | {"attributedTo": asker["id"]}, searched, engine, asker, *sources]
    return [{name: value for name, value in node.items() if value is not None} for node in nodes]


def _source(answer: str, source: dict[str, Any]) -> dict[str, Any]:
    node: dict[str, Any] = {
        "id": f"{answer}#source-{source['number']}",
        "type": ["prov:Entity"],
        "number": source["number"],
        "cited": source["cited"],
        "available": source["available"],
    }
    if not source["available"]:
        return node
    return node | {
        "title": source["title"],
        "citation": source["citation"],
        "identifier": f"doi:{source['doi']}" if source["doi"] else None,
        "locator": source["locator"],
        "sha256": source["content_sha256"],
        "licenseClass": source["license_class"],
        "status": source["status"],
    }
