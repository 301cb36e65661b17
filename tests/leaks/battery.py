"""What a scope decides, observed in many small steps: other observations when a condition is missing.

Each step is compared with what it observed before the code was changed. That the unchanged code observes
the same without the ineligible documents is what the twin tests show.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from answers import alerts, conversation_pages, engine, examples, other_versions, reading
from answers.feedback import WrongReport, WrongReportSource
from answers.waiting import known_reports
from corpus import citation_graph, explaining, library_upload, review_queue, run_pages, uploads, versions
from corpus import views as document_views
from corpus.actions import certificates, license_review, review, rights
from corpus.bibliography.identifiers import Identifier
from corpus.curation import ReviewItem
from corpus.domain_profile import DomainProfile, GraphProfile
from corpus.export import rows, writing
from corpus.export.files import Form
from corpus.models import Chunk, Document, DocumentCitation
from corpus.scope import RetrievalScope, scope
from retrieval import eligibility, hydration, latency
from retrieval.graph.communities import building, queries
from retrieval.graph.models import Mention
from retrieval.layers import graph, keyword_query, keyword_rarity, keyword_terms
from retrieval.layers.base import Session
from retrieval.profiles import LAYERS
from sci_rag_site import certificate
from tests.factories.keys import bearer
from tests.integration.retrieval import corpora, graphs
from tests.integration.retrieval.test_noninterference import QUESTIONS, SENTENCES, WAYS, outcome
from tests.leaks import api_rows, evaluation_battery, routes
from tests.leaks.asking import ask, client_of, content_of
from tests.leaks.test_twins import masked
from tests.leaks.world import OPEN, World, canary

Step = Callable[[World], Any]

# Only what the ceiling leaves out, and everything else a scope can leave out, of the world's documents.
_WORD = canary("public")
SCOPES = {
    "classes": {"license_classes": ["public"]},
    "bucket": {"buckets": [f"bucket-{_WORD}"]},
    "first year": {"year_min": 2021},
    "last year": {"year_max": 2019},
    "author": {"authors": [f"Author {_WORD}"]},
    "journal": {"journals": [f"Journal {_WORD}"]},
    "work": {"exclude_dois": [f"10.9999/{_WORD}"]},
    "retracted": {"exclude_retracted": True},
}
# How many of the addresses of a route are read.
PAGES = {
    "documents": 2,
    "document": 8,
    "passage": 4,
    "answer": 3,
    "note": 2,
    "notices": 1,
    "scope": 2,
    "upload": 1,
    "entities": 12,
    "entity": 3,
    "entity_passages": 3,
    "entity_evidence": 3,
    "extractions": 1,
    "extraction": 1,
    "runs": 1,
    "run": 1,
    "why": 6,
    "api_documents": 14,
    "api_document": 8,
    "api_chunk": 4,
    "api_sources": 4,
    "api_entities": 3,
    "api_notes": 2,
    "api_status": 1,
    "api_manifest": 1,
    "api_run": 1,
}
NARROW = scope(license_classes=["public"])
WIDE = scope(license_classes=[item.value for item in OPEN])


def furnish() -> None:
    """Add documents for retrieval: in other languages, without a year, or with a hidden successor."""
    for number, sentence in enumerate(SENTENCES[:6]):
        add = {"year": None} if number == 0 else {}
        corpora.add(f"Open {number}", [sentence], license_class="public", **add)
        corpora.add(
            f"Closed {number}",
            [SENTENCES[0], SENTENCES[number], "rice straw methane yield biochar"],
            license_class="restricted",
            language="de" if number % 2 else "en",
            fixity=Document.Fixity.ALTERED
            if hasattr(Document.Fixity, "ALTERED")
            else Document.Fixity.values[-1],
            doi=f"10.5555/demo.2019.00{number}",
            **add,
        )
    successor = Document.objects.get(title="Closed 1")
    Document.objects.filter(title="Open 1").update(status="superseded", superseded_by=successor)
    current = Document.objects.get(title="Open 2")
    Document.objects.filter(title="Closed 2").update(status="superseded", superseded_by=current)
    _graph()
    _references()
    _report()


def _graph() -> None:
    """Let a closed document alone use a name, say an edge, and mention what open ones mention."""
    opened, closed = (
        [Document.objects.get(title=f"{kind} {number}") for number in range(6)] for kind in ("Open", "Closed")
    )
    graphs.mention(opened[0], "dry bales")
    graphs.mention(opened[1], "night fire")
    graphs.mention(closed[0], "dry bales")
    graphs.edge(closed[1], "dry bales", "night fire")
    Mention.objects.create(
        entity=graphs.entity("dry bales"), chunk=closed[2].chunks.get(ordinal=0), document=closed[2], start=0,
        surface="torrefaction", surface_key="torrefaction",
    )  # fmt: skip
    graphs.mention(opened[3], "dry bales")
    graphs.mention(closed[3], "dry bales")


def _report() -> None:
    """A report whose evidence is all open, beside those about answers that cite everything."""
    report = WrongReport.objects.create(
        answer_ref=uuid4(), question="?", searched_question="?", engine="model", answer_sha256="0" * 64,
        comment="No.",
    )  # fmt: skip
    opened = Document.objects.get(title="Open 0")
    WrongReportSource.objects.create(
        report=report, number=1, document_id=opened.pk, content_sha256="0" * 64, quote="water",
        license_class=opened.license_class, bucket=opened.bucket,
    )  # fmt: skip


def _references() -> None:
    """Let an open and a closed document refer to each other, and a passage point at both."""
    opened, closed = (Document.objects.get(title=f"{kind} 3") for kind in ("Open", "Closed"))
    for document, name in ((opened, "open-three"), (closed, "closed-three")):
        document.doi = f"10.5555/{name}"
        document.save()
    for citing, cited in ((opened, closed), (closed, opened)):
        DocumentCitation.objects.create(citing=citing, ordinal=1, doi_normalised=cited.doi_normalised)
    opened.chunks.update(forward_references=["[1]"], rank_key=-(2**60))


def _titles(wanted: RetrievalScope) -> list[str]:
    return list(Document.objects.within(wanted).order_by("title", "id").values_list("title", flat=True))


def scopes_step(world: World) -> Any:
    found = {name: _titles(scope(**fields)) for name, fields in SCOPES.items()}  # type: ignore[arg-type]
    excluded = str(world.documents["public"].pk)
    return found | {"id": _titles(scope(exclude_document_ids=[excluded]))}


def hydration_step(world: World) -> Any:
    everything = list(Chunk.objects.values_list("pk", flat=True))
    progress: Any = SimpleNamespace(scope=NARROW, answer=SimpleNamespace(pk=0))
    items: Any = [SimpleNamespace(chunk_pk=key) for key in everything]
    return (
        sorted(hydration.load(everything, NARROW)),
        len(engine._still_eligible(progress, items)),
        sorted(latency._titles(NARROW)),
        len(versions.around(Document.objects.values_list("pk", flat=True), NARROW)),
        eligibility.read(scope(license_classes=["public"], year_min=2019)).eligible,
        hydration.visible_successors(Chunk.objects.select_related("document"), NARROW),
    )


def search_step(way: str, question: str, wanted: RetrievalScope) -> Step:
    def step(_: World) -> Any:
        with _patched(way):
            return outcome(question, wanted, **_options(way))

    return step


def _options(way: str) -> dict[str, Any]:
    return WAYS[way].options


def _patched(way: str) -> Any:
    from contextlib import ExitStack

    stack = ExitStack()
    for module, constant, value in WAYS[way].patches:
        stack.enter_context(patch.object(module, constant, value))
    return stack


def export_step(_: World) -> Any:
    held = rows.held(NARROW)
    with tempfile.TemporaryDirectory() as folder:
        manifest = writing._manifest(NARROW, Form.JSONL)
        del manifest["exported_at"]
        counts = writing.export(target=Path(folder) / "out", scope=NARROW, form=Form.JSONL)["counts"]
    return sorted(map(str, held.ids)), counts, manifest


def curation_step(world: World) -> Any:
    curator, narrow = _person(world, "curator"), _person(world, "narrow")
    hidden = world.documents["restricted"]
    items = ReviewItem.objects.select_related("document", "other").order_by("id")
    return (
        [review._may_decide(item, curator) for item in items],
        _refused(lambda: rights.require_may_change([hidden], by=curator)),
        len(license_review._covered(Document.objects.values_list("pk", flat=True), curator)),
        review_queue.waiting(curator).count(),
        [run_pages.parts_of(run) for run in run_pages.runs(curator)],
        explaining.of(narrow),
        examples.questions(narrow),
        alerts.affected_under_ceiling(curator).count(),
    )


def graph_step(_: World) -> Any:
    """Walk from a name, one that only a closed passage uses, a misspelt one, and along references."""
    only = {name: name == "graph" for name in LAYERS}
    found = [
        outcome(question, NARROW, switches=only)
        for question in ("What of dry bales?", "What of torrefaction?", "What of torrefactoin?")
    ]
    profile = DomainProfile(graph_walk=GraphProfile(citation_hop=True))
    with patch.object(graph, "active_profile", lambda: profile), patch.object(graph, "_MOST_MENTIONS", 1):
        found.append(outcome("What of dry bales?", NARROW, switches=only))
    return found


def communities_step(_: World) -> Any:
    """Read what a build would be made of, and the hash that tells whether it is outdated."""
    return building.plan("narrow", NARROW), queries.stamp(NARROW)


def references_step(_: World) -> Any:
    opened, closed = (Document.objects.get(title=f"{kind} 3") for kind in ("Open", "Closed"))
    passage = opened.chunks.select_related("document").get()
    return (
        [one.held and one.held.pk for one in citation_graph.references(opened, NARROW)],
        [one.pk for one in citation_graph.cited_by(opened, NARROW)],
        [one.name for one in citation_graph.pointers(passage, NARROW)],
        len(citation_graph.references(closed, NARROW)),
        document_views._versions(Document.objects.get(title="Open 1"), NARROW),
    )


def certificate_step(_: World) -> Any:
    """Have the role of next to nothing checked. The slowest step, and so the last."""
    role = Group.objects.get(name="narrow")
    began = certificates.begin(key=certificates.ask(role=role, by=None).pk)
    assert began is not None
    ended = certificate.certify(began)
    return ended.state, {one["surface"]: one["passed"] for one in ended.surfaces}


def words_step(_: World) -> Any:
    """What the keyword layer knows of words before it ranks: languages, frequencies, the promising few."""
    eligible = Document.objects.eligible_sql(NARROW)
    asked = keyword_query.parse("methane straw biochar yield")
    with transaction.atomic():
        session = Session(30.0)
        terms, _required = keyword_terms.terms_of(asked, eligible, session)
        length = keyword_rarity.estimate(terms, 8, eligible, session)
        estimated = [term.frequency for term in terms]
        best = keyword_rarity.promising(terms, 8, eligible, session, by_length=0.01, limit=50)
        counted = [term.frequency for term in terms]
        held = keyword_rarity.shortest_with_all(terms[:1], eligible, session, limit=50)
    return terms, length, estimated, best, counted, held


def answers_step(world: World) -> Any:
    """What a search of answers reads, which reports one may know, which lines stand under a source."""
    narrow, curator = _person(world, "narrow"), _person(world, "curator")
    answer = world.answers["narrow"]
    hidden = world.passages["restricted"]
    named = {"passage": str(hidden.public_id), "reason": "superseded"}
    numbers = (1, other_versions.UNATTACHED)
    answer.traces = [{"stage": other_versions.STAGE, "named": [{**named, "number": n} for n in numbers]}]
    shown = reading.readable(answer, narrow)
    return (
        conversation_pages.matching(narrow, canary("public")).filter(pk=answer.pk).count(),
        known_reports(curator).count(),
        sorted(other_versions.readable(answer, NARROW)),
        shown and len(shown.other_versions),
    )


def upload_step(world: World) -> Any:
    curator, word = _person(world, "curator"), canary("restricted")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "again.md"
        # The bytes that the document's file hash is made of.
        path.write_text(f"{word}.pdf")
        judged = uploads.judge(uploads.Sent(path, "again.md"), by=curator)
    row: Any = SimpleNamespace(
        record=SimpleNamespace(identifier=Identifier("doi", f"10.9999/{word}.work")), files=(), held=None
    )
    library_upload._note_held([row], curator)
    return judged.detail, judged.document, row.held


def page_step(client: Client, call: routes.Call) -> Step:
    def step(_: World) -> Any:
        api_rows.forget_uses()
        response = ask(client, call)
        return response.status_code, masked(content_of(response).decode(errors="replace"), set())

    return step


def _person(world: World, actor: str) -> User:
    person = world.people[actor]
    assert person is not None
    return person


def _refused(call: Callable[[], None]) -> bool:
    try:
        call()
    except rights.RightsError:
        return True
    return False


def steps(world: World) -> Iterator[tuple[str, Step]]:
    """Yield the steps, the quick ones first."""
    yield "scopes", scopes_step
    yield "hydration", hydration_step
    yield "curation", curation_step
    yield "upload", upload_step
    for way in (
        "vector",
        "vector narrowed by codes",
        "keyword",
        "keyword, rare words",
        "keyword, common words",
    ):
        yield way, search_step(way, QUESTIONS[0], WIDE)
    yield "graph", graph_step
    yield "communities", communities_step
    yield "references", references_step
    yield "evaluation", evaluation_battery.step
    yield "words", words_step
    yield "answers", answers_step
    yield "export", export_step
    yield from page_steps(world)
    yield "certificate", certificate_step


def page_steps(world: World) -> Iterator[tuple[str, Step]]:
    narrow, curator = client_of(world, "narrow"), client_of(world, "curator")
    for path in admin_pages(world):
        yield f"admin {path}", page_step(curator, routes.Call(path))
    for name, calls in routes.calls(world).items():
        reading = [call for call in calls if call.method == "get"]
        for call in reading[: PAGES.get(name, 0)]:
            yield name, page_step(narrow, call)
            yield name, page_step(curator, call)
    for case in ("restricted", "scanned"):
        address = reverse("page_image", args=[world.documents[case].pk, 1])
        yield "picture", page_step(narrow, routes.Call(address))
    yield "ask", page_step(narrow, routes.Call(reverse("ask")))
    # One whose newer version is hidden, and one whose older version is.
    for document in Document.objects.filter(title__in=["Open 1", "Open 2"]).order_by("title", "id"):
        yield "api_document", page_step(narrow, routes.Call(reverse("api_document", args=[document.pk])))
    by_key = Client(headers=bearer(api_rows.narrow_key_of(_person(world, "librarian"))))
    asked = [routes.Call(reverse("api_documents")), routes.Call(reverse("api_status"))]
    for call in (*asked, *routes.calls(world)["api_query"][:2]):
        yield f"key {call.path}", page_step(by_key, call)
        yield f"key {call.path}", page_step(narrow, call)
    yield "answer", page_step(narrow, routes.Call(reverse("ask"), "post", routes.QUESTION))


def admin_pages(world: World) -> list[str]:
    """Return the admin's front page and lists, and the pages of a document that its reader may not see."""
    names = ("document", "source", "rightsdecision", "reviewitem", "ingestionrun", "ingestionitem")
    lists = [reverse(f"admin:corpus_{name}_changelist") for name in names]
    lists += [reverse("admin:retrieval_mergeproposal_queue"), reverse("admin:retrieval_entity_changelist")]
    hidden = world.documents["restricted"]
    return [reverse("admin:index"), *lists, reverse("admin:corpus_document_change", args=[hidden.pk])]


def observed(world: World, step: Step) -> Any:
    """Return what a step observes; a failure is an observation too."""
    try:
        return step(world)
    except Exception as error:  # noqa: BLE001 - whatever a mutant breaks is a way of noticing it
        return type(error).__name__
