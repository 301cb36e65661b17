"""References that lead to held documents, what cites a document, and what a passage points at."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from corpus import citation_graph
from corpus.models import Document, DocumentCitation
from corpus.scope import RetrievalScope, scope
from retrieval.retriever import retrieve
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.integration.corpus.ingesting import take, write
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db

EVERYTHING = RetrievalScope()
PUBLIC = scope(license_classes=["public"])


def held(name: str, **fields: object) -> Document:
    made: Document = DocumentFactory(title=name, doi=f"10.5555/{name}", **fields)
    return made


def refer(document: Document, *dois: str) -> None:
    for number, doi in enumerate(dois, start=1):
        DocumentCitation.objects.create(
            citing=document, ordinal=number, text=f"Reference {number}", doi_normalised=doi
        )


def shown(document: Document, wanted: RetrievalScope = EVERYTHING) -> list[tuple[str, bool]]:
    return [(one.doi, one.held is not None) for one in citation_graph.references(document, wanted)]


def test_a_list_with_a_work_twice_one_to_come_and_itself_leads_to_one_document() -> None:
    held("cited")
    paper = held("paper")
    refer(paper, "10.5555/cited", "10.5555/cited", "10.5555/later", "10.5555/paper")

    assert shown(paper) == [("10.5555/cited", True), ("10.5555/later", False)]
    assert citation_graph.census() == {
        "references": 4, "by_origin": {"document": 4}, "with_doi": 4,
        "resolved": 1, "unresolved": 1, "self": 1,
        "most_wanted": [{"doi": "10.5555/later", "documents": 1}],
    }  # fmt: skip


def test_taking_in_the_work_to_come_resolves_its_reference() -> None:
    paper = held("paper")
    refer(paper, "10.5555/later")

    held("later")

    assert shown(paper) == [("10.5555/later", True)]


def test_addresses_and_letter_case_name_the_same_work(tmp_path: Path) -> None:
    held("cited")
    listed = "- Ada (2020) Straw. https://doi.org/10.5555/CITED\n- Bob (2021) Hay. doi:10.5555/cited\n"
    text = f"# Paper\n\nStraw gives methane.\n\n## References\n\n{listed}"

    take(write(tmp_path, "paper.md", text))

    assert shown(Document.objects.get(file_name="paper.md")) == [("10.5555/cited", True)]


def test_reverse_edges_are_listed_for_whom_they_are_visible() -> None:
    cited = held("cited", license_class="public")
    refer(held("open", license_class="public"), "10.5555/cited")
    refer(held("closed", license_class="restricted"), "10.5555/cited")
    refer(cited, "10.5555/cited")

    assert [one.title for one in citation_graph.cited_by(cited, PUBLIC)] == ["open"]
    assert {one.title for one in citation_graph.cited_by(cited, EVERYTHING)} == {"open", "closed"}


def test_a_reference_to_what_one_may_not_see_looks_like_one_that_leads_nowhere() -> None:
    held("cited", license_class="restricted")
    paper = held("paper", license_class="public")
    refer(paper, "10.5555/cited", "10.5555/nowhere")

    assert shown(paper, PUBLIC) == [("10.5555/cited", False), ("10.5555/nowhere", False)]


@pytest.mark.django_db(transaction=True)
def test_a_reference_that_leads_nowhere_is_never_retrieved() -> None:
    paper = add("Paper", ["Straw gives methane."], license_class="public")
    DocumentCitation.objects.create(citing=paper, ordinal=1, text="quokka digestion", doi_normalised="")

    assert retrieve(question="quokka digestion", scope=EVERYTHING, switches={"vector": False}).items == ()


def test_the_current_version_is_what_a_reference_leads_to() -> None:
    new = held("work", content_sha256="a" * 64, year=2020)
    old = held("work", content_sha256="b" * 64, year=2022, status="superseded", superseded_by=new)
    paper = held("paper")
    refer(paper, "10.5555/work")

    assert old.doi_normalised == new.doi_normalised
    assert citation_graph.references(paper, EVERYTHING)[0].held == new


def test_a_passage_points_at_tables_sections_and_held_documents() -> None:
    cited = held("cited", license_class="public")
    secret = held("secret", license_class="restricted")
    paper = held("paper", license_class="public")
    refer(paper, "10.5555/secret", "10.5555/cited")
    pointing = ChunkFactory(
        document=paper, ordinal=0,
        forward_references=["Table 3", "Section 2.1", "[1]", "[2]", "[9]", "Figure 8"],
    )  # fmt: skip
    table = ChunkFactory(document=paper, ordinal=1, locator="Table 3", citation_unit="table:3")
    section = ChunkFactory(document=paper, ordinal=2, locator="2.1 Feedstock", citation_unit="section:2.1")

    found = citation_graph.pointers(pointing, PUBLIC)

    assert [(one.name, one.passage, one.document) for one in found] == [
        ("Table 3", table, None), ("Section 2.1", section, None), ("[2]", None, cited),
    ]  # fmt: skip
    assert secret in {one.document for one in citation_graph.pointers(pointing, EVERYTHING)}


def test_the_pages_show_both_directions_and_link_only_what_the_reader_may_see(
    client: Client, asker: object
) -> None:
    cited = held("cited", license_class="public")
    secret = held("secret", license_class="restricted")
    paper = held("paper", license_class="public")
    refer(paper, "10.5555/cited", "10.5555/secret")
    passage = ChunkFactory(document=paper, forward_references=["[1]", "[2]"])
    client.force_login(asker)  # type: ignore[arg-type]

    page = client.get(reverse("document", args=[paper.pk])).content.decode()
    other = client.get(reverse("document", args=[cited.pk])).content.decode()
    marked = client.get(reverse("passage", args=[passage.public_id])).content.decode()

    assert str(cited.pk) in page
    assert (page.count("Held here"), page.count("Not held")) == (1, 1)
    assert str(secret.pk) not in page + marked
    assert "Cited by documents held here" in other
    assert str(paper.pk) in other
    assert str(cited.pk) in marked
