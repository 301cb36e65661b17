"""Questions: evidence is found where it stands, a signature holds for what was read, all is recorded."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from corpus.actions import deletion
from corpus.ceilings import effective_scope
from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope
from corpus.search_text import search_form
from evaluation.actions import questions as action
from evaluation.actions.importing import import_questions
from evaluation.actions.questions import ChangedMeanwhile, EvidenceNotFound, NameTaken, Provenance, Writing
from evaluation.ground_truth.queries import asked, known_questions, known_sets, seed_of
from evaluation.models import Evidence, Question, QuestionSet
from evaluation.questions import Pointer, SeedQuestion
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.factories.evaluation import QuestionSetFactory

pytestmark = pytest.mark.django_db

PHRASE = "Biochar raised the water content from 11.3 to 15.8 % by volume"
EVERYTHING = Writing(RetrievalScope(), must_be_found=False)


@pytest.fixture
def paper() -> Document:
    document = DocumentFactory(title="Available water", doi="10.5555/water")
    for body in ("Methods were usual.", f"{PHRASE}, at the wet site."):
        ChunkFactory(document=document, body=body, search_body=search_form(body), locator="3 Results")
    return document


@pytest.fixture
def closed() -> Document:
    document = DocumentFactory(title="The closed one", doi="10.5555/closed", license_class="restricted")
    body = "The plant at Calder lost 377 bales."
    ChunkFactory(document=document, body=body, search_body=search_form(body))
    return document


def seed(**values: Any) -> SeedQuestion:
    return SeedQuestion.model_validate(
        {
            "id": "water",
            "question": "How much water does it hold?",
            "reference_answer": "15.8 %.",
            "reference_documents": ["10.5555/water"],
            "evidence_phrases": [PHRASE],
        }
        | values
    )


def write(question_set: QuestionSet, *, by: User | None = None, **values: Any) -> Question:
    return action.add(question_set=question_set, seed=seed(**values), writing=EVERYTHING, by=by)


def kinds(question: Question) -> list[str]:
    return list(question.events.order_by("id").values_list("kind", flat=True))


def test_evidence_is_bound_to_document_and_passage(paper: Document, expert: User) -> None:
    question = write(QuestionSetFactory(), by=expert)

    whole, phrase = question.evidence.order_by("number")
    passage = Chunk.objects.get(body__startswith="Biochar raised")
    assert (whole.document, whole.doi, whole.phrase) == (paper, "10.5555/water", "")
    assert (phrase.document, phrase.document_sha256) == (paper, paper.content_sha256)
    assert (phrase.passage_sha256, phrase.locator) == (passage.content_sha256, "3 Results")
    assert kinds(question) == ["created"]
    assert question.drafted


@pytest.mark.parametrize(
    "found_by",
    [
        {"reference_documents": []},
        {"reference_documents": [], "reference_titles": ["AVAILABLE  water"]},
        {"evidence_phrases": ["biochar  raised the WATER content from 11.3 to 15.8\u202f% by volume"]},
    ],
)
def test_evidence_is_found_by_words_alone_by_title_and_however_it_is_typeset(
    paper: Document, found_by: dict[str, Any]
) -> None:
    question = write(QuestionSetFactory(), **found_by)

    assert set(question.evidence.values_list("document", flat=True)) == {paper.pk}


def test_a_pointer_finds_the_passage_again_after_a_re_ingest(paper: Document) -> None:
    question = write(QuestionSetFactory(), reference_documents=[])
    exported = seed_of(question)
    Chunk.objects.filter(document=paper).delete()
    paper.delete()
    question.delete()
    again = DocumentFactory(title="Other title", content_sha256=exported.pointers[0].document_sha256)
    ChunkFactory(document=again, body=f"So: {PHRASE}")

    rebound = action.add(question_set=QuestionSetFactory(), seed=exported, writing=EVERYTHING, by=None)

    assert rebound.evidence.get().document == again


def test_evidence_that_came_later_is_found_then(paper: Document) -> None:
    question = write(QuestionSetFactory(), reference_documents=["10.5555/later", "10.5555/water"])
    later = DocumentFactory(doi="10.5555/later")

    count = action.find_again(questions=[question], scope=RetrievalScope())

    assert count == 1
    assert question.evidence.get(doi="10.5555/later").document == later
    assert kinds(question) == ["created"]


def test_what_stands_in_no_document_the_writer_may_see_is_refused_alike(
    paper: Document, closed: Document, expert: User
) -> None:
    writing = Writing(effective_scope(expert, RetrievalScope()))
    said = []
    for phrase in ("The plant at Calder lost 377 bales", "The plant at Nowhere lost 377 bales"):
        with pytest.raises(EvidenceNotFound) as refused:
            action.add(
                question_set=QuestionSetFactory(),
                seed=seed(evidence_phrases=[phrase]),
                writing=writing,
                by=expert,
            )
        said.append(str(refused.value).replace("Calder", "").replace("Nowhere", ""))

    assert said[0] == said[1]
    assert not Question.objects.exists()


def test_a_name_is_taken_once(paper: Document) -> None:
    question_set = QuestionSetFactory()
    write(question_set)

    with pytest.raises(NameTaken):
        write(question_set)
    with pytest.raises(NameTaken):
        action.add_set(name=question_set.name, by=None)


def test_signing_is_recorded_and_holds_until_the_question_is_changed(paper: Document, expert: User) -> None:
    question = write(QuestionSetFactory())

    signed = action.sign(question=question, seen_sha256=question.content_sha256, by=expert)
    again = action.sign(question=question, seen_sha256=question.content_sha256, by=expert)
    changed = action.change(
        question=question,
        seed=seed(reference_answer="15.8 % by volume."),
        seen_sha256=signed.content_sha256,
        writing=EVERYTHING,
        by=expert,
    )

    assert (signed.signed_by, signed.signed_by_name, again.drafted, changed.drafted) == (
        expert,
        "expert",
        False,
        True,
    )
    assert kinds(question) == ["created", "signed", "changed", "unsigned"]
    recorded = question.events.get(kind="signed")
    assert (recorded.by, recorded.by_name, recorded.content_sha256) == (
        expert,
        "expert",
        signed.signed_sha256,
    )


def test_the_same_content_again_changes_nothing(paper: Document, expert: User) -> None:
    question = write(QuestionSetFactory())
    action.sign(question=question, seen_sha256=question.content_sha256, by=expert)

    same = action.change(
        question=question, seed=seed(), seen_sha256=question.content_sha256, writing=EVERYTHING, by=expert
    )

    assert not same.drafted
    assert kinds(question) == ["created", "signed"]


def test_nobody_signs_or_overwrites_what_they_have_not_read(paper: Document, expert: User) -> None:
    question = write(QuestionSetFactory())

    with pytest.raises(ChangedMeanwhile):
        action.sign(question=question, seen_sha256="f" * 64, by=expert)
    with pytest.raises(ChangedMeanwhile):
        action.change(
            question=question, seed=seed(tags=["new"]), seen_sha256="f" * 64, writing=EVERYTHING, by=expert
        )
    assert kinds(question) == ["created"]


def test_a_signature_can_be_withdrawn_and_a_question_retired_and_taken_up(
    paper: Document, expert: User
) -> None:
    question_set = QuestionSetFactory()
    question = write(question_set)
    action.sign(question=question, seen_sha256=question.content_sha256, by=expert)

    assert action.unsign(question=question, by=expert).drafted
    action.retire(question=question, by=expert)
    assert list(asked(question_set)) == []
    with pytest.raises(action.QuestionError, match="retired"):
        action.sign(question=question, seen_sha256=question.content_sha256, by=expert)
    action.restore(question=question, by=expert)

    assert list(asked(question_set)) == [question]
    assert kinds(question) == ["created", "signed", "unsigned", "retired", "restored"]


def test_a_deleted_document_takes_its_quotations_along(paper: Document, expert: User) -> None:
    question_set = QuestionSetFactory()
    question = write(question_set)
    action.sign(question=question, seen_sha256=question.content_sha256, by=expert)

    certificate = deletion.delete(document_id=paper.pk, by=None)

    question.refresh_from_db()
    assert certificate.is_complete
    assert set(question.evidence.values_list("phrase", "document")) == {("", None)}
    assert question.drafted
    assert question.retired_at is not None
    assert question.events.order_by("id").last().note.startswith("a document that its evidence stands in")
    assert not known_questions(expert).exists()


def test_a_question_whose_evidence_is_gone_is_not_taken_up_without_other(
    paper: Document, expert: User
) -> None:
    question = write(QuestionSetFactory(), reference_documents=[])
    Document.objects.filter(pk=paper.pk).update(doi="", doi_normalised="")
    Evidence.objects.update(doi="")
    deletion.delete(document_id=paper.pk, by=None)

    with pytest.raises(action.QuestionError, match="is gone"):
        action.restore(question=question, by=expert)


def test_a_question_shows_to_whoever_may_know_all_of_its_evidence(
    paper: Document, closed: Document, expert: User, librarian: User
) -> None:
    open_set, mixed, hidden = (QuestionSetFactory(name=name) for name in ("open", "mixed", "hidden"))
    QuestionSetFactory(name="empty")
    write(open_set)
    write(mixed)
    write(mixed, id="both", reference_documents=["10.5555/water", "10.5555/closed"])
    write(hidden, reference_documents=["10.5555/closed"], evidence_phrases=[])
    write(hidden, id="nowhere", reference_documents=["10.5555/nowhere"], evidence_phrases=[])

    assert known_questions(expert).count() == 2
    assert known_questions(librarian).count() == 5
    counts = {row.name: row.asked for row in known_sets(expert)}
    assert counts == {"open": 1, "mixed": 1, "empty": 0}
    assert {row.name: row.asked for row in known_sets(librarian)} == counts | {"mixed": 2, "hidden": 2}


def test_an_import_adds_changes_and_leaves_alone(paper: Document, expert: User) -> None:
    question_set = QuestionSetFactory()
    write(question_set)
    write(question_set, id="old", reference_answer="Much.")
    signed = {"drafted": False, "signed_by": "Ada", "signed_at": timezone.now()}
    seeds = [
        seed(**signed),
        seed(id="old", reference_answer="15.8 %."),
        seed(id="new", evidence_phrases=["nowhere"]),
    ]

    taken = import_questions(
        question_set=question_set, seeds=seeds, writing=EVERYTHING, origin="q.jsonl", by=None
    )

    assert (taken.added, taken.changed, taken.unchanged, taken.signed) == (1, 1, 1, 0)
    assert taken.missing == (("new", "nowhere"),)
    assert not question_set.questions.filter(signed_at__isnull=False).exists()


def test_signatures_of_a_file_count_only_on_somebody_s_word_which_is_recorded(paper: Document) -> None:
    question_set, given = QuestionSetFactory(), timezone.now()
    seeds = [seed(drafted=False, signed_by="Ada", signed_at=given)]
    options: dict[str, Any] = {
        "question_set": question_set,
        "writing": EVERYTHING,
        "origin": "q.jsonl",
        "by": None,
    }

    import_questions(seeds=seeds, **options)
    taken = import_questions(seeds=seeds, trusts_signatures=True, **options)

    question = question_set.questions.get()
    assert taken.signed == 1
    assert (question.signed_by_name, question.signed_by, question.signed_at) == ("Ada", None, given)
    recorded = question.events.get(kind="signed")
    assert (recorded.by_name, recorded.note) == ("Ada", "stated by q.jsonl, not given here")


def test_what_is_exported_comes_back_the_same(paper: Document) -> None:
    first, second = QuestionSetFactory(), QuestionSetFactory()
    write(first, kind="lookup", split="test", tags=["numeric"], reference_titles=["Available water"])
    exported = [seed_of(question) for question in asked(first)]

    import_questions(question_set=second, seeds=exported, writing=EVERYTHING, origin="q", by=None)

    assert [seed_of(question) for question in asked(second)] == exported
    assert exported[0].pointers == (
        Pointer(
            phrase=PHRASE,
            document_sha256=paper.content_sha256,
            doi="10.5555/water",
            passage_sha256=Chunk.objects.get(body__startswith="Biochar raised").content_sha256,
            locator="3 Results",
        ),
    )


def test_where_a_question_came_from_is_kept(paper: Document) -> None:
    question = action.add(
        question_set=QuestionSetFactory(),
        seed=seed(),
        writing=EVERYTHING,
        provenance=Provenance(Question.Origin.PROPOSED, note="from a passage"),
        by=None,
    )

    assert (question.origin, question.events.get().note) == ("proposed", "from a passage")
