"""The pages of the knowledge graph, as their reader may see them."""

from __future__ import annotations

import re
import uuid

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope, scope
from retrieval.graph import edges, faces, listing, pages
from retrieval.graph.listing import Wanted
from retrieval.graph.naming import key_of
from retrieval.models import Entity
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory
from tests.factories.graph import DescriptionFactory, EntityFactory, MentionFactory, RelationshipFactory

pytestmark = pytest.mark.django_db

EVERYTHING = RetrievalScope()
PUBLIC = scope(license_classes=["public"])


def passage(title: str, body: str, *, license_class: str = "public", **fields: object) -> Chunk:
    document = DocumentFactory(title=title, license_class=license_class, **fields)
    made: Chunk = ChunkFactory(document=document, ordinal=0, body=body)
    return made


def entity(name: str, **fields: object) -> Entity:
    found = Entity.objects.filter(key=key_of(name)).first()
    return found or EntityFactory(name=name, **fields)


def mention(chunk: Chunk, *named: Entity, surface: str = "") -> None:
    for one in named:
        words = surface or one.name
        MentionFactory(entity=one, chunk=chunk, surface=words, start=max(0, chunk.body.find(words)))


def relate(chunk: Chunk, source: Entity, relation: str, target: Entity, **fields: object) -> None:
    mention(chunk, source, target)
    RelationshipFactory(source=source, target=target, chunk=chunk, type=relation, quote=chunk.body, **fields)


def page(client: Client, route: str, row: Entity | None = None, **query: str) -> str:
    response = client.get(reverse(route, args=[row.pk] if row else []), query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.fixture
def methane() -> Entity:
    """Made by digestion in two passages, one of them of a retracted work, and burnt in a third."""
    found = EntityFactory(name="methane")
    digestion, burner = EntityFactory(name="digestion", type="process"), EntityFactory(name="burner")
    straw = passage(
        "Straw", "Digestion of straw is slow. So digestion produces methane. It is warm.", year=2020
    )
    relate(straw, digestion, "produces", found, confidence=0.7)
    old = passage(
        "Hay", "Again digestion produces methane.", year=2024, source=SourceFactory(is_retracted=True)
    )
    relate(old, digestion, "produces", found, confidence=1.0)
    relate(passage("Heat", "A burner uses methane."), burner, "uses", found, confidence=0.4)
    DescriptionFactory(entity=found, chunk=straw, quote="Methane is a gas.", start=0)
    return found


def test_the_list_counts_mentions_and_documents_and_puts_the_most_mentioned_first(
    client: Client, asker: User, methane: Entity
) -> None:
    client.force_login(asker)

    text = page(client, "entities")

    names = re.findall(r"<bdi>([^<]+)</bdi></a></h2>", text)
    assert names == ["methane", "digestion", "burner"]
    assert "3 mentions · 3 documents" in text
    assert "2 mentions · 2 documents" in text
    assert "3 entities" in text


def test_the_list_is_searched_by_any_spelling_and_filtered_by_type(
    client: Client, asker: User, methane: Entity
) -> None:
    mention(Chunk.objects.get(document__title="Heat"), methane, surface="Marsh gas")
    client.force_login(asker)

    assert re.findall(r"<h2><a[^>]*><bdi>([^<]+)", page(client, "entities", q="MARSH")) == ["methane"]
    assert re.findall(r"<h2><a[^>]*><bdi>([^<]+)", page(client, "entities", type="process")) == ["digestion"]
    assert "1 of 3 entities" in page(client, "entities", type="process")
    assert "mentions anything like this" in page(client, "entities", q="%")


@pytest.mark.parametrize("typed", ["%", "_", "\\", "!!!", "me%ne", "🦦", "\u202e", "x" * 300])
def test_whatever_is_typed_is_looked_for_literally(typed: str, methane: Entity) -> None:
    mention(passage("X", "x"), methane, entity("50% acetic_acid"))

    found = [one.face.name for one in listing.listing(Wanted(name=typed), EVERYTHING, page=1).entities]

    assert found == [name for name in ("50% acetic_acid",) if key_of(typed) and key_of(typed) in key_of(name)]


def test_a_name_too_long_is_refused_and_kept_in_the_form(client: Client, asker: User) -> None:
    client.force_login(asker)

    response = client.get(reverse("entities"), {"q": "x" * 301, "document": "no-id"})

    assert response.status_code == 422
    assert "x" * 301 in response.content.decode()


def test_pages_of_the_list_have_every_entity_once_whatever_ties(methane: Entity) -> None:
    chunk = passage("Many", "many")
    for number in range(2 * listing.PAGE_SIZE):
        mention(chunk, entity(f"thing {number}"))

    for order in listing.ORDERS:
        shown = [
            one.face.name
            for number in (1, 2, 3)
            for one in listing.listing(Wanted(order=order), EVERYTHING, page=number).entities
        ]
        assert len(shown) == len(set(shown)) == 2 * listing.PAGE_SIZE + 3
    assert shown == sorted(shown)


def test_a_page_that_does_not_exist_shows_the_first(client: Client, asker: User, methane: Entity) -> None:
    client.force_login(asker)

    for number in ("2", "0", "-1", "999999999", "99999999999999999999", "x"):
        assert "3 entities" in page(client, "entities", page=number)
        assert "methane" in page(client, "entities", page=number)


def test_an_empty_graph_says_so(client: Client, asker: User, librarian: User) -> None:
    client.force_login(asker)
    assert "Your librarian can tell" in page(client, "entities")

    client.force_login(librarian)
    assert "sci-rag graph extract" in page(client, "entities")


def test_the_page_shows_words_with_confidence_standing_and_the_way_to_the_passage(
    client: Client, asker: User, methane: Entity
) -> None:
    client.force_login(asker)

    text = page(client, "entity", methane)

    assert "A feedstock, product, residue or chemical substance." in text
    assert "Methane is a gas." in text
    assert re.search(r"… <em>produces</em> <bdi>methane</bdi>", text)
    assert "said directly" in text
    assert "inferred" in text
    # The surest words are those of a retracted work: it says so.
    assert "Again digestion produces methane." in text
    assert "standing-retracted" in text
    assert "2 passages say so" in text
    straw = Chunk.objects.get(document__title="Straw")
    assert f"/passages/{straw.public_id}/?at=" in text


def test_a_link_to_a_passage_marks_the_sentence_that_mentions_it(
    client: Client, asker: User, methane: Entity
) -> None:
    client.force_login(asker)
    straw = Chunk.objects.get(document__title="Straw")

    listed = client.get(reverse("entity_passages", args=[methane.pk])).content.decode()
    link = re.search(rf'href="(/passages/{straw.public_id}/\?at=[^"#]+)', listed)
    assert link is not None
    opened = client.get(link[1]).content.decode()

    assert "So digestion produces <mark>methane</mark>." in listed
    assert re.findall(r'<mark class="cited">([^<]+)</mark>', opened) == ["So digestion produces methane."]


def test_every_passage_behind_an_edge_can_be_read(client: Client, asker: User, methane: Entity) -> None:
    client.force_login(asker)

    of_two = page(client, "entity_evidence", methane, **{"with": str(entity("digestion").pk)})

    assert "So digestion produces methane." in of_two or "Digestion of straw is slow." in of_two
    assert "Again digestion produces methane." in of_two
    assert "A burner uses methane." not in of_two
    assert "A burner uses methane." in page(client, "entity_evidence", methane)


@pytest.mark.parametrize("route", ["entity", "entity_passages", "entity_evidence"])
def test_what_no_passage_in_scope_mentions_is_a_missing_page(
    client: Client, asker: User, methane: Entity, route: str
) -> None:
    hidden = entity("secret salt")
    mention(passage("Closed", "A secret salt.", license_class="restricted"), hidden)
    client.force_login(asker)

    absent = client.get(reverse(route, args=[uuid.uuid4()]))
    kept_back = client.get(reverse(route, args=[hidden.pk]))

    assert absent.status_code == kept_back.status_code == 404
    assert absent.content == kept_back.content
    for other in (str(hidden.pk), str(uuid.uuid4()), "no id", "\0"):
        assert client.get(reverse("entity_evidence", args=[methane.pk]), {"with": other}).status_code == 404


def seen_by(client: Client, user: User) -> dict[str, str]:
    """Return every page of the graph that `user` can reach, and the pages of documents and passages."""
    client.force_login(user)
    rows = [
        ("entities", None),
        *(
            (route, row)
            for route in ("entity", "entity_passages", "entity_evidence")
            for row in Entity.objects.order_by("id")
        ),
    ]
    texts = {}
    for route, row in rows:
        response = client.get(reverse(route, args=[row.pk] if row else []))
        texts[f"{route} {row and row.pk}"] = re.sub(
            r'value="\w{64}"|X-CSRFToken[^}]+', "", response.content.decode()
        )
    for one in Document.objects.filter(license_class="public").order_by("id"):
        texts[f"document {one.pk}"] = client.get(reverse("document", args=[one.pk])).content.decode()
    return {name: re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text) for name, text in texts.items()}


def test_an_edge_that_only_a_restricted_passage_says_is_not_there_for_a_public_reader(
    client: Client, asker: User, librarian: User, methane: Entity
) -> None:
    """The pages are byte for byte what they are once the restricted document is gone."""
    lime = entity("lime")
    mention(passage("Open", "Of lime nothing is said."), lime)
    relate(
        passage("Closed", "So lime inhibits methane.", license_class="restricted"), lime, "decreases", methane
    )

    with_all = seen_by(client, asker)
    of_librarian = seen_by(client, librarian)
    Document.objects.get(title="Closed").delete()
    without = seen_by(client, asker)

    assert with_all == without
    assert f"/graph/entities/{lime.pk}/" not in with_all[f"entity {methane.pk}"]
    assert f"/graph/entities/{lime.pk}/" in of_librarian[f"entity {methane.pk}"]
    assert "So lime inhibits methane." in of_librarian[f"entity {methane.pk}"]


def test_an_alias_seen_only_in_a_restricted_passage_is_neither_shown_nor_found(
    client: Client, asker: User, methane: Entity
) -> None:
    closed = passage("Closed", "Marsh gas it is called.", license_class="restricted")
    mention(closed, methane, surface="Marsh gas")

    with_all = seen_by(client, asker)

    assert not any("Marsh" in text for text in with_all.values())
    assert listing.listing(Wanted(name="marsh gas"), PUBLIC, page=1).entities == ()
    assert faces.named("marsh gas", PUBLIC) == []
    assert [one.face.name for one in listing.listing(Wanted(name="marsh"), EVERYTHING, page=1).entities] == [
        "methane"
    ]


def test_a_tombstone_shows_as_what_it_was_merged_into(client: Client, asker: User, methane: Entity) -> None:
    merged = entity("biomethane", canonical_entity=methane)
    mention(passage("Gas grid", "The grid takes biomethane."), merged)
    client.force_login(asker)

    response = client.get(reverse("entity", args=[merged.pk]), follow=True)

    assert response.redirect_chain == [(reverse("entity", args=[methane.pk]), 302)]
    assert "Merged with" in response.content.decode()
    assert "biomethane" in response.content.decode()
    text = page(client, "entities")
    assert "3 entities" in text
    assert "4 mentions · 4 documents" in text
    assert "The grid takes" in page(client, "entity_passages", methane)


def test_a_name_whose_merge_is_out_of_scope_confirms_nothing(
    client: Client, asker: User, librarian: User
) -> None:
    """Ids are made from names: the id of a name that only closed passages use must not answer."""
    secret = EntityFactory(name="E 4521")
    mention(passage("Closed", "E 4521 it is.", license_class="restricted"), secret)
    known = EntityFactory(name="aspirin", canonical_entity=secret)
    mention(passage("Open", "An aspirin a day."), known)
    client.force_login(asker)

    assert client.get(reverse("entity", args=[secret.pk])).status_code == 404
    text = page(client, "entity", known)
    assert "E 4521" not in text
    assert str(secret.pk) not in text + page(client, "entities")
    client.force_login(librarian)
    assert client.get(reverse("entity", args=[known.pk])).headers["Location"].endswith(f"/{secret.pk}/")


HOSTILE = "\u202e<script>alert(1)</script>\u2066 & \"'\u200b"


def test_hostile_names_and_quotes_are_shown_as_text(client: Client, asker: User) -> None:
    bad, other = EntityFactory(name=HOSTILE, key="bad"), EntityFactory(name="x" * 300, key="x" * 300)
    chunk = passage("Bad </title><b>", f"{HOSTILE} causes {other.name}.")
    relate(chunk, bad, "causes", other)
    DescriptionFactory(entity=bad, chunk=chunk, quote="<img src=x onerror=alert(1)>")
    client.force_login(asker)

    texts = [page(client, "entities")] + [
        page(client, route, row)
        for route in ("entity", "entity_passages", "entity_evidence")
        for row in (bad, other)
    ]

    for text in texts:
        assert "<script>alert" not in text
        assert "<img" not in text
        assert not set(text) & set("\u202e\u2066\u200b")
    assert all("&lt;script&gt;" in text for text in texts[1:])


def test_drawn_neighbours_are_links_and_the_rest_is_counted(client: Client, asker: User) -> None:
    hub, chunk = entity("hub"), passage("Hub", "hub")
    mention(chunk, hub)
    for number in range(15):
        other = entity(f"spoke {number:02}")
        mention(chunk, other)
        RelationshipFactory(
            source=hub, target=other, chunk=chunk, type="contains", confidence=1.0 if number < 12 else 0.4
        )
    client.force_login(asker)

    text = page(client, "entity", hub)

    for form in ("wide", "narrow"):
        svg = re.search(rf'<svg class="neighbourhood {form}".*?</a> </svg>', text)
        assert svg is not None
        assert len(re.findall(r'<a href="/graph/entities/', svg[0])) == 12
        assert "spoke 00: hub contains spoke 00 (said directly)" in svg[0]
        assert "spoke 14" not in svg[0]
    assert "And 3 more, in the list below" in text


def test_edges_are_paged_with_the_surest_first(client: Client, asker: User) -> None:
    hub, chunk = entity("hub"), passage("Hub", "hub")
    mention(chunk, hub)
    for number in range(30):
        other = entity(f"spoke {number:02}")
        mention(chunk, other)
        RelationshipFactory(source=other, target=hub, chunk=chunk, confidence=1.0 if number == 29 else 0.4)

    lines = edges.lines(faces.find(hub.pk, EVERYTHING), EVERYTHING)  # type: ignore[arg-type]

    assert [line.confidence for line in lines[:2]] == [1.0, 0.4]
    client.force_login(asker)
    assert "Page 1 of 2" in page(client, "entity", hub)
    shown = page(client, "entity", hub) + page(client, "entity", hub, page="2")
    assert all(f"<bdi>spoke {number:02}</bdi></a> <span" in shown for number in range(30))


def test_a_mention_in_a_table_shows_its_row() -> None:
    sand = entity("sand")
    chunk = passage("Table", "Soil\n| kind | share |\n| --- | --- |\n| sand | 40 |\n| clay | 60 |")
    Chunk.objects.filter(pk=chunk.pk).update(is_table=True)
    mention(chunk, sand)
    face = faces.find(sand.pk, EVERYTHING)
    assert face is not None

    (quoted,) = pages.mentioned_in(pages.passages(face, EVERYTHING), face, EVERYTHING)

    assert quoted.text == "sand | 40"
    assert [quoted.text[start:end] for start, end in quoted.marked] == ["sand"]


def test_documents_and_passages_name_what_they_mention(client: Client, asker: User, methane: Entity) -> None:
    heat = Chunk.objects.get(document__title="Heat")
    client.force_login(asker)

    of_document = client.get(reverse("document", args=[heat.document_id])).content.decode()
    of_passage = client.get(reverse("passage", args=[heat.public_id])).content.decode()
    listed = page(client, "entities", document=str(heat.document_id))

    for text in (of_document, of_passage):
        assert f'<a href="/graph/entities/{methane.pk}/"><bdi>methane</bdi></a>' in text
    assert f"/graph/?document={heat.document_id}" in of_document
    assert "2 of 3 entities" in listed
    assert "Named in" in listed


def test_pages_cost_the_same_number_of_statements_however_much_there_is(
    client: Client, asker: User, methane: Entity
) -> None:
    client.force_login(asker)

    def cost() -> list[int]:
        counts = []
        for route, row in [("entities", None), ("entity", methane), ("entity_passages", methane)]:
            with CaptureQueriesContext(connection) as asked:
                page(client, route, row)
            counts.append(len(asked))
        return counts

    cost()
    before = cost()
    for number in range(40):
        relate(
            passage(f"More {number}", f"gas {number} is methane"), entity(f"gas {number}"), "is_a", methane
        )

    assert cost() == before
    assert max(before) <= 20


def test_a_search_by_name_can_use_the_index_of_trigrams(methane: Entity) -> None:
    with CaptureQueriesContext(connection) as asked:
        listing.listing(Wanted(name="methane"), PUBLIC, page=1)
    condition = re.search(r"mention\.surface_key LIKE '[^']+'", asked[0]["sql"])
    assert condition is not None

    with connection.cursor() as cursor:
        # With so few rows reading them all is cheaper.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexonlyscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
        cursor.execute(f"EXPLAIN SELECT 1 FROM retrieval_mention mention WHERE {condition[0]}")  # noqa: S608
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "retrieval_mention_trigrams" in plan
