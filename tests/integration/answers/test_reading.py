"""A stored answer is read under its reader's ceiling of today, and says what has changed since."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User

from answers import reading
from answers.models import EXTRACTIVE, Answer, AnswerSource, Finding
from answers.reading import Drift
from corpus.models import Chunk, Document, GroupCeiling
from corpus.rights import LicenseClass
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory

pytestmark = pytest.mark.django_db


def source_of(answer: Answer, number: int, chunk: Chunk, *, cited: bool) -> AnswerSource:
    document = chunk.document
    return AnswerSource.objects.create(
        answer=answer,
        number=number,
        chunk=chunk,
        document=document,
        is_cited=cited,
        title=document.title,
        locator="Table 2",
        page_start=3,
        page_end=4,
        license_class=document.license_class,
        bucket=document.bucket,
        badges=[],
        content_sha256=chunk.content_sha256,
        score=0.5,
        ranks={"vector": 1},
    )


@pytest.fixture
def cited() -> Chunk:
    return ChunkFactory(document=DocumentFactory(title="Cited paper", source=SourceFactory()))


@pytest.fixture
def uncited() -> Chunk:
    return ChunkFactory(document=DocumentFactory(title="Uncited paper", source=SourceFactory()))


@pytest.fixture
def answer(asker: User, cited: Chunk, uncited: Chunk) -> Answer:
    row = Answer.objects.create(
        asked_by=asker,
        question="Why?",
        text="Canary answer [1].",
        state=Answer.State.DONE,
        finish=Answer.Finish.STOP,
        scope_digest="0" * 64,
        profile="interactive",
        engine="model",
    )
    source_of(row, 1, cited, cited=True)
    source_of(row, 2, uncited, cited=False)
    Finding.objects.create(answer=row, sentence=0, start=0, end=18, kind="supported", numbers=[1])
    return row


def shown(answer: Answer, user: User) -> reading.ReadableAnswer:
    answer.refresh_from_db()
    found = reading.readable(answer, user)
    assert found is not None
    return found


def test_the_asker_reads_text_sources_and_findings(answer: Answer, asker: User, cited: Chunk) -> None:
    page = shown(answer, asker)

    assert page.text == "Canary answer [1]."
    assert page.answered
    assert [source.number for source in page.cited] == [1]
    assert [source.number for source in page.uncited] == [2]
    assert page.sources[0].body == cited.body
    assert page.sources[0].pages == "3–4"
    assert page.findings[0].label == "Supported"
    assert not page.has_drifted


def test_a_librarian_reads_it_and_nobody_else(
    answer: Answer, librarian: User, expert: User, administrator: User
) -> None:
    assert shown(answer, librarian).text == "Canary answer [1]."
    for other in (expert, administrator, AnonymousUser()):
        assert reading.readable(answer, other) is None


def test_a_disabled_account_reads_nothing(answer: Answer, asker: User) -> None:
    asker.is_active = False

    assert reading.readable(answer, asker) is None


@pytest.mark.parametrize("chunk", ["cited", "uncited"])
def test_a_models_text_goes_with_any_passage_it_was_written_from(
    answer: Answer, asker: User, chunk: str, request: pytest.FixtureRequest
) -> None:
    document = request.getfixturevalue(chunk).document
    Document.objects.filter(pk=document.pk).update(license_class=LicenseClass.RESTRICTED)

    page = shown(answer, asker)

    assert (page.text, page.text_withheld, page.findings) == ("", True, ())
    assert not page.answered


def test_quotations_go_only_with_the_passage_they_quote(answer: Answer, asker: User, uncited: Chunk) -> None:
    answer.engine = EXTRACTIVE
    answer.save()
    Document.objects.filter(pk=uncited.document_id).update(license_class=LicenseClass.RESTRICTED)

    page = shown(answer, asker)

    assert page.text == "Canary answer [1]."
    assert not page.sources[1].available


def test_a_passage_out_of_reach_looks_exactly_like_one_that_is_gone(
    answer: Answer, asker: User, cited: Chunk
) -> None:
    Document.objects.filter(pk=cited.document_id).update(license_class=LicenseClass.UNKNOWN)
    out_of_reach = shown(answer, asker).sources[0]
    AnswerSource.objects.filter(answer=answer, number=1).update(chunk=None, document=None)

    assert shown(answer, asker).sources[0] == out_of_reach
    assert out_of_reach == reading.ReadableSource(number=1, available=False, cited=True)


def test_a_lowered_ceiling_counts_at_once(answer: Answer, asker: User) -> None:
    GroupCeiling.objects.filter(group=Group.objects.get(name="asker")).update(license_classes=[])

    assert shown(answer, asker).text_withheld


@pytest.mark.parametrize(
    ("flag", "mark"),
    [
        ("is_retracted", Drift.RETRACTED),
        ("has_concern", Drift.CONCERN),
        ("is_corrected", Drift.CORRECTED),
    ],
)
def test_what_was_published_about_a_source_since_is_marked(
    answer: Answer, asker: User, cited: Chunk, flag: str, mark: Drift
) -> None:
    source = cited.document.source
    setattr(source, flag, True)
    source.save()

    page = shown(answer, asker)

    assert page.sources[0].drift == (mark,)
    assert page.sources[1].drift == ()
    assert page.text == "Canary answer [1].", "a retracted source stays readable in an old answer"


def test_a_successor_is_named_only_to_those_who_may_see_it(answer: Answer, asker: User, cited: Chunk) -> None:
    successor = DocumentFactory(title="New edition")
    Document.objects.filter(pk=cited.document_id).update(status="superseded", superseded_by=successor)

    source = shown(answer, asker).sources[0]
    assert (source.drift, source.superseded_by_title) == ((Drift.SUPERSEDED,), "New edition")

    Document.objects.filter(pk=successor.pk).update(license_class=LicenseClass.RESTRICTED)
    source = shown(answer, asker).sources[0]
    assert (source.drift, source.superseded_by_title) == ((Drift.SUPERSEDED,), "")


def test_a_changed_licence_and_a_changed_text_are_marked(answer: Answer, asker: User, cited: Chunk) -> None:
    Document.objects.filter(pk=cited.document_id).update(license_class=LicenseClass.PUBLIC)
    Chunk.objects.filter(pk=cited.pk).update(content_sha256="f" * 64)

    source = shown(answer, asker).sources[0]

    assert source.drift == (Drift.LICENSE_CHANGED, Drift.TEXT_CHANGED)
    assert (source.license_class, source.license_now) == ("open_commercial", "public")
    assert source.body == ""


def test_a_status_the_answer_already_showed_is_no_drift(answer: Answer, asker: User, cited: Chunk) -> None:
    AnswerSource.objects.filter(number=1).update(badges=["retracted"])
    source = cited.document.source
    source.is_retracted = True
    source.save()
    assert shown(answer, asker).sources[0].drift == ()

    source.is_retracted = False
    source.save()
    assert shown(answer, asker).sources[0].drift == (Drift.REINSTATED,)


def test_queries_do_not_grow_with_the_number_of_sources(
    answer: Answer, asker: User, django_assert_num_queries: object
) -> None:
    for number in range(3, 12):
        chunk = ChunkFactory(document=DocumentFactory(source=SourceFactory()))
        source_of(answer, number, chunk, cited=False)
    answer.refresh_from_db()

    with django_assert_num_queries(3):  # type: ignore[operator]
        reading.readable(answer, asker)
