"""Deleting a document takes its words out of stored answers, and leaves what names it."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from answers import reading
from answers.models import Answer, AnswerSource, Finding
from corpus.actions import deletion
from corpus.models import Chunk, Document, DocumentCitation, GroupCeiling
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory

pytestmark = pytest.mark.django_db

WORD = "zirconquartz"


@pytest.fixture(autouse=True)
def media(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def passage() -> Chunk:
    document = DocumentFactory(title="Withdrawn paper", license_class="public", source=SourceFactory())
    return ChunkFactory(document=document, ordinal=0, body=f"It was {WORD}.", section_path=[f"On {WORD}"])


def answered(asker: User, passage: Chunk, *, engine: str, cited: bool = True) -> Answer:
    answer = Answer.objects.create(
        asked_by=asker, question="What was it?", text=f"It was {WORD}. [1]", state="done", finish="stop",
        scope_digest="0" * 64, profile="interactive", engine=engine,
    )  # fmt: skip
    AnswerSource.objects.create(
        answer=answer, number=1, chunk=passage, document=passage.document, is_cited=cited,
        title=passage.document.title, citation="Lovelace (2020). Withdrawn paper.", locator="Table 2",
        section_path=passage.section_path, license_class=passage.document.license_class,
        bucket=passage.document.bucket, content_sha256=passage.content_sha256, score=1.0,
    )  # fmt: skip
    Finding.objects.create(
        answer=answer, sentence=0, start=0, end=5, kind="weak_support", numbers=[1], detail=WORD
    )
    return answer


def shown(answer: Answer, reader: User) -> reading.ReadableAnswer:
    found = reading.readable(Answer.objects.get(pk=answer.pk), reader)
    assert found is not None
    return found


def rows_with(word: str) -> list[str]:
    """Name the tables in which a row holds `word` anywhere."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            rows = f'SELECT 1 FROM "{table}" AS row WHERE row::text LIKE %s LIMIT 1'  # noqa: S608 - our tables
            cursor.execute(rows, [f"%{word}%"])
            if cursor.fetchone():
                found.append(table)
    return sorted(found)


@pytest.mark.parametrize(("engine", "cited"), [("extractive", True), ("model", True), ("model", False)])
def test_title_place_and_hash_stay_and_the_text_goes(
    asker: User, passage: Chunk, engine: str, cited: bool
) -> None:
    answer = answered(asker, passage, engine=engine, cited=cited)
    assert {"answers_answer", "corpus_chunk"} <= set(rows_with(WORD))

    assert deletion.delete(document_id=passage.document_id).is_complete

    page = shown(answer, asker)
    (source,) = page.sources
    assert (page.text, page.text_withheld, page.findings) == ("", True, ())
    assert (source.withdrawn, source.available, source.body) == (True, False, "")
    assert (source.title, source.locator) == ("Withdrawn paper", "Table 2")
    assert source.content_sha256 == passage.content_sha256
    # Not one row of any table, whoever may read it.
    assert rows_with(WORD) == []


def test_an_answer_that_only_found_the_document_keeps_its_quotations(asker: User, passage: Chunk) -> None:
    answer = answered(asker, passage, engine="extractive", cited=False)
    Answer.objects.update(text="Something else. [2]")

    deletion.delete(document_id=passage.document_id)

    page = shown(answer, asker)
    assert (page.text, page.text_withheld) == ("Something else. [2]", False)
    assert page.sources[0].withdrawn


def test_answers_that_never_saw_it_are_left_alone(asker: User, passage: Chunk) -> None:
    other = answered(asker, ChunkFactory(document=DocumentFactory(), ordinal=0), engine="model")

    deletion.delete(document_id=passage.document_id)

    assert shown(other, asker).text == f"It was {WORD}. [1]"
    assert Finding.objects.filter(answer=other).exists()


def test_the_page_says_that_the_source_was_withdrawn(client, asker: User, passage: Chunk) -> None:
    answer = answered(asker, passage, engine="model")
    deletion.delete(document_id=passage.document_id)
    client.force_login(asker)

    page = client.get(reverse("answer", args=[answer.pk])).content.decode()

    assert "Source withdrawn" in page
    assert "Withdrawn paper" in page
    assert WORD not in page


def test_the_rights_it_had_last_say_who_may_know_of_it(asker: User, librarian: User, passage: Chunk) -> None:
    answer = answered(asker, passage, engine="model")
    Document.objects.filter(pk=passage.document_id).update(license_class="restricted")

    deletion.delete(document_id=passage.document_id)

    (hidden,) = shown(answer, asker).sources
    assert (hidden.withdrawn, hidden.title, hidden.content_sha256) == (False, "", "")
    assert shown(answer, librarian).sources[0].title == "Withdrawn paper"


def test_a_ceiling_that_falls_later_hides_what_is_left(asker: User, passage: Chunk) -> None:
    answer = answered(asker, passage, engine="model")
    deletion.delete(document_id=passage.document_id)

    GroupCeiling.objects.filter(group__name="asker").update(license_classes=["open_commercial"])

    assert shown(answer, asker).sources[0].title == ""


def test_references_to_it_lead_nowhere_again(client, librarian: User) -> None:
    cited = DocumentFactory(title="Withdrawn paper", doi="10.1000/gone")
    citing = ChunkFactory(document=DocumentFactory(title="Citing"), ordinal=0).document
    DocumentCitation.objects.create(citing=citing, ordinal=1, text="A", doi_normalised="10.1000/gone")

    assert deletion.delete(document_id=cited.pk).is_complete

    entry = DocumentCitation.objects.get()
    assert not Document.objects.filter(doi_normalised=entry.doi_normalised).exists()
    client.force_login(librarian)
    page = client.get(reverse("document", args=[citing.pk])).content.decode()
    assert "Withdrawn paper" not in page
