"""After a document is deleted, its words are nowhere: not in a dump of the database, not in a file."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as site
from django.db import connection

from answers.feedback import WrongReport
from answers.models import Answer, AnswerSource, Finding
from answers.notebook.deleted import as_kept
from answers.notebook.models import DeletedNote, Observation
from corpus.actions import deletion
from corpus.audit import verifying
from corpus.campaigns import downloads
from corpus.campaigns.models import Candidate
from corpus.models import Chunk, Document, IngestionItem, StageResult
from evaluation.models import Question
from sci_rag_site.backup import programs, state
from tests.factories.graph import EntityFactory, MentionFactory
from tests.leaks.world import World, canary

pytestmark = pytest.mark.django_db(transaction=True)
WORD = "quetzalbrine"
SENTENCE = f"In the third winter {WORD} was measured in every sample of the second digester."
CASE = "restricted"
# Where a deleted document is still named, by title, DOI, place or collection: the spec keeps that of stored
# answers, of the work's own record and of campaigns, and what people called their questions and sets.
NAMES = {
    "answers_answer": {"question"},
    "answers_answersource": {"bucket", "citation", "doi", "locator", "title"},
    "answers_observationsource": {"withdrawn_from"},
    "answers_wrongreport": {"comment"},
    "answers_wrongreportsource": {"bucket", "locator"},
    "corpus_campaignsearch": {"dois"},
    "corpus_candidate": {"abstract", "doi", "key", "title"},
    "corpus_documentevent": {"bucket"},
    "corpus_editorialevent": {"note", "notice_doi"},
    "corpus_editorialeventhistory": {"note", "notice_doi"},
    "corpus_fulltext": {"license_source", "url"},
    "corpus_modeluse": {"collection"},
    "corpus_screeningdecision": {"reason"},
    "corpus_screeninground": {"criteria"},
    "corpus_source": {"container", "identifier_value", "title"},
    "corpus_sourceevent": {"identifier_value"},
    "evaluation_calibrationlabel": {"skipped"},
    "evaluation_evaluationrun": {"question_set_name", "summary"},
    "evaluation_evidence": {"doi"},
    "evaluation_question": {"key", "question", "reference_answer", "tags"},
    "evaluation_runquestion": {"key", "question", "reference_answer", "tags"},
}


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.VAR_DIR = tmp_path / "var"


@pytest.fixture
def document(world: World) -> Document:
    """A document whose word stands wherever its words get to."""
    found, passage = world.documents[CASE], world.passages[CASE]
    Document.objects.filter(pk=found.pk).update(
        license_source=SENTENCE, rights_statement=SENTENCE, version_label=WORD, extra={"hidden": [SENTENCE]},
        parse_quality={"warnings": [SENTENCE]},
    )  # fmt: skip
    Chunk.objects.filter(pk=passage.pk).update(
        body=SENTENCE, content=SENTENCE, search_body=SENTENCE, search_heading=WORD, section_path=[WORD],
        forward_references=[WORD], citation_unit=WORD,
    )  # fmt: skip
    found.references.update(text=SENTENCE)
    _in_the_graph(world, passage)
    _in_answers(world, found)
    found.ingestion_items.update(path=f"{WORD}.pdf", detail=SENTENCE, described={"title": SENTENCE})
    question = Question.objects.filter(evidence__document=found).order_by("pk").first()
    assert question is not None
    Question.objects.filter(pk=question.pk).update(reference_answer=f"Expected: {SENTENCE}")
    question.evidence.filter(document=found).update(phrase=SENTENCE)
    _fetched(world, found)
    return Document.objects.get(pk=found.pk)


def _in_the_graph(world: World, passage: Chunk) -> None:
    own = EntityFactory(name=WORD, type="concept")
    merged = EntityFactory(name=f"{WORD} two", type="material", canonical_entity=world.entities[""])
    for entity in (own, merged):
        MentionFactory(entity=entity, chunk=passage, surface=WORD, start=SENTENCE.index(WORD))


def _in_answers(world: World, document: Document) -> None:
    answer = world.answers["asker"]
    Answer.objects.filter(pk=answer.pk).update(text=f"{SENTENCE} [1]")
    Finding.objects.create(answer=answer, sentence=0, start=0, end=5, kind="weak_support", detail=WORD)
    AnswerSource.objects.filter(document=document).update(section_path=[WORD])
    WrongReport.objects.filter(answer=answer).update(comment=f"It says “{SENTENCE}” and that is wrong.")
    for note in Observation.objects.filter(links__document=document).distinct():
        note.title, note.text = SENTENCE, f"Excerpt: {SENTENCE} To be checked."
        note.save()
        DeletedNote.objects.create(pk=note.pk, owner=note.owner, note=as_kept(note))


def _fetched(world: World, document: Document) -> None:
    candidate = Candidate.objects.filter(full_text__isnull=False).order_by("pk").first()
    assert candidate is not None
    path = downloads.folder(candidate.campaign_id) / downloads.file_name(candidate.number, candidate.title)
    path.parent.mkdir(parents=True)
    original = Path(site.MEDIA_ROOT) / "originals" / document.file_sha256[:2] / document.file_sha256[2:4]
    path.write_bytes((original / document.file_sha256).read_bytes())
    type(candidate.full_text).objects.filter(candidate=candidate).update(sha256=document.file_sha256)


def dumped() -> str:
    """Return everything that a dump of the database says, as text."""
    tool = programs.fitting("pg_dump", server=state.server_version() // 10_000)
    where, password = programs.address()
    with programs.running(
        tool, "--format=plain", "--inserts", f"--dbname={where}", password=password, output=subprocess.PIPE
    ) as dump:
        said = dump.source.read().decode()
        assert dump.failure() == ""
    return said


def columns_with(word: str) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        )
        for table, column in cursor.fetchall():
            statement = f'SELECT count(*) FROM "{table}" WHERE "{column}"::text LIKE %s'  # noqa: S608
            cursor.execute(statement, [f"%{word}%"])
            found[table, column] = cursor.fetchone()[0]
    return +found


def files_of(document: Document) -> Iterator[Path]:
    original = document.file_sha256.encode()
    for path in Path(site.MEDIA_ROOT).parent.rglob("*"):
        if path.is_file() and (path.name.encode() == original or path.suffix == ".pdf"):
            yield path


@pytest.mark.long
def test_no_word_of_a_deleted_document_is_in_a_dump_or_a_file(document: Document) -> None:
    before, there = dumped().count(WORD), columns_with(WORD)
    assert (before >= 40, len(there) >= 25) == (True, True), (before, there)
    assert len(list(files_of(document))) >= 2

    deletion.delete(document_id=document.pk)

    assert columns_with(WORD) == Counter()
    assert dumped().count(WORD) == 0
    assert [path for path in files_of(document) if path.name == document.file_sha256] == []
    assert list(Path(site.VAR_DIR).rglob("*.pdf")) == []
    # What is sealed was not touched.
    assert verifying.verify().tampers == ()
    # Where it is still named, and nowhere else.
    named: dict[str, set[str]] = {}
    for table, column in columns_with(canary(CASE)):
        named.setdefault(table, set()).add(column)
    assert {table: columns - NAMES.get(table, set()) for table, columns in named.items()} == {
        table: set() for table in named
    }


def test_what_people_wrote_stays_without_what_they_quoted(document: Document) -> None:
    deletion.delete(document_id=document.pk)

    notes = set(Observation.objects.values_list("title", "text"))
    assert ("[…].", "Excerpt: […]. To be checked.") in notes
    kept = [row.note for row in DeletedNote.objects.all()]
    assert {"Excerpt: […]. To be checked."} <= {note["text"] for note in kept}
    assert "It says “[…].” and that is wrong." in set(WrongReport.objects.values_list("comment", flat=True))
    assert "Expected: […]." in set(Question.objects.values_list("reference_answer", flat=True))
    assert columns_with(WORD) == Counter()
    assert IngestionItem.objects.filter(path=f"deleted {document.pk}", described={}).exists()
    assert not StageResult.objects.exists()
