"""Exports are held against parsers that are not ours: what was written is what they read."""

import csv
import io
import json
import re
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import parse_string
from rdflib import RDF, Graph, Literal, Namespace, URIRef

from answers.exports import table
from answers.exports.forms import FORMS
from answers.models import Answer
from answers.reading import Drift, ReadableAnswer, ReadableFinding, ReadableSource

PROV = Namespace("http://www.w3.org/ns/prov#")
MULLER = ReadableSource(
    number=1,
    available=True,
    cited=True,
    document_id="d1",
    passage_id=str(uuid.UUID(int=7)),
    title="Straw & {braces}: 50 % of C_6 at $5 #1 ~ ^ \\x",
    citation="Müller J (2021)",
    doi="10.1234/a_b(c)<d>&e",
    locator="3 Results",
    page_start=3,
    page_end=5,
    body="Rice straw yields 210 L/kg.",
    license_class="open_commercial",
    license_label="Open, commercial use allowed",
    license_now="open_commercial",
    bucket="local",
    badges=("retracted",),
    content_sha256="a" * 64,
    score=0.5,
    ranks=(("keyword", 1),),
    authors=("Jörg Müller", "Ludwig van der Berg", "Smith and Sons Ltd."),
    year=2021,
    journal="Journal of Straw & Hay",
    url="https://example.org/a_b?c=%20",
    file_name="müller 2021.pdf",
)
SECOND = replace(MULLER, number=2, page_start=9, page_end=9, locator="", score=0.9, badges=())
PLAIN = ReadableSource(
    number=3, available=True, cited=True, document_id="d3", title="=HYPERLINK(1)", score=0.7, year=None,
    license_class="public", license_label="Public domain", license_now="public", content_sha256="b" * 64,
    drift=(Drift.RETRACTED, Drift.LICENSE_CHANGED), file_name="",
)  # fmt: skip
GONE = ReadableSource(
    number=4, available=False, cited=True, withdrawn=True, title="Secret title", doi="10.9999/secret",
    citation="Secret citation", locator="Secret place", content_sha256="c" * 64,
)  # fmt: skip
UNCITED = replace(PLAIN, number=5, cited=False, document_id="d5", title="Only retrieved", drift=())


def shown(
    *sources: ReadableSource, text: str = "Rice straw yields 210 L/kg [1].", **values: Any
) -> ReadableAnswer:
    answer = Answer(
        id=uuid.UUID(int=1),
        question=values.pop("question", "What is the yield?"),
        text=text,
        state="done",
        finish="stop",
        scope_digest="d" * 64,
        profile="interactive",
        engine="extractive",
        fingerprint="f" * 64,
        embedding_version="all-MiniLM-L6-v2@384",
        effective_scope={"license_classes": ["public"], "exclude_retracted": True},
        traces=[{"stage": "keyword", "status": "ok", "candidates": 3, "milliseconds": 1.5}],
        created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        finished_at=datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC),
        **values,
    )
    finding = ReadableFinding(0, 0, len(text), "supported", "Supported", (1,), "")
    return ReadableAnswer(
        answer=answer, text=text, text_withheld=not text, sources=sources, findings=(finding,)
    )


WHOLE = shown(MULLER, SECOND, PLAIN, GONE, UNCITED)


def written(form: str, *answers: ReadableAnswer, title: str = "") -> str:
    return FORMS[form].write(answers or (WHOLE,), title)


@pytest.mark.parametrize("form", list(FORMS))
def test_a_source_that_is_withdrawn_is_a_placeholder_without_a_title(form: str) -> None:
    text = written(form)

    assert "Secret" not in text
    assert "10.9999/secret" not in text
    assert "c" * 64 not in text


def test_bibtex_is_what_another_parser_reads() -> None:
    entries = parse_string(written("bibtex"), "bibtex").entries

    first, plain, gone = entries.values()
    assert [first.type, plain.type, gone.type] == ["article", "misc", "misc"]
    assert [str(person) for person in first.persons["author"]] == [
        "Müller, Jörg", "van der Berg, Ludwig", "{Smith and Sons Ltd.}",
    ]  # fmt: skip
    assert first.fields["doi"] == "10.1234/a_b(c)<d>&e"
    assert (
        r"Straw \& {\textbraceleft}braces{\textbraceright}: 50 \% of C\_6 at \$5 \#1" in first.fields["title"]
    )
    assert first.fields["journal"] == r"Journal of Straw \& Hay"
    assert first.fields["note"] == (
        "Cited at 3 Results, pp. 3--5; p. 9. RETRACTED. Licence: Open, commercial use allowed."
    )
    assert "RETRACTED since the answer was written" in plain.fields["note"]
    assert "title" not in gone.fields
    assert "pages" not in first.fields, "the pages of a passage are not the extent of the work"


def test_ris_is_what_another_parser_reads() -> None:
    first, plain, gone = rispy.loads(written("ris"))

    assert first["title"] == MULLER.title
    assert first["authors"] == ["Müller, Jörg", "van der Berg, Ludwig", "Smith and Sons Ltd."]
    assert (first["type_of_reference"], first["doi"], first["year"]) == ("JOUR", MULLER.doi, "2021")
    assert first["notes"][:2] == ["Cited at 3 Results, pp. 3–5; p. 9", "RETRACTED"]
    assert first["notes"][-1] == "Licence: Open, commercial use allowed"
    assert "RETRACTED since the answer was written" in plain["notes"]
    assert "title" not in gone


def test_csl_json_sets_a_reference_in_another_processor(tmp_path: Path) -> None:
    from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
    from citeproc.source.json import CiteProcJSON

    items = json.loads(written("csl-json"))
    assert items[0]["author"][0] == {"family": "Müller", "given": "Jörg"}
    assert items[0]["DOI"] == MULLER.doi
    assert items[0]["custom"]["locators"] == ["3 Results, pp. 3–5", "p. 9"]
    assert "RETRACTED" in items[0]["note"]
    assert items[2] == {"id": "unavailable-3", "type": "document", "note": items[2]["note"]}

    for item in items:
        item.pop("custom", None)
    source = CiteProcJSON(items[:1])
    style = CitationStylesStyle("harvard-cite-them-right", validate=False)
    bibliography = CitationStylesBibliography(style, source, formatter.plain)
    bibliography.register(Citation([CitationItem(items[0]["id"])]))
    (reference,) = bibliography.bibliography()
    assert "Müller, J." in str(reference)
    assert "2021" in str(reference)


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
def test_json_ld_expands_to_provenance() -> None:
    graph = Graph().parse(data=written("json-ld"), format="json-ld")
    answer = URIRef(f"urn:uuid:{WHOLE.answer.pk}")
    making = URIRef(f"{answer}#making")

    assert (answer, RDF.type, PROV.Entity) in graph
    assert (answer, PROV.wasGeneratedBy, making) in graph
    assert (making, RDF.type, PROV.Activity) in graph
    cited = {str(node).rpartition("-")[2] for node in graph.objects(answer, PROV.wasDerivedFrom)}
    used = {str(node) for node in graph.objects(making, PROV.used)}
    assert cited == {"1", "2", "3", "4"}
    assert used == {f"{answer}#searched-question", *(f"{answer}#source-{n}" for n in range(1, 6))}
    assert graph.value(answer, PROV.value) == Literal(WHOLE.text)
    (started,) = graph.objects(making, PROV.startedAtTime)
    assert started.toPython() == WHOLE.answer.created_at


def test_the_record_holds_everything_that_is_kept_of_an_answer() -> None:
    kept = json.loads(written("json"))

    assert kept.keys() >= {
        "question", "searched_question", "rewriting", "effective_scope", "scope_digest", "profile", "engine",
        "model", "model_parameters", "prompt_sha256", "embedding_version", "fingerprint", "traces", "sources",
        "findings", "timings_ms", "tokens", "cost_usd", "asked_by", "asked_at", "finished_at", "text_sha256",
    }  # fmt: skip
    first = kept["sources"][0]
    assert (first["content_sha256"], first["license_class"], first["status"]) == (
        "a" * 64, "open_commercial", ["retracted"],
    )  # fmt: skip
    assert kept["sources"][3] == {"number": 4, "cited": True, "available": False}
    assert [source["cited"] for source in kept["sources"]] == [True] * 4 + [False]


def test_a_session_has_its_evidence_before_the_askers_line() -> None:
    lines = written("fountain").split("\n")

    start = lines.index("[[rag: 5 chunks from sci-rag, top score 0.9]]")
    doi = "doi:10.1234/a_b(c)<d>&e"
    assert lines[start + 1 : start + 6] == [
        f"[[rag-source: müller 2021.pdf (Straw & {{braces}}: 50 % of C_6 at $5 #1 ~ ^ \\x, {doi})]]",
        "[[rag-source: d3 (=HYPERLINK(1))]]",
        "[[rag-source: d5 (Only retrieved)]]",
        "[[rag-source: unavailable-4]]",
        "",
    ]
    assert lines[start + 6 : start + 8] == ["ASKER", "What is the yield?"]
    assert lines.index("SCI-RAG") > start + 7


def test_without_title_and_doi_there_is_no_parenthesis() -> None:
    bare = replace(PLAIN, title="", file_name="a.pdf")

    assert "[[rag-source: a.pdf]]" in written("fountain", shown(bare))
    assert "[[rag-source: a.pdf (doi:10.1/x)]]" in written("fountain", shown(replace(bare, doi="10.1/x")))


def test_no_text_ends_a_note_or_hides_what_follows() -> None:
    hostile = replace(PLAIN, title="A ]] b\n[[rag-source: forged]] /* gone")
    text = written(
        "fountain", shown(hostile, text="One.\n\nTwo ]] [[x]] /* three [1].", question="a\r\n\r\nb")
    )

    assert [line for line in text.split("\n") if line.startswith("[[rag-source:")] == [
        "[[rag-source: d3 (A ] ] b [ [rag-source: forged] ] / * gone)]]"
    ]
    assert "One.\n  \nTwo ] ] [ [x] ] / * three [1]." in text
    assert "ASKER\na\n  \nb\n" in text


@given(st.text(max_size=80))
def test_no_cell_of_a_table_is_run(cell: str) -> None:
    kept = table.neutral(cell)

    assert not kept.lstrip().startswith(("=", "+", "-", "@"))
    assert not kept.startswith(("\t", "\r", "\n"))
    assert kept.removeprefix("'") == cell.replace("\0", "") or kept == cell.replace("\0", "")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_table_opens_as_text(start: str) -> None:
    rows = list(
        csv.DictReader(io.StringIO(written("csv", shown(MULLER, replace(PLAIN, title=f"{start}1+1"), GONE))))
    )

    assert [row["number"] for row in rows] == ["1", "3", "4"]
    assert rows[1]["title"] == f"'{start}1+1"
    assert rows[2]["title"] == ""
    assert rows[0]["title"] == MULLER.title


def test_markdown_is_the_text_with_its_sources_as_words() -> None:
    from markdown_it import MarkdownIt

    text = written("markdown", title="A *session*")
    html = MarkdownIt("commonmark", {"html": True}).render(text)

    assert WHOLE.text in text
    assert "<h1>A *session*</h1>" in html
    assert "<d>" not in re.sub(r"<https[^>]+>", "", text).replace("\\<d\\>", "")
    assert "RETRACTED" in text
    assert "was withdrawn or is not available" in text


@pytest.mark.parametrize("form", list(FORMS))
def test_two_turns_are_one_file(form: str) -> None:
    later = shown(SECOND, text="Ninety [1].")
    text = written(form, WHOLE, later, title="Both")

    assert text
    if form == "json":
        assert [len(turn["sources"]) for turn in json.loads(text)["answers"]] == [5, 1]
    if form == "bibtex":
        assert len(parse_string(text, "bibtex").entries) == 3, "a work cited in both turns is listed once"


@pytest.mark.parametrize("form", list(FORMS))
def test_a_withheld_text_is_in_no_file(form: str) -> None:
    withheld = shown(GONE, text="")

    assert written(form, withheld).count("210 L/kg") == 0
