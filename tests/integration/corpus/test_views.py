"""The documents list, the document page and the passage page."""

from datetime import date

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus.models import DocumentCitation
from tests.factories.corpus import ChunkFactory, DocumentFactory, EditorialEventFactory, SourceFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client, asker: User) -> Client:
    client.force_login(asker)
    return client


def titles(response: object) -> list[str]:
    return [document.title for document in response.context["page"].object_list]  # type: ignore[attr-defined]


def test_the_list_asks_visitors_to_sign_in(client: Client) -> None:
    response = client.get(reverse("documents"))

    assert response.headers["Location"] == f"{reverse('login')}?next=/documents/"


def test_the_list_counts_only_what_the_reader_may_see(reader: Client) -> None:
    DocumentFactory(title="Seen")
    DocumentFactory(title="Kept back", license_class="restricted", bucket="secret-bucket")
    DocumentFactory(title="Unclassed", license_class="unknown")
    DocumentFactory(title="Unread", state="failed")

    response = reader.get(reverse("documents"))

    assert titles(response) == ["Seen"]
    assert response.context["total"] == 1
    assert "secret-bucket" not in response.text
    assert "Restricted" not in response.text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": "SWITCHGRASS"}, ["Switchgrass yields"]),
        ({"q": "muller"}, ["Switchgrass yields"]),
        ({"q": "https://doi.org/10.1234/ABC"}, ["Switchgrass yields"]),
        ({"q": "100%"}, []),
        ({"license_class": "public"}, ["Biochar"]),
        ({"bucket": "reports"}, ["Biochar"]),
        ({"year_min": "2015", "year_max": "2016"}, ["Switchgrass yields"]),
        ({"standing": "superseded"}, ["Biochar"]),
        ({"standing": "retracted"}, ["Withdrawn"]),
        ({"standing": "current"}, ["Switchgrass yields"]),
        ({"q": "biochar", "bucket": "local"}, []),
    ],
)
def test_the_list_can_be_searched_and_filtered(
    reader: Client, query: dict[str, str], expected: list[str]
) -> None:
    DocumentFactory(title="Switchgrass yields", authors=["Jürgen Müller"], doi="10.1234/abc", year=2015)
    DocumentFactory(title="Biochar", license_class="public", bucket="reports", status="superseded", year=2021)
    DocumentFactory(title="Withdrawn", source=SourceFactory(is_retracted=True), year=2022)

    assert titles(reader.get(reverse("documents"), query)) == expected


@pytest.mark.parametrize(
    "query",
    [
        {"year_min": "abc"},
        {"year_min": "9" * 5000},
        {"license_class": "cc-by-xyz"},
        {"q": "x" * 301},
        {"q": "a\0b"},
        {"bucket": "\0"},
    ],
)
def test_a_filter_that_makes_no_sense_is_explained_and_matches_nothing(
    reader: Client, query: dict[str, str]
) -> None:
    DocumentFactory()

    response = reader.get(reverse("documents"), query)

    assert response.status_code == 422
    assert 'role="alert"' in response.text
    assert titles(response) == []


@pytest.mark.parametrize("page", ["0", "-1", "999", "abc", "9" * 400])
def test_a_page_number_that_makes_no_sense_shows_a_page(reader: Client, page: str) -> None:
    DocumentFactory(title="Seen")

    assert titles(reader.get(reverse("documents"), {"page": page})) == ["Seen"]


def test_pages_of_the_list_keep_the_filter(reader: Client) -> None:
    DocumentFactory.create_batch(30, bucket="reports")

    text = reader.get(reverse("documents"), {"bucket": "reports"}).text

    assert "?bucket=reports&amp;page=2" in text


def test_htmx_gets_the_results_alone(reader: Client) -> None:
    DocumentFactory(title="Seen")

    text = reader.get(reverse("documents"), headers={"HX-Request": "true"}).text

    assert "Seen" in text
    assert "<html" not in text


def test_an_empty_corpus_says_what_to_do(client: Client, librarian: User, asker: User) -> None:
    client.force_login(librarian)
    for_librarian = client.get(reverse("documents")).text
    client.force_login(asker)
    for_asker = client.get(reverse("documents")).text

    assert "sci-rag ingest" in for_librarian
    assert "librarian can tell" in for_asker


def test_the_document_page_shows_what_is_known(reader: Client) -> None:
    source = SourceFactory()
    EditorialEventFactory(source=source, kind="correction", happened_on=date(2022, 5, 4), note="Table 2.")
    document = DocumentFactory(
        title="Switchgrass yields", source=source, rights_statement="CC BY 4.0", no_derivatives=True
    )
    ChunkFactory(document=document, ordinal=0, section_path=["Methods"], body="Plots were cut twice.")
    DocumentCitation.objects.create(
        citing=document, ordinal=0, text="A. Author, 1999.", doi_normalised="10.1/x"
    )

    text = reader.get(reverse("document", args=[document.id])).text

    for expected in (
        "Switchgrass yields", "Ada Lovelace", "CC BY 4.0", "no derivatives", "Plots were cut twice.",
        "4 May 2022", "Table 2.", "A. Author, 1999.", "https://doi.org/10.1/x",
    ):  # fmt: skip
        assert expected in text


def test_what_two_passages_share_stands_once_on_the_document_page(reader: Client) -> None:
    document = DocumentFactory()
    shared = "Samples were dried at 105 degrees for a whole day."
    ChunkFactory(document=document, ordinal=0, section_path=["M"], body=f"Cut in May. {shared}")
    ChunkFactory(document=document, ordinal=1, section_path=["M"], body=f"{shared} Then they were milled.")

    text = reader.get(reverse("document", args=[document.id])).text

    assert text.count(shared) == 1
    assert "Then they were milled." in text


def test_the_passage_page_marks_the_passage_in_its_section(reader: Client) -> None:
    document = DocumentFactory()
    before = ChunkFactory(document=document, ordinal=0, section_path=["Methods"], body="Plots were cut.")
    target = ChunkFactory(
        document=document, ordinal=1, section_path=["Methods"], body="Ash was 5 %.", page_start=3, page_end=3
    )
    ChunkFactory(document=document, ordinal=2, section_path=["Results"], body="Yield rose.")

    text = reader.get(reverse("passage", args=[target.public_id])).text

    assert "<mark>Ash was 5 %.</mark>" in text
    assert "p. 3" in text
    assert before.body in text
    assert "Yield rose." not in text


def test_a_newer_version_out_of_the_readers_ceiling_is_not_named(reader: Client) -> None:
    newer = DocumentFactory(title="Newer, kept back", license_class="restricted")
    older = DocumentFactory(title="Older", status="superseded", superseded_by=newer)

    text = reader.get(reverse("document", args=[older.id])).text

    assert "A newer version replaces this document" in text
    assert "kept back" not in text
    assert str(newer.id) not in text


def test_text_of_a_document_is_never_markup(reader: Client) -> None:
    attack = '<script>alert(1)</script><img src=x onerror=alert(1)><a hx-get="/">x</a>{{ 7|add:7 }}'
    document = DocumentFactory(
        title=attack, authors=[attack], journal=attack, rights_statement=attack, license_source=attack
    )
    chunk = ChunkFactory(document=document, body=attack, section_path=[attack], locator=attack[:200])
    table = ChunkFactory(document=document, is_table=True, body=f"| {attack} |\n| --- |\n| {attack} |")

    for address in (
        reverse("documents"),
        reverse("document", args=[document.id]),
        reverse("passage", args=[chunk.public_id]),
        reverse("passage", args=[table.public_id]),
    ):
        text = reader.get(address).text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert '<a hx-get="/">' not in text


def test_a_long_list_of_documents_takes_a_fixed_number_of_queries(
    reader: Client, django_assert_max_num_queries: object
) -> None:
    DocumentFactory.create_batch(25, source=SourceFactory())

    # One of them counts the messages the header tells of.
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        reader.get(reverse("documents"))
