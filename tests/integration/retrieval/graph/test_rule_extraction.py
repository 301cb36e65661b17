"""From passages to rows by the rules: what is kept, once, in whatever order, by however many."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from corpus.actions import deletion
from corpus.models import Chunk
from corpus.normalise import matching_form
from retrieval.graph import queries
from retrieval.graph.actions import extraction as action
from retrieval.graph.actions import gc
from retrieval.graph.extraction.rules import RuleExtractor
from retrieval.graph.extraction.running import batches, extract, unread
from retrieval.graph.extraction.verifying import verify
from retrieval.graph.ontology import active_ontology
from retrieval.models import ChunkStamp, Entity, ExtractionRun, Mention, Relationship
from tests.factories.graph import EntityFactory, MentionFactory, RelationshipFactory
from tests.integration.retrieval.graph.extracting import DRY, WET, bodies, by_rules, document
from tests.unit.retrieval.graph.ontologies import ONTOLOGY

pytestmark = pytest.mark.django_db


def edges() -> set[tuple[str, str, str, float]]:
    return set(Relationship.objects.values_list("source__key", "type", "target__key", "confidence"))


def test_passages_become_entities_mentions_and_edges() -> None:
    document(DRY, WET)

    run = by_rules()

    assert run.state == ExtractionRun.State.FINISHED
    assert (run.passages, run.passages_done, run.batches_failed) == (2, 2, 0)
    assert edges() == {
        ("pyrolysis", "produces", "biochar", 1.0),
        ("anaerobic digestion", "produces", "methane", 1.0),
    }
    assert set(
        Mention.objects.filter(entity__key="anaerobic digestion").values_list("surface", flat=True)
    ) == {
        "Anaerobic digestion",
        "AD",
    }
    assert (run.entities_added, run.mentions_added, run.relationships_added) == (
        Entity.objects.count(),
        Mention.objects.count(),
        Relationship.objects.count(),
    )


def test_the_same_text_again_adds_nothing() -> None:
    document(DRY, WET)
    by_rules()
    before = list(queries.dump())

    second, third = by_rules(), by_rules(again=True)

    assert second.passages == 0
    assert third.passages_done == 2
    assert (third.entities_added, third.mentions_added, third.relationships_added) == (0, 0, 0)
    assert list(queries.dump()) == before


def test_extraction_goes_on_where_a_limit_stopped_it() -> None:
    document(DRY, WET)
    document("Biochar gives methane.")

    assert [by_rules(limit=1).passages_done for _ in range(4)] == [1, 1, 1, 0]


def test_the_graph_is_the_same_after_deleting_all_and_taking_it_in_in_another_order() -> None:
    texts = [(DRY, WET), ("PYROLYSIS produces Biochar.",), ("Biochar reduces methane.", "Straw is dry.")]
    held = [document(*each) for each in texts]
    by_rules()
    digest, ids = queries.digest(), set(Entity.objects.values_list("id", "name"))

    for each in held:
        deletion.delete(document_id=each.pk)
    assert Entity.objects.count() == 0
    for each in reversed(texts):
        document(*each)
        by_rules()

    assert queries.digest() == digest
    assert set(Entity.objects.values_list("id", "name")) == ids


def test_deleting_a_document_removes_what_it_alone_supported() -> None:
    document("Pyrolysis produces biochar.")
    by_rules()
    alone = list(queries.dump())
    names = set(Entity.objects.values_list("key", flat=True))
    other = document(DRY + " Biochar reduces methane.")
    by_rules()

    deletion.delete(document_id=other.pk)

    assert list(queries.dump()) == alone
    assert set(Entity.objects.values_list("key", flat=True)) == names
    assert gc.preview() == gc.Garbage(0, 0, 0)


def test_a_better_reading_of_the_same_passage_keeps_the_higher_confidence() -> None:
    held = document("Pyrolysis produces biochar.")
    by_rules()
    Relationship.objects.update(confidence=0.4, quote="produces")

    run = by_rules(again=True)

    (edge,) = Relationship.objects.filter(document=held)
    assert (edge.confidence, edge.quote, run.relationships_added) == (1.0, "Pyrolysis produces biochar.", 0)


def test_a_merged_name_keeps_its_mentions_and_gives_its_edges_to_the_other() -> None:
    winner = EntityFactory(name="thermolysis", type="process")
    MentionFactory(entity=winner)
    document("Pyrolysis produces biochar.")
    by_rules()
    Relationship.objects.all().delete()
    loser = Entity.objects.get(key="pyrolysis")
    Entity.objects.filter(pk=loser.pk).update(canonical_entity=winner)

    by_rules(again=True)

    assert Relationship.objects.get().source == winner
    assert loser.mentions.count() == 1


def test_after_a_split_a_passage_keeps_the_sense_it_was_given() -> None:
    held = document("Pyrolysis produces biochar.")
    by_rules()
    other = Entity.objects.create(type="process", key="pyrolysis", sense=1, name="Pyrolysis")
    Mention.objects.filter(entity__key="pyrolysis").update(entity=other)
    Relationship.objects.update(source=other)

    run = by_rules(again=True)

    assert (run.mentions_added, run.relationships_added) == (0, 0)
    assert Relationship.objects.get(document=held).source == other


def test_a_passage_that_changed_meanwhile_is_neither_kept_nor_stamped() -> None:
    held = document("Pyrolysis produces biochar.", WET)
    extractor = RuleExtractor(ONTOLOGY)
    (batch,) = batches(extractor)
    verified, dropped = verify(extractor.read(batch), batch, ONTOLOGY)
    gone, changed = held.chunks.order_by("ordinal")
    gone.delete()
    Chunk.objects.filter(pk=changed.pk).update(content_sha256="0" * 64)
    run = action.start(extractor=extractor.name, passages=2, parameters={})

    kept = action.keep(run=run.pk, extractor=extractor.name, verified=verified, dropped=dropped)

    assert kept.passages == 0
    assert (Entity.objects.count(), ChunkStamp.objects.count()) == (0, 0)


def test_another_ontology_has_everything_read_again() -> None:
    document(DRY)
    by_rules()
    other = ONTOLOGY.model_copy(update={"relation_types": {}})

    assert unread(RuleExtractor(ONTOLOGY).name).count() == 0
    assert unread(RuleExtractor(other).name).count() == 1


def test_documents_that_are_not_ready_are_not_read() -> None:
    document(DRY, state="embedding")

    assert by_rules().passages == 0


def test_collecting_removes_what_nothing_supports_and_keeps_tombstones() -> None:
    alive, winner = EntityFactory(name="alive"), EntityFactory(name="winner")
    tombstone, lost = EntityFactory(name="tombstone"), EntityFactory(name="lost")
    lost_too = EntityFactory(name="lost too", canonical_entity=lost)
    Entity.objects.filter(pk=tombstone.pk).update(canonical_entity=winner)
    chunk = MentionFactory(entity=alive).chunk
    MentionFactory(entity=tombstone, chunk=chunk)
    kept = RelationshipFactory(source=alive, target=winner, chunk=chunk)
    dangling = RelationshipFactory(source=alive, target=winner)

    counted = gc.preview()
    removed = gc.collect()

    assert counted == removed == gc.Garbage(entities=2, relationships=1, communities=0)
    assert set(Entity.objects.all()) == {alive, winner, tombstone}
    assert list(Relationship.objects.all()) == [kept]
    assert (lost_too.pk, dangling.pk) != (lost.pk, kept.pk)
    assert gc.preview() == gc.Garbage(0, 0, 0)


@pytest.mark.django_db(transaction=True)
def test_several_at_once_store_everything_once() -> None:
    for number in range(6):
        document(DRY, WET, f"Straw {number} gives biochar. Pyrolysis reduces methane.")

    def one(_: int) -> str:
        try:
            return str(by_rules(again=True).state)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        states = list(pool.map(one, range(4)))
    at_once = list(queries.dump())
    runs = ExtractionRun.objects.all()

    assert states == ["finished"] * 4
    assert sum(run.mentions_added for run in runs) == Mention.objects.count()
    assert sum(run.relationships_added for run in runs) == Relationship.objects.count()
    Entity.objects.all().delete()
    by_rules(again=True)
    assert list(queries.dump()) == at_once


def test_runs_say_how_long_they_took() -> None:
    document(DRY)

    run = by_rules()

    assert run.finished_at is not None
    assert timedelta() <= run.finished_at - run.started_at < timedelta(minutes=1)


def test_every_word_kept_of_real_papers_stands_in_its_passage(shared_data: Path) -> None:
    ontology = active_ontology()
    for path in sorted((shared_data / "fulltext").glob("*.md"))[:5]:
        text = path.read_text(encoding="utf-8")
        document(*[part for part in text.split("\n\n") if part.strip()][:150])

    extract(extractor=RuleExtractor(ontology), ontology=ontology)

    texts = {chunk: matching_form(body) for chunk, body in bodies().items()}
    kept = [
        *Mention.objects.values_list("chunk_id", "surface"),
        *Relationship.objects.values_list("chunk_id", "quote"),
    ]
    assert len(kept) > 100
    assert all(matching_form(words) in texts[chunk] for chunk, words in kept)
