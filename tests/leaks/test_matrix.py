"""The table of who may do what: exact statuses, refusals that tell nothing apart and change nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

import pytest
from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from tests.contents import contents_but
from tests.leaks import matrix, routes
from tests.leaks.asking import content_of, headers_of
from tests.leaks.matrix import ANY, ASKING, HIDDEN, MISSING, Cell
from tests.leaks.world import World

DENIALS = {401, 403, 404, 405}
UNSAFE = {"post", "put", "patch", "delete"}
# What requests change whoever makes them: sessions, counts of use, and what is on record about refusals.
VOLATILE = {
    "corpus_personsession", "corpus_keyuse", "corpus_signincount", "corpus_auditevent", "corpus_auditlink",
    "corpus_audithead", "corpus_apikey", "django_session", "auth_user",
}  # fmt: skip
# Not taken back: whoever signs out signs in anew.
KEPT = {*ASKING, "logout"}
# Who may do everything and see next to nothing, and a program that may ask alone.
SAMPLE = {"curator", "only query"}


def test_every_route_has_its_rows() -> None:
    assert {row.partition(" ")[0] for row in matrix.expected()} == set(routes.names())


def test_the_table_is_as_large_as_it_was_meant_to_be() -> None:
    assert sum(len(found) for row in matrix.expected().values() for found in row.values()) >= 3_000


@pytest.mark.django_db(transaction=True)
def test_a_sample_of_callers_gets_what_the_table_says(world: World) -> None:
    def chosen(cell: Cell) -> bool:
        takes = ("get", "post") if cell.what == HIDDEN else ("get",)
        return cell.caller in SAMPLE and cell.method in takes

    assert swept(world, chosen) > 250


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_every_caller_gets_what_the_table_says(world: World) -> None:
    assert swept(world, lambda _: True) >= 3_000


def swept(world: World, chosen: Callable[[Cell], bool]) -> int:
    """Make the chosen calls and compare them with the table; return how many there were."""
    table, made = matrix.expected(), Calls(world)
    cells = [*placed(matrix.people_cells(world)), *placed(matrix.key_cells(world))]
    wanted = [(cell, status_of(table, cell, place)) for cell, place in cells if chosen(cell)]
    denied = [(cell, status) for cell, status in wanted if status in DENIALS]

    made.begin({cell.caller for cell, _ in wanted})
    clean = contents_but(VOLATILE)
    for cell, status in denied:
        made.call(cell, status)
    made.compare()
    assert contents_but(VOLATILE) == clean, "a refusal changed a table"
    for cell, status in wanted:
        if status not in DENIALS:
            made.call(cell, status, undone=cell.method in UNSAFE and cell.route not in KEPT)
    print(f"{len(wanted):,} cells, {len(made.wrong):,} mismatches")  # noqa: T201 - what the long run reports
    assert made.rows_to_write() == ""
    return len(wanted)


def placed(cells: Iterable[Cell]) -> Iterator[tuple[Cell, int]]:
    """Yield each cell with its place in its row: the how manieth caller it is that has such an object."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for cell in cells:
        yield cell, seen[cell.row, cell.method]
        seen[cell.row, cell.method] += 1


def status_of(table: dict[str, dict[str, list[int]]], cell: Cell, place: int) -> int:
    row = table.get(cell.row, {}).get(cell.method, [])
    assert place < len(row), f"matrix.yaml says nothing of {cell.method} {cell.row} for {cell.caller}"
    return row[place]


class Calls:
    """The calls that were made, by clients of their callers."""

    def __init__(self, world: World) -> None:
        self.wrong: list[tuple[Cell, int, int]] = []
        self._world = world
        self._clients: dict[str, Client] = {}
        self._refusals: dict[tuple[str, str, str], dict[str, HttpResponse]] = defaultdict(dict)

    def call(self, cell: Cell, status: int, *, undone: bool = False) -> None:
        """Make the call; `undone` takes back what it does."""
        if undone:
            with transaction.atomic():
                response = self._made(cell)
                transaction.set_rollback(True)
        else:
            response = self._made(cell)
        if status not in (ANY, response.status_code):
            self.wrong.append((cell, status, response.status_code))
        if cell.what in (HIDDEN, MISSING) and response.status_code in DENIALS:
            self._refusals[cell.route, cell.caller, cell.method][cell.what] = response
        else:
            response.close()

    def compare(self) -> None:
        """Compare refusals of what is kept back with those of what is not there, byte for byte."""
        for told, both in self._refusals.items():
            if len(both) == 2:
                hidden, missing = both[HIDDEN], both[MISSING]
                assert hidden.status_code == missing.status_code, told
                assert content_of(hidden) == content_of(missing), told
                assert headers_of(hidden) == headers_of(missing), told

    def rows_to_write(self) -> str:
        """Return what is other than the table says, for whoever changed it on purpose."""
        return "\n".join(
            f"{cell.row} {cell.method} by {cell.caller}: {got}, not {status}"
            for cell, status, got in self.wrong[:40]
        )

    def begin(self, callers: Iterable[str]) -> None:
        """Have the callers sign in, or be given their keys."""
        for caller in sorted(callers):
            of = matrix.program_of if caller in matrix.KEYS else matrix.client_of
            self._clients[caller] = of(self._world, caller)

    def _made(self, cell: Cell) -> HttpResponse:
        response: HttpResponse = getattr(self._clients[cell.caller], cell.method)(cell.path)
        if cell.route == "logout" and cell.method == "post":
            self.begin([cell.caller])
        return response
