"""The same-scope certificate: words of documents a role may not see, sought on every surface as a member.

The words are the documents' own: titles, identifiers and phrases that no visible passage has. Searches and
exports run with the role's scope; pages are asked for by a member who exists inside a transaction that is
rolled back, so that nothing stays behind. What each surface let through is recorded by document id.
"""

from __future__ import annotations

import json
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.test import Client
from django.urls import reverse

from corpus import ceilings
from corpus.actions import certificates
from corpus.certificates import Certificate
from corpus.export.files import Form
from corpus.export.writing import export
from corpus.fingerprint import fingerprint
from corpus.models import Chunk, Document, DocumentCitation
from corpus.rights import ALL_CLASSES, parse_class
from corpus.scope import NOTHING, Ceiling, RetrievalScope
from retrieval.profiles import LAYERS
from retrieval.retriever import retrieve
from sci_rag_site import certificate_tools

T = TypeVar("T")
logger = structlog.get_logger(__name__)

# Documents whose words are looked for, of each reason there is to keep one back.
_OF_EACH = 3
_PHRASE_WORDS = 8
_LISTS = ("ask", "scope", "answers", "notices", "documents", "entities", "upload", "runs")


class NoSuchRole(ValueError):
    """There is no role of this name."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A document that may not be seen, and words that would give it away."""

    document: Document
    words: tuple[str, ...]
    passage: Chunk | None

    @property
    def question(self) -> str:
        return self.words[0]


@dataclass(slots=True)
class Surface:
    """One place that was asked: how often, and which documents showed, or what count was wrong."""

    name: str
    asked: int = 0
    leaked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return self.asked > 0 and not self.leaked and not self.wrong

    def seek(self, canaries: Sequence[Canary], text: str, *, typed: str = "") -> None:
        """Look for every canary in what came back, except for what was typed to get it."""
        self.asked += 1
        folded, known = text.casefold(), typed.casefold()
        for one in canaries:
            if any(word.casefold() in folded and word.casefold() not in known for word in one.words):
                self.leaked.append(str(one.document.pk))

    def as_dict(self) -> dict[str, Any]:
        return {
            "surface": self.name,
            "asked": self.asked,
            "passed": self.passed,
            "leaked": sorted(set(self.leaked)),
            "wrong": self.wrong,
        }


def role_named(name: str) -> Group:
    """Return the role; raise `NoSuchRole`, which names those there are."""
    found = Group.objects.select_related("ceiling").filter(name=name).first()
    if found is None:
        names = ", ".join(Group.objects.order_by("name").values_list("name", flat=True))
        raise NoSuchRole(f"There is no role called {name!r}. There are: {names}.")
    return found


def certify(certificate: Certificate) -> Certificate:
    """Carry out a check that has begun, and record its outcome, whatever happens."""
    try:
        role = role_named(certificate.role)
        scope = _as_member(role, lambda member: ceilings.effective_scope(member, RetrievalScope()))
        # Not by `within`: what is checked cannot be what says what is right.
        visible = _covered(_ceiling(role))
        canaries, hidden = _canaries(visible)
        surfaces = []
        for surface in _surfaces(role, scope, visible, canaries):
            surfaces.append(surface)
            certificates.progress(certificate=certificate, done=len(surfaces))
        found = {
            "surfaces": [surface.as_dict() for surface in surfaces],
            "canaries": len(canaries),
            "hidden": hidden,
            "fingerprint": fingerprint(scope),
        }
        certificates.finish(certificate=certificate, passed=all(one.passed for one in surfaces), found=found)
    except Exception as error:
        certificates.give_up(certificate=certificate, reason=f"It stopped with {type(error).__name__}.")
        logger.warning("certificate.stopped", certificate=certificate.pk, error=type(error).__name__)
        raise
    logger.info("certificate.finished", certificate=certificate.pk, state=certificate.state)
    return certificate


def _as_member(role: Group, act: Callable[[User], T]) -> T:
    """Return what `act` returns for a member of `role` who is gone afterwards, with all they did."""
    with transaction.atomic():
        member = User.objects.create_user(f"certificate-{uuid.uuid4().hex}")
        member.groups.add(role)
        try:
            return act(member)
        finally:
            transaction.set_rollback(True)


def _ceiling(role: Group) -> Ceiling:
    row = getattr(role, "ceiling", None)
    if row is None:
        return NOTHING
    classes = tuple(parse_class(name) for name in row.license_classes)
    return Ceiling(classes, None if row.all_buckets else tuple(row.buckets))


def _covered(ceiling: Ceiling) -> QuerySet[Document]:
    """Return what a ceiling covers, by the words of the rule and none of the code that is being checked."""
    covered = Q(license_class__in=[str(item) for item in ceiling.license_classes])
    if ceiling.buckets is not None:
        covered &= Q(bucket__in=ceiling.buckets)
    return Document.objects.filter(covered)


def _canaries(visible: QuerySet[Document]) -> tuple[list[Canary], int]:
    """Return documents of every reason to keep one back, with words only they have; and the number of all."""
    hidden = Document.objects.exclude(pk__in=visible.order_by().values("pk"))
    chosen: dict[uuid.UUID, Document] = {}
    for license_class in ALL_CLASSES:
        of_class = hidden.filter(license_class=license_class).order_by("-ingested_at", "id")
        for rows in (
            of_class.filter(embargoed_until__isnull=True, state=Document.State.READY),
            of_class.filter(embargoed_until__isnull=False),
            of_class.filter(source__is_retracted=True),
            of_class.exclude(state=Document.State.READY),
        ):
            chosen |= {row.pk: row for row in rows[:_OF_EACH]}
    return [_canary(document, visible) for document in chosen.values()], hidden.count()


def _canary(document: Document, visible: QuerySet[Document]) -> Canary:
    """Return the words of `document` that nothing visible says: its id at least."""
    passage = document.chunks.defer("search_vector").order_by("ordinal", "id").first()
    phrase = "" if passage is None else " ".join(passage.body.split()[:_PHRASE_WORDS])
    candidates = (phrase, document.title, document.doi_normalised)
    words = [word for word in candidates if word and not _is_said(word, visible)]
    return Canary(document, (*words, str(document.pk)), passage)


def _is_said(word: str, visible: QuerySet[Document]) -> bool:
    """Whether visible documents say `word` themselves: text, title, DOI, or in citing the work."""
    keys = visible.order_by().values("pk")
    named = Q(title__icontains=word) | Q(doi_normalised__iexact=word)
    cited = Q(text__icontains=word) | Q(doi_normalised__iexact=word)
    return (
        Chunk.objects.filter(document__in=keys, body__icontains=word).exists()
        or visible.filter(named).exists()
        or DocumentCitation.objects.filter(cited, citing__in=keys).exists()
    )


def _surfaces(
    role: Group, scope: RetrievalScope, visible: QuerySet[Document], canaries: list[Canary]
) -> Iterator[Surface]:
    ready = visible.filter(state=Document.State.READY)
    if not scope.denied:
        for layer in LAYERS:
            yield _layer(layer, scope, canaries, ready.count())
        yield _export(scope, canaries, ready.count())
    for look in (_pages, _lists, _guesses, _counts, _tools):
        yield _as_member(role, partial(look, ready=ready, canaries=canaries))


def _layer(layer: str, scope: RetrievalScope, canaries: Sequence[Canary], eligible: int) -> Surface:
    """Ask one layer, alone, for the words of each document."""
    surface = Surface(f"layer {layer}")
    for one in canaries:
        switches = {name: name == layer for name in LAYERS}
        result = retrieve(question=one.question[:500], scope=scope, switches=switches, limit=50)
        surface.seek(canaries, json.dumps(result.as_dict(), ensure_ascii=False))
        if result.eligible.documents != eligible:
            surface.wrong.append(f"{result.eligible.documents} documents instead of {eligible}")
    if not canaries:
        surface.asked = 1
    return surface


def _export(scope: RetrievalScope, canaries: Sequence[Canary], eligible: int) -> Surface:
    surface = Surface("export")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "export"
        manifest = export(target=target, scope=scope, form=Form.JSONL)
        for path in sorted(target.iterdir()):
            surface.seek(canaries, path.read_text(encoding="utf-8"))
    if manifest["counts"]["documents"] != eligible:
        surface.wrong.append(f"{manifest['counts']['documents']} documents instead of {eligible}")
    return surface


def _signed_in(member: User) -> Client:
    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    client.force_login(member, backend="corpus.accounts.backends.PasswordBackend")
    return client


def _text(client: Client, path: str, data: dict[str, str] | None = None) -> str:
    response = client.get(path, data or {}, follow=True, secure=True)
    return response.content.decode(errors="replace") + str(response.headers)


def _lists(member: User, *, ready: QuerySet[Document], canaries: Sequence[Canary]) -> Surface:
    """Read every list, and search the list of documents for the words."""
    surface, client = Surface("lists and forms"), _signed_in(member)
    for name in _LISTS:
        surface.seek(canaries, _text(client, reverse(name)))
    for one in canaries:
        for word in one.words:
            for name in ("documents", "entities"):
                surface.seek(canaries, _text(client, reverse(name), {"q": word[:200]}), typed=word)
    return surface


def _pages(member: User, *, ready: QuerySet[Document], canaries: Sequence[Canary]) -> Surface:
    """Read the pages of visible documents: none may name a hidden one."""
    surface, client = Surface("pages of documents"), _signed_in(member)
    for document in ready.order_by("-ingested_at", "id")[: 5 * _OF_EACH]:
        surface.seek(canaries, _text(client, reverse("document", args=[document.pk])))
    surface.asked = max(surface.asked, 1)
    return surface


def _guesses(member: User, *, ready: QuerySet[Document], canaries: Sequence[Canary]) -> Surface:
    """Ask for hidden rows by their ids: the answer has to be that to an id that does not exist."""
    surface, client = Surface("guessed ids"), _signed_in(member)
    for one in canaries:
        passage = None if one.passage is None else one.passage.public_id
        for name, key, rest in (
            ("document", one.document.pk, []),
            ("page_image", one.document.pk, [1]),
            ("passage", passage, []),
        ):
            if key is None:
                continue
            present, absent = (
                client.get(reverse(name, args=[row, *rest]), secure=True) for row in (key, uuid.uuid4())
            )
            surface.asked += 1
            if (present.status_code, present.content) != (absent.status_code, absent.content):
                surface.leaked.append(str(one.document.pk))
    surface.asked = max(surface.asked, 1)
    return surface


def _tools(member: User, *, ready: QuerySet[Document], canaries: Sequence[Canary]) -> Surface:
    """Ask what agents are offered."""
    surface = Surface("tools")
    certificate_tools.ask(member, surface, canaries, eligible=ready.count())
    return surface


def _counts(member: User, *, ready: QuerySet[Document], canaries: Sequence[Canary]) -> Surface:
    """Compare what the list of documents counts with what the scope allows."""
    surface, client = Surface("counts"), _signed_in(member)
    response = client.get(reverse("documents"), secure=True)
    surface.asked += 1
    shown = response.context
    total, eligible = shown["total"], ready.count()
    by_class = sum(facet.count for facet in shown["licenses"])
    for said in (total, by_class):
        if said != eligible:
            surface.wrong.append(f"{said} documents instead of {eligible}")
    return surface
