"""Who gets which status where: every route, every kind of caller, every method, and four kinds of objects.

The table itself is matrix.yaml. This module makes the calls; it expects nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus.keys import actions
from corpus.keys.models import ApiKey, KeyUse
from corpus.keys.permissions import ALL_PERMISSIONS, Permission
from corpus.rights import LicenseClass
from corpus.scope import EVERYTHING, Ceiling
from tests.factories.keys import bearer, make_key
from tests.leaks import routes
from tests.leaks.test_guessing import KEPT_BACK, by_id
from tests.leaks.world import CASES, World, allowed

TABLE = Path(__file__).with_name("matrix.yaml")
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
PEOPLE = (
    "anonymous", "without_role", "narrow", "branch", "asker", "expert", "curator", "librarian",
    "administrator",
)  # fmt: skip
KEYS = (
    "no key", "a session alone", "all of an asker", "all of a librarian", "public of a librarian",
    "only read", "only query", "only answer", "only write", "none", "expired", "revoked", "closed",
)  # fmt: skip
PUBLIC = Ceiling((LicenseClass.PUBLIC,), None)
# What reaches a model or the index runs in threads that would not see an open transaction.
ASKING = {"ask", "answer_stream", "api_query", "api_answer", "why"}
OWN, SEEN, HIDDEN, MISSING, NONE = "own", "seen", "hidden", "missing", "-"
ANY = 0
# A row that nobody has, the same in every process.
NOBODYS = uuid.UUID("00000000-0000-4000-8000-000000000000")


@dataclass(frozen=True)
class Cell:
    """One request: which row of the table it belongs to, whose it is and how it is made."""

    route: str
    what: str
    caller: str
    method: str
    path: str

    @property
    def row(self) -> str:
        return self.route if self.what == NONE else f"{self.route} {self.what}"


def expected() -> dict[str, dict[str, list[int]]]:
    """Return the table: by row and method, the statuses in the order of the callers."""
    told: dict[str, dict[str, str]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return {
        row: {method: statuses(words) for methods, words in by_methods.items() for method in methods.split()}
        for row, by_methods in told.items()
    }


def statuses(words: str | int) -> list[int]:
    """Return the statuses of a row; `404*3` is three of them, `any` one that depends on the machine."""
    found: list[int] = []
    for word in str(words).split():
        status, _, times = word.partition("*")
        found += [ANY if status == "any" else int(status)] * int(times or 1)
    return found


def written(found: list[int]) -> str:
    """Return statuses as the table has them."""
    runs = [(status, len(list(same))) for status, same in groupby(found)]
    return " ".join(f"{status}*{times}" if times > 1 else str(status) for status, times in runs)


def people_cells(world: World) -> Iterator[Cell]:
    """Yield every request of a person to a page."""
    named = {name: (part, rest) for name, part, rest in by_id()}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    calls = routes.calls(world)
    for name in sorted(name for name in set(routes.names()) if not name.startswith("api_")):
        for caller in PEOPLE:
            if name not in named:
                yield from _each(name, NONE, caller, calls[name][0].path)
                continue
            part, rest = named[name]
            if (part, caller) not in found:
                found[part, caller] = objects(world, part, caller)
            for what, row in found[part, caller].items():
                yield from _each(name, what, caller, reverse(name, kwargs={part: row, **rest}))


def key_cells(world: World) -> Iterator[Cell]:
    """Yield every request of a program to the API."""
    named = {name: part for name, part, _ in by_id()}
    calls = routes.calls(world)
    for name in sorted(name for name in set(routes.names()) if name.startswith("api_")):
        for caller in KEYS:
            if name not in named:
                yield from _each(name, NONE, caller, calls[name][0].path)
                continue
            for what, row in _of_keys(world, named[name], caller).items():
                yield from _each(name, what, caller, reverse(name, args=[row]))


def _each(name: str, what: str, caller: str, path: str) -> Iterator[Cell]:
    for method in METHODS:
        yield Cell(name, what, caller, method, path)


def objects(world: World, part: str, caller: str) -> dict[str, Any]:
    """Return one object of each kind that there is for somebody, by the kind."""
    person = "librarian" if caller == "administrator" else caller
    every = KEPT_BACK[part](world, "anonymous")
    hidden = KEPT_BACK[part](world, person)
    own = _own(world, part, person)
    seen = [row for row in every if row not in hidden and row not in own]
    found = {OWN: own, SEEN: seen, HIDDEN: hidden, MISSING: [NOBODYS]}
    return {what: rows[0] for what, rows in found.items() if rows}


def _own(world: World, part: str, caller: str) -> list[Any]:
    answer = world.answers.get(caller)
    if part == "note_id":
        return [note.pk for (owner, _), note in world.notes.items() if owner == caller]
    if answer is None:
        return []
    return {"answer_id": [answer.pk], "conversation_id": [answer.conversation_id]}.get(part, [])


def _of_keys(world: World, part: str, caller: str) -> dict[str, Any]:
    shown = allowed("asker" if caller == "all of an asker" else "librarian")
    if caller == "public of a librarian":
        shown = [case for case in shown if CASES[case].license_class is LicenseClass.PUBLIC]
    of = {
        "document_id": {case: row.pk for case, row in world.documents.items()},
        "passage_id": {case: row.public_id for case, row in world.passages.items()},
        "run_id": {"every": world.runs[0].pk},
    }[part]
    seen = [row for case, row in of.items() if case in shown]
    if part == "run_id":
        seen = [] if caller == "all of an asker" else list(of.values())
    hidden = [row for row in of.values() if row not in seen]
    found = {SEEN: seen, HIDDEN: hidden, MISSING: [NOBODYS]}
    return {what: rows[0] for what, rows in found.items() if rows}


def client_of(world: World, caller: str) -> Client:
    """Return the browser of a person."""
    client = Client(raise_request_exception=False)
    person = _administrator() if caller == "administrator" else world.people[caller]
    if person is not None:
        client.force_login(person)
    return client


def _administrator() -> User:
    person = User.objects.filter(username="administrator").first()
    if person is None:
        person = User.objects.create_user("administrator", is_staff=True)
        person.groups.add(Group.objects.get(name="administrator"))
    return person


def program_of(world: World, caller: str) -> Client:
    """Return a program with a key of this kind."""
    if caller == "no key":
        return Client(raise_request_exception=False)
    if caller == "a session alone":
        return client_of(world, "librarian")
    owner = world.people["asker" if caller in ("all of an asker", "closed") else "librarian"]
    assert owner is not None
    if caller == "closed":
        owner = User.objects.create_user("closed", is_active=True)
    only = {f"only {str(one).partition(':')[2]}": (one,) for one in Permission}
    made = make_key(
        owner,
        permissions=() if caller == "none" else only.get(caller, ALL_PERMISSIONS),
        ceiling=PUBLIC if caller.startswith("public") else EVERYTHING,
        requests_per_minute=1_000,
    )
    _met_its_fate(made.key, caller)
    return Client(raise_request_exception=False, headers=bearer(made.secret.reveal()))


def _met_its_fate(key: ApiKey, caller: str) -> None:
    if caller == "expired":
        then = timezone.now() - timedelta(days=2)
        ApiKey.objects.filter(pk=key.pk).update(created_at=then, expires_at=then + timedelta(days=1))
    elif caller == "revoked":
        actions.revoke(key=key, by=None)
    elif caller == "closed":
        User.objects.filter(pk=key.owner_id).update(is_active=False)


def forget_uses() -> None:
    """Let all keys begin anew."""
    KeyUse.objects.all().delete()
