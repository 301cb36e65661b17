"""Keys of every kind on every address of the API: none tells a word beyond what owner and key may see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from corpus.keys import actions
from corpus.keys.actions import Made
from corpus.keys.models import ApiKey
from corpus.keys.permissions import ALL_PERMISSIONS, Permission
from corpus.models import Document
from corpus.rights import ALL_CLASSES, LicenseClass
from corpus.scope import EVERYTHING, NOTHING, Ceiling
from tests.factories.keys import bearer, make_key
from tests.leaks import api_rows, routes
from tests.leaks.asking import ask, content_of, seen
from tests.leaks.test_twins import masked
from tests.leaks.world import CASES, READABLE, World, allowed, canary

pytestmark = pytest.mark.django_db(transaction=True)

PUBLIC = Ceiling((LicenseClass.PUBLIC,), None)
OPEN = Ceiling((LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL), None)
ONE_BUCKET = Ceiling(ALL_CLASSES, (f"bucket-{canary('restricted')}",))
ANOTHER_BUCKET = Ceiling(ALL_CLASSES, (f"bucket-{canary('open_commercial')}",))


def as_made(_: Made) -> None:
    """Leave the key as it is."""


def expired(made: Made) -> None:
    long_ago = timezone.now() - timedelta(days=2)
    ApiKey.objects.filter(pk=made.key.pk).update(created_at=long_ago, expires_at=long_ago + timedelta(days=1))


def revoked(made: Made) -> None:
    actions.revoke(key=made.key, by=None)


def closed(made: Made) -> None:
    User.objects.filter(pk=made.key.owner_id).update(is_active=False)


@dataclass(frozen=True)
class Kind:
    """A kind of key: whose it is, what it allows, and what became of it."""

    owner: str = "librarian"
    ceiling: Ceiling = EVERYTHING
    permissions: Sequence[Permission] = ALL_PERMISSIONS
    fate: Callable[[Made], None] = as_made

    @property
    def counts(self) -> bool:
        return self.fate is as_made

    def shown(self) -> list[str]:
        """Return the cases whose documents the key may see."""
        return [
            case
            for case in allowed(self.owner)
            if self.counts and self.ceiling.covers(CASES[case].license_class, f"bucket-{canary(case)}")
        ]


KINDS = {
    "all that a librarian may": Kind(),
    "all that an asker may": Kind("asker"),
    "all that a branch may": Kind("branch"),
    "public, of a librarian": Kind(ceiling=PUBLIC),
    "open, of a librarian": Kind(ceiling=OPEN),
    "open, of who sees the public": Kind("narrow", OPEN),
    "one bucket, of a librarian": Kind(ceiling=ONE_BUCKET),
    "one bucket, of an asker": Kind("asker", ANOTHER_BUCKET),
    "nothing, of a librarian": Kind(ceiling=NOTHING),
    "of nobody in a role": Kind("without_role"),
    **{f"only {one}": Kind(permissions=[one]) for one in Permission},
    "no permission": Kind(permissions=()),
    "expired": Kind(fate=expired),
    "revoked": Kind(fate=revoked),
    "of a closed account": Kind("asker", fate=closed),
}
# One of each sort with every run of the tests.
QUICK = ("public, of a librarian", "one bucket, of an asker", "only retrieval:query", "revoked")
# By name of the route: what a key has to allow, by method.
NEEDED = {
    "api_documents": Permission.READ, "api_document": Permission.READ, "api_chunk": Permission.READ,
    "api_sources": Permission.READ, "api_entities": Permission.READ, "api_status": Permission.READ,
    "api_manifest": Permission.READ, "api_run": Permission.READ, "api_query": Permission.QUERY,
    "api_answer": Permission.ANSWER, "api_ingest": Permission.WRITE,
}  # fmt: skip
OPEN_TO_ALL = {"api_health", "api_schema", "api_docs", "api_nothing"}


def client_with(world: World, kind: Kind) -> Client:
    owner = world.people[kind.owner]
    assert owner is not None
    made = make_key(owner, permissions=kind.permissions, ceiling=kind.ceiling)
    kind.fate(made)
    return Client(raise_request_exception=False, headers=bearer(made.secret.reveal()))


def api_calls(world: World) -> dict[str, list[routes.Call]]:
    return {name: calls for name, calls in routes.calls(world).items() if name.startswith("api_")}


def needed(name: str, call: routes.Call) -> Permission:
    if name == "api_notes":
        return Permission.READ if call.method == "get" else Permission.WRITE
    return NEEDED[name]


@pytest.mark.parametrize(
    "names", [QUICK, pytest.param(tuple(name for name in KINDS if name not in QUICK), marks=pytest.mark.long)]
)
def test_no_key_is_told_a_word_beyond_what_owner_and_key_may_see(
    world: World, names: tuple[str, ...]
) -> None:
    for name in names:
        sweep(world, name)


def sweep(world: World, name: str) -> None:
    kind = KINDS[name]
    client = client_with(world, kind)
    hidden = [canary(case) for case in CASES if case not in kind.shown()]

    for route, calls in api_calls(world).items():
        for call in calls:
            response = ask(client, call)
            text = seen(response)
            leaked = [word for word in hidden if word in text and word not in str(call)]
            assert not leaked, f"{name} read {leaked} at {call}"
            assert response.status_code < 500, call
            if route in OPEN_TO_ALL:
                continue
            if not kind.counts:
                assert response.status_code == 401, call
            elif needed(route, call) not in kind.permissions:
                assert response.status_code == 403, call


@pytest.mark.parametrize(
    "name", ["all that a librarian may", "open, of a librarian", "one bucket, of a librarian"]
)
def test_the_sweep_sees_what_may_be_seen(world: World, name: str) -> None:
    kind = KINDS[name]
    client = client_with(world, kind)
    shown = [case for case in kind.shown() if case in READABLE]

    for route in ("api_documents", "api_document", "api_chunk", "api_sources", "api_entities", "api_query"):
        text = "".join(seen(ask(client, call)) for call in routes.calls(world)[route])
        assert shown
        assert all(canary(case) in text for case in shown), route


@pytest.mark.parametrize(
    "name",
    ["public, of a librarian", *(pytest.param(name, marks=pytest.mark.long) for name in (
        "open, of a librarian", "one bucket, of a librarian", "open, of who sees the public"))],
)  # fmt: skip
def test_the_api_is_the_same_without_what_its_key_may_not_see(world: World, name: str) -> None:
    kind = KINDS[name]
    client = client_with(world, kind)
    hidden = [row.pk for case, row in world.documents.items() if case not in kind.shown()]
    calls = [call for name, some in api_calls(world).items() for call in some if is_reading(name, call)]
    known = {str(row.pk) for row in world.documents.values()}
    known |= {str(row.public_id) for row in world.passages.values()}

    told = []
    for _ in range(2):
        told.append([masked(content_of(ask(client, call)).decode(), known) for call in calls])
        Document.objects.filter(pk__in=hidden).delete()

    assert len(hidden) > 2
    assert [one for one, other in zip(*told, strict=True) if one != other] == []


def is_reading(name: str, call: routes.Call) -> bool:
    return call.method == "get" or name == "api_query"


def test_a_key_of_nobody_special_sees_its_owners_notes_without_what_is_hidden(world: World) -> None:
    client = Client(headers=bearer(api_rows.narrow_key_of(world.people["librarian"])))  # type: ignore[arg-type]

    notes = client.get("/api/v1/notes", {"whose": "mine"}).json()["items"]

    assert notes
    available = [source["title"] for note in notes for source in note["sources"] if source["available"]]
    assert set(available) == {f"Biochar and {canary('public')}"}
