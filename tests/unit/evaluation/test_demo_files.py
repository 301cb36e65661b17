"""The files of the demo corpus fit together."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from corpus.identifiers import fold, normalise_doi
from corpus.parsing.registry import parse
from corpus.rights import ALL_CLASSES
from evaluation.questions import SeedQuestion, read_questions
from evaluation.relevance import phrases_found

DEMO = Path(__file__).resolve().parents[3] / "domain/demo"


def records(name: str) -> list[dict[str, Any]]:
    lines = (DEMO / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip() and not line.startswith("#")]


MANIFEST = records("manifest.jsonl")
DOIS = {normalise_doi(entry["doi"]) for entry in MANIFEST if "doi" in entry}
QUESTIONS = read_questions(DEMO / "seed_questions.jsonl")


def test_every_document_is_in_the_manifest_and_every_entry_has_its_document() -> None:
    listed = {entry["path"] for entry in MANIFEST}
    held = {f"documents/{path.name}" for path in (DEMO / "documents").iterdir()}

    assert listed == held


def test_the_corpus_has_all_five_classes() -> None:
    classes = {entry.get("license_class", "unknown") for entry in MANIFEST}

    assert classes == set(ALL_CLASSES)


def test_every_doi_belongs_to_the_test_prefix() -> None:
    events = {event["doi"] for event in records("editorial_events.jsonl")}

    assert all(doi.startswith("10.5555/") for doi in DOIS | events)
    assert events <= DOIS


def test_what_is_superseded_is_held() -> None:
    assert [entry["supersedes"] for entry in MANIFEST if "supersedes" in entry] == [
        "10.5555/demo.guideline.2016"
    ]
    assert "10.5555/demo.guideline.2016" in DOIS


def test_there_are_twenty_five_questions_that_nobody_has_signed() -> None:
    assert len(QUESTIONS) == 25
    assert all(question.drafted for question in QUESTIONS)


def test_the_questions_cover_what_the_demo_is_there_to_show() -> None:
    tags = {tag for question in QUESTIONS for tag in question.tags}

    assert tags >= {"numeric", "table", "two_documents", "superseded", "retracted", "unanswerable", "licence"}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_what_a_question_refers_to_is_in_the_manifest(question: SeedQuestion) -> None:
    titles = {fold(entry["title"]) for entry in MANIFEST}

    assert set(question.reference_documents) <= DOIS
    assert {fold(title) for title in question.reference_titles} <= titles


@pytest.mark.parametrize("source", sorted((DEMO / "pdf_sources").glob("*.txt")), ids=lambda path: path.stem)
def test_a_committed_pdf_is_what_its_text_gives(source: Path, tmp_path: Path) -> None:
    build = runpy.run_path(str(DEMO / "build_pdfs.py"))["build"]

    build(source, tmp_path / "again.pdf")

    committed = DEMO / "documents" / f"{source.stem}.pdf"
    assert (tmp_path / "again.pdf").read_bytes() == committed.read_bytes()


def parsed_text(path: Path) -> str:
    """Return the words of a document as its parser reads them, tables row by row."""
    blocks = parse(path).blocks
    return "\n".join("\n".join([block.text, *(" | ".join(row) for row in block.rows)]) for block in blocks)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """The parsed text of every document, by DOI in normal form or else by folded title."""
    return {
        normalise_doi(entry.get("doi", "")) or fold(entry["title"]): parsed_text(DEMO / entry["path"])
        for entry in MANIFEST
    }


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_every_evidence_phrase_stands_in_a_reference_document(
    question: SeedQuestion, texts: dict[str, str]
) -> None:
    references = [*question.reference_documents, *map(fold, question.reference_titles)]
    found = {phrase for name in references for phrase in phrases_found(question, texts[name])}

    assert found == set(question.evidence_phrases)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_every_reference_document_of_a_question_holds_evidence(
    question: SeedQuestion, texts: dict[str, str]
) -> None:
    references = [*question.reference_documents, *map(fold, question.reference_titles)]

    assert [name for name in references if not phrases_found(question, texts[name])] == []


def test_evidence_stands_nowhere_but_in_the_reference_documents(texts: dict[str, str]) -> None:
    elsewhere = [
        (question.id, name)
        for question in QUESTIONS
        for name, text in texts.items()
        if phrases_found(question, text)
        and name not in {*question.reference_documents, *map(fold, question.reference_titles)}
    ]

    assert elsewhere == []
