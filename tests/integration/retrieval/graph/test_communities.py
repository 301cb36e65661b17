"""Communities of a named scope: of its documents alone, the same in every order, put in place at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import chain

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from corpus.models import Document, EmbeddingVersion, Source
from corpus.normalise import matching_form
from retrieval.graph.actions import communities as action
from retrieval.graph.actions import gc
from retrieval.graph.actions.communities import BuildLost, BuildUnderWay
from retrieval.graph.communities import building, queries, scopes
from retrieval.graph.communities.drafting import Draft
from retrieval.graph.communities.summarising import EXTRACTIVE, Extractive, NotSummarised
from retrieval.models import (
    Community,
    CommunityBuild,
    CommunityDocument,
    CommunityMember,
    Entity,
    Mention,
    Relationship,
)
from tests.factories.corpus import SourceFactory
from tests.integration.retrieval.corpora import add
from tests.integration.retrieval.graph.grouping import CHAR, STRAW, build, content, current, paper, titles
from tests.integration.retrieval.graphs import entity, mention

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "zyxwcanary"


class Scripted(Extractive):
    """Writes as the quotes do, after something has happened."""

    name = "scripted"
    basis = "scripted 1"

    def __init__(self, *happening: Callable[[], object]) -> None:
        self.happening = list(happening)
        self.asked: list[str] = []

    def write(self, draft: Draft) -> str:
        self.asked.append(draft.title)
        if self.happening:
            self.happening.pop(0)()
        return super().write(draft)


class Killed(BaseException):
    """What no handler stops."""


def killed() -> None:
    raise Killed


def nothing() -> None:
    """Let a summary be written."""


def test_a_build_says_who_hangs_together_in_the_words_of_its_documents() -> None:
    silage, char = paper("Silage", STRAW), paper("Char", CHAR)

    outcome = build()

    assert (outcome.communities[0], outcome.documents, outcome.not_embedded) == (2, 2, 0)
    straw = Community.objects.get(title="digestate, methane, straw")
    assert straw.summary.splitlines() == [
        "methane acts on digestate.", "straw acts on digestate.", "straw acts on methane.",
    ]  # fmt: skip
    assert set(straw.members.values_list("key", flat=True)) == set(STRAW)
    assert list(straw.documents.all()) == [silage]
    assert straw.written_by == EXTRACTIVE
    assert straw.version == EmbeddingVersion.objects.get(is_active=True)
    assert len(straw.vector) == straw.version.dimensions
    assert set(current().read.values_list("document", flat=True)) == {silage.pk, char.pk}


def test_every_line_of_an_extractive_summary_stands_in_a_passage() -> None:
    paper("Silage", STRAW)
    paper("Char", CHAR, says="holds")
    build()

    bodies = [matching_form(body) for body in Document.objects.values_list("chunks__body", flat=True)]
    lines = chain.from_iterable(summary.splitlines() for summary in _summaries())

    assert all(any(matching_form(line) in body for body in bodies) for line in lines)


def _summaries() -> list[str]:
    return list(Community.objects.values_list("summary", flat=True))


PAPERS: list[Callable[[], Document]] = [
    lambda: paper("Silage", STRAW, license_class="public"),
    lambda: paper("Char", CHAR),
    lambda: paper("Barns", ("straw", "barn", "manure"), ("manure", "ammonia", "barn"), says="meets"),
    lambda: paper("Both", ("methane", "biochar"), says="touches"),
    lambda: paper("Again", STRAW, says="again acts on"),
    lambda: paper("Closed", (*STRAW, *CHAR), license_class="restricted"),
]


def test_everything_deleted_and_taken_in_in_other_orders_gives_the_same_graph_and_communities() -> None:
    chance = random.Random(6)  # noqa: S311 - an order, no secret
    found = []
    for _ in range(4):
        for taken_in in PAPERS:
            taken_in()
        build("open")
        build("everything")
        found.append((content("open"), content("everything")))
        chance.shuffle(PAPERS)
        Document.objects.all().delete()
        assert not Community.objects.exists()
        assert not Entity.objects.exists()

    assert found[1:] == found[:-1]
    assert found[0][0] != found[0][1]


def test_what_is_out_of_scope_changes_nothing_of_a_build() -> None:
    def rest() -> None:
        paper("Silage", STRAW, license_class="public")
        paper("Char", CHAR)
        mention(add("Tale", ["Of straw."]), "straw")

    rest()
    build()
    alone = content()
    Document.objects.all().delete()
    rest()
    # The same things tied otherwise, in words of its own, with spellings that would win.
    closed = paper("Closed", (*STRAW, *CHAR), says=CANARY, license_class="restricted")
    for number in range(5):
        Mention.objects.create(
            entity=entity("straw"), chunk=closed.chunks.get(), document=closed, start=number,
            surface=f"straw {CANARY}{number}", surface_key="straw",
        )  # fmt: skip
    build("everything")
    build()

    assert content() == alone
    assert not any(CANARY in text for text in _texts("open"))
    assert any(CANARY in text for text in _texts("everything"))


def test_a_name_of_a_restricted_document_names_nothing_though_it_was_merged_into() -> None:
    paper("Silage", STRAW, license_class="public")
    build()
    alone = content()
    CommunityBuild.objects.all().delete()
    # Sorts first, so that it would be the name of the thing for everybody.
    hidden = entity(f"a {CANARY}")
    mention(add("Closed", ["Sealed."], license_class="restricted"), f"a {CANARY}")
    straw = entity("straw")
    Relationship.objects.filter(source=straw).update(source=hidden)
    Entity.objects.filter(pk=straw.pk).update(canonical_entity=hidden)
    build()

    now = [row[:7] for row in content()[1:]]
    assert now == [row[:7] for row in alone[1:]]
    assert hidden in current().communities.get().members.all()


def _texts(name: str) -> list[str]:
    rows = current(name).communities.values_list("title", "summary", "members__mentions__surface")
    return [text for title, summary, _ in rows for text in (title, summary)]


def test_a_document_that_forbids_derivatives_contributes_nothing() -> None:
    paper("Silage", STRAW)
    paper("Verbatim", (*STRAW, "ash"), says=CANARY, no_derivatives=True)

    outcome = build("everything")

    assert outcome.documents == 1
    assert not any(CANARY in text or "ash" in text for text in _texts("everything"))


def test_a_retracted_work_contributes_nothing_where_the_scope_leaves_it_out() -> None:
    paper("Silage", STRAW)
    paper("Fraud", CHAR, source=SourceFactory(is_retracted=True))

    build()

    assert titles() == ["digestate, methane, straw"]


def test_a_tombstone_counts_as_what_it_was_merged_into() -> None:
    paper("Silage", STRAW)
    paper("Heu", ("stroh", "methane"))
    Relationship.objects.filter(source=entity("stroh")).update(source=entity("straw"))
    Entity.objects.filter(key="stroh").update(canonical_entity=entity("straw"))

    build()

    (community,) = current().communities.all()
    assert set(community.members.values_list("key", flat=True)) == set(STRAW)
    assert "stroh acts on methane." in community.summary


def test_two_alone_are_no_community_and_a_scope_without_any_has_a_build_all_the_same() -> None:
    paper("Pair", ("ash", "soil"))

    build()

    assert (current().size, current().documents_read) == (0, 1)


def test_nothing_is_done_again_while_nothing_changes() -> None:
    paper("Silage", STRAW)
    build()
    before = current().pk

    again = build()

    assert again.is_unchanged
    assert current().pk == before


def test_a_summary_is_written_again_only_where_members_or_evidence_are_others() -> None:
    paper("Silage", STRAW)
    paper("Char", CHAR)
    build(summariser=Scripted())
    paper("More", CHAR, says="also acts on")
    writer = Scripted()

    outcome = build(summariser=writer)

    assert writer.asked == ["biochar, soil, water"]
    assert (outcome.kept, outcome.written[writer.name]) == (1, 1)
    assert not Community.objects.filter(vector__isnull=True).exists()


def test_another_embedding_version_embeds_the_same_summaries_anew() -> None:
    paper("Silage", STRAW)
    build()
    old = EmbeddingVersion.objects.get()
    stored = Community.objects.get()
    Community.objects.update(version=EmbeddingVersion.objects.create(name="other@4", dimensions=4))

    outcome = build()

    assert (outcome.kept, outcome.not_embedded) == (1, 0)
    assert Community.objects.get().version == old
    assert Community.objects.get().vector == stored.vector


def test_what_could_not_be_embedded_is_counted_shown_and_embedded_by_the_next_build() -> None:
    paper("Silage", STRAW)
    version = EmbeddingVersion.objects.get()
    EmbeddingVersion.objects.update(name="a model that nothing can make")

    outcome = build()

    assert (outcome.written[EXTRACTIVE], outcome.not_embedded) == (1, 1)
    row = Community.objects.get()
    assert (row.title, row.version, row.vector) == ("digestate, methane, straw", None, None)
    EmbeddingVersion.objects.update(name=version.name)
    outcome = build()
    assert (outcome.kept, outcome.not_embedded) == (1, 0)
    assert Community.objects.get().version == version


# Each on top of those before it. The second word says whether a document that was read is out by it.
CHANGES: dict[str, tuple[Callable[[], object], bool]] = {
    "a new document": (lambda: paper("More", CHAR), False),
    "another class": (lambda: _papers("Char").update(license_class="public"), False),
    "a class into scope": (lambda: _papers("Closed").update(license_class="public"), False),
    "a class out of scope": (lambda: _papers("Closed").update(license_class="unknown"), True),
    "no derivatives": (lambda: _papers("Char").update(no_derivatives=True), True),
    "a deletion": (lambda: _papers("More").get().delete(), True),
    "a surer statement": (lambda: _edges().update(confidence=0.4), False),
    "a merge": (lambda: _edges().filter(target__key="methane").update(source=entity("stroh")), False),
    "a community cleared": (lambda: Community.objects.filter(level=0).delete(), False),
    "a retraction": (lambda: Source.objects.update(is_retracted=True), True),
}


def _papers(title: str) -> QuerySet[Document]:
    return Document.objects.filter(title=title)


def _edges() -> QuerySet[Relationship]:
    return Relationship.objects.filter(source__key="straw")


@pytest.fixture
def built() -> CommunityBuild:
    paper("Silage", STRAW, source=SourceFactory())
    paper("Char", CHAR)
    paper("Closed", CHAR, license_class="restricted")
    build()
    return current()


def test_each_change_of_its_graph_outdates_a_build_and_what_it_read_going_out_ends_its_service(
    built: CommunityBuild,
) -> None:
    for name, (change, goes_out) in CHANGES.items():
        assert not queries.is_stale(current()), name
        assert queries.serves(current()), name

        change()

        assert queries.is_stale(current()), name
        assert queries.serves(current()) is not goes_out, name
        assert not build().is_unchanged, name


def test_what_is_out_of_scope_outdates_nothing(built: CommunityBuild) -> None:
    paper("More", CHAR, license_class="restricted")
    _papers("Closed").update(license_class="unknown")
    assert not queries.is_stale(built)
    _papers("Closed").get().delete()

    assert not queries.is_stale(built)
    assert queries.serves(built)


def test_a_build_is_found_by_the_very_scope_and_no_other(built: CommunityBuild) -> None:
    wanted = scopes.scope_named("open")

    assert queries.current_build(wanted) == built
    assert queries.current_build(scopes.scope_named("everything")) is None


def test_a_name_that_stands_for_another_scope_by_now_is_outdated(built: CommunityBuild) -> None:
    CommunityBuild.objects.update(scope={"license_classes": ["public"]})
    assert queries.is_stale(current())

    CommunityBuild.objects.update(scope_name="gone")
    assert queries.is_stale(CommunityBuild.objects.get())
    assert not queries.serves(CommunityBuild.objects.get())


def test_a_deleted_document_takes_its_communities_with_it(built: CommunityBuild) -> None:
    Document.objects.get(title="Silage").delete()

    assert titles() == ["biochar, soil, water"]
    assert not CommunityMember.objects.exclude(community__in=Community.objects.all()).exists()
    assert gc.collect().communities == 0


def test_a_build_that_dies_leaves_the_current_one_and_its_summaries_to_the_next() -> None:
    paper("Silage", STRAW)
    build(summariser=Scripted())
    before = content()
    paper("Char", CHAR)
    paper("More", STRAW, says="further acts on")
    # As many as make a batch, so that some are stored when it dies.
    for number in range(building.TOGETHER):
        paper(f"P{number}", tuple(f"thing {number}{letter}" for letter in "abc"))

    with pytest.raises(Killed):
        build(summariser=Scripted(*[nothing] * building.TOGETHER, killed))

    assert content() == before
    assert CommunityBuild.objects.filter(finished_at__isnull=True).count() == 1
    writer = Scripted()
    outcome = build(summariser=writer)
    assert (outcome.kept, len(writer.asked)) == (building.TOGETHER, 2)
    assert CommunityBuild.objects.count() == 1
    assert current().size == building.TOGETHER + 2


def test_what_a_killed_process_left_stands_in_the_way_for_three_minutes() -> None:
    paper("Silage", STRAW)
    wanted = scopes.scope_named("open")
    left = action.begin(name="open", scope=wanted, graph_sha256="0", method="killed")

    with pytest.raises(BuildUnderWay, match="'open' are being built already"):
        build()
    CommunityBuild.objects.update(touched_at=timezone.now() - timedelta(minutes=4))
    build()

    assert not CommunityBuild.objects.filter(pk=left.pk).exists()
    assert current().size == 1


def test_a_second_build_of_the_same_scope_is_refused_while_one_is_made() -> None:
    paper("Silage", STRAW)
    refused: list[BuildUnderWay] = []

    def second() -> None:
        with pytest.raises(BuildUnderWay) as caught:
            build()
        refused.append(caught.value)
        build("everything")

    build(summariser=Scripted(second))

    assert len(refused) == 1
    assert current().size == current("everything").size == 1


def test_a_build_that_was_taken_for_dead_gives_up_and_harms_nothing() -> None:
    paper("Silage", STRAW)

    def other() -> None:
        CommunityBuild.objects.update(touched_at=timezone.now() - timedelta(minutes=4))
        build()

    with pytest.raises(BuildLost):
        build(summariser=Scripted(other))

    assert current().communities.get().written_by == EXTRACTIVE
    assert CommunityBuild.objects.count() == 1


def test_a_document_that_goes_while_a_summary_is_written_takes_the_summary_along() -> None:
    doomed = paper("Silage", STRAW)
    paper("Char", CHAR)

    build(summariser=Scripted(doomed.delete))

    assert titles() == ["biochar, soil, water"]
    assert queries.is_stale(current())
    assert not queries.serves(current())


def test_a_document_that_is_restricted_while_a_summary_is_written_takes_the_summary_along() -> None:
    doomed = paper("Silage", STRAW)
    paper("Char", CHAR)

    def restrict() -> None:
        Document.objects.filter(pk=doomed.pk).update(license_class="restricted")

    build(summariser=Scripted(restrict))

    assert titles() == ["biochar, soil, water"]
    assert not CommunityDocument.objects.filter(document=doomed).exists()
    assert not queries.serves(current())


def test_no_transaction_is_open_while_a_summary_is_written() -> None:
    paper("Silage", STRAW)
    seen: list[bool] = []

    build(summariser=Scripted(lambda: seen.append(connection.in_atomic_block)))

    assert seen == [False]


def test_a_community_without_a_summary_is_summarised_by_its_quotes_and_counted() -> None:
    paper("Silage", STRAW)

    def refuse() -> None:
        raise NotSummarised("not_json")

    outcome = build(summariser=Scripted(refuse))

    assert outcome.failed == {"not_json": 1}
    assert outcome.written == {EXTRACTIVE: 1}
    assert Community.objects.get().written_by == EXTRACTIVE
    assert build(summariser=Scripted()).written == {"scripted": 1}


def test_builds_of_scopes_without_a_name_are_removed_on_request(built: CommunityBuild) -> None:
    assert action.forget_unnamed(names=["open"]) == 0
    assert action.forget_unnamed(names=["everything"]) == 1

    assert not CommunityBuild.objects.exists()
    assert not Community.objects.exists()


def test_a_rehearsal_says_what_a_build_would_do_and_writes_nothing(built: CommunityBuild) -> None:
    paper("More", CHAR, says="also acts on")

    outcome = building.rehearse(name="open", summariser=Extractive())

    assert (outcome.communities[0], outcome.kept, outcome.written.total()) == (2, 1, 1)
    assert current() == built
    assert queries.is_stale(built)


@pytest.fixture(autouse=True)
def _no_rows_left() -> Iterator[None]:
    """Nothing may be left of a build that is not the current one, whatever a test did."""
    yield
    assert not CommunityBuild.objects.filter(is_current=False, touched_at__isnull=False).exists()
