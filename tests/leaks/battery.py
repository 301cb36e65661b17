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

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from answers import alerts, engine, examples
from corpus import explaining, library_upload, review_queue, run_pages, uploads, versions
from corpus.actions import license_review, review, rights
from corpus.bibliography.identifiers import Identifier
from corpus.curation import ReviewItem
from corpus.export import rows, writing
from corpus.export.files import Form
from corpus.models import Chunk, Document
from corpus.scope import RetrievalScope, scope
from retrieval import eligibility, hydration, latency
from tests.integration.retrieval import corpora
from tests.integration.retrieval.test_noninterference import QUESTIONS, SENTENCES, WAYS, outcome
from tests.leaks import routes
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
    "notices": 1,
    "scope": 2,
    "upload": 1,
    "runs": 1,
    "run": 1,
    "why": 6,
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
        eligibility.count(scope(license_classes=["public"], year_min=2019)),
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
    yield "export", export_step
    yield from page_steps(world)


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
    yield "answer", page_step(narrow, routes.Call(reverse("ask"), "post", routes.QUESTION))


def admin_pages(world: World) -> list[str]:
    """Return the admin's front page and lists, and the pages of a document that its reader may not see."""
    names = ("document", "source", "rightsdecision", "reviewitem", "ingestionrun", "ingestionitem")
    lists = [reverse(f"admin:corpus_{name}_changelist") for name in names]
    hidden = world.documents["restricted"]
    return [reverse("admin:index"), *lists, reverse("admin:corpus_document_change", args=[hidden.pk])]


def observed(world: World, step: Step) -> Any:
    """Return what a step observes; a failure is an observation too."""
    try:
        return step(world)
    except Exception as error:  # noqa: BLE001 - whatever a mutant breaks is a way of noticing it
        return type(error).__name__
