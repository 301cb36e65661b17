"""The site over a corpus, and over the same corpus without what its reader may not see: no difference.

Everything a reader can reach is read, by the addresses of the table and by following every link from the
front page. Then the ineligible documents are deleted and all of it is read again.
"""

from __future__ import annotations

import re
from collections import deque
from difflib import unified_diff
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from click.testing import CliRunner
from django.test import Client

from answers.models import Answer
from corpus.accounts.sessions import PersonSession
from corpus.models import Document
from sci_rag_site.cli import main
from tests.leaks import api_rows, routes
from tests.leaks.asking import ask, client_of, content_of, headers_of
from tests.leaks.world import World, allowed

pytestmark = pytest.mark.django_db(transaction=True)

# What a request makes anew each time, or reads from the clock.
RANDOM = (
    (re.compile(r'(name="csrfmiddlewaretoken" value="|csrftoken=|"X-CSRFToken": ?")\w+'), r"\1"),
    (re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"), "an-id"),
    (re.compile(r'"(request_id|exported_at)": ?"[^"]*"'), r'"\1"'),
    (re.compile(r'"(milliseconds|total|retrieval|generation|first_text)": ?\d+\.\d+'), r'"\1"'),
    # A page is longer when a duration has one more digit.
    (re.compile(r"'Content-Length', '\d+'"), "a length"),
    (re.compile(r'"timings": ?\{[^}]*\}'), "a while"),
    (re.compile(r"\b[\d.]+\s(ms|s)\b"), "a while"),
    # The column of milliseconds in the table of stages.
    (re.compile(r"(<td>\d+</td>)<td>\d+</td>(<td>[^<]*</td></tr>)"), r"\1\2"),
    (re.compile(r"nonce-[\w+/=-]+|\b20\d\d-\d\d-\d\d[T ][\d:.]+(\+00:00|Z)?"), "now"),
    (re.compile(r'"free": [\d.]+'), "room"),
    (re.compile(r"\b\d\d:\d\d(:\d\d)?\b|\d+\xa0(minute|second)s?"), "now"),
)
# They change what is there for the second reading; what they answer is in the table.
CHANGING = {"logout", "login", "notices_read"}


def masked(text: str, known: set[str]) -> str:
    """Return the text without what is random in it. Ids of rows that both corpora hold stay."""
    for pattern, instead in RANDOM:
        if instead == "an-id":
            text = pattern.sub(lambda found: found[0] if found[0] in known else "an-id", text)
        else:
            text = pattern.sub(instead, text)
    return text


class Reading:
    """All that one reader can reach: each request with status, headers and body."""

    def __init__(self, world: World, actor: str) -> None:
        self.client: Client = client_of(world, actor)
        self.found: dict[str, tuple[int, str, str]] = {}
        self._waiting: deque[routes.Call] = deque([routes.Call("/")])
        self._known = {str(row.pk) for row in world.documents.values()}
        self._known |= {str(passage.public_id) for passage in world.passages.values()}
        self._known |= {str(answer.pk) for answer in world.answers.values()}

    def all(self, calls: list[routes.Call]) -> dict[str, tuple[int, str, str]]:
        self._waiting.extend(calls)
        while self._waiting:
            self._read(self._waiting.popleft())
        return self.found

    def _read(self, call: routes.Call) -> None:
        asked = f"{call.method} {call.path} {sorted(call.data.items())} {call.headers} {call.body}"
        name = masked(asked, self._known)
        if name in self.found:
            return
        response = ask(self.client, call)
        body = content_of(response).decode(errors="replace")
        sent_on = "".join(url for url, _ in response.redirect_chain)  # type: ignore[attr-defined]
        headers = f"{sorted(headers_of(response).items())} {sent_on}"
        kept = (response.status_code, masked(headers, self._known), masked(body, self._known))
        self.found[name] = kept
        if "html" in response.headers.get("Content-Type", ""):
            self._waiting.extend(links(body, call.path))


def links(body: str, path: str) -> list[routes.Call]:
    """Return the site's own addresses that a page leads to, by link or picture."""
    found = []
    for _, address in re.findall(r'\b(href|src|hx-get|sse-connect)="([^"#][^"]*)"', body):
        target = urlsplit(urljoin(path, unescape(address)))
        if target.netloc or target.path.startswith(("/static/", "/sign-out/", "/admin/")):
            continue
        found.append(routes.Call(target.path, data=dict(parse_qsl(target.query, keep_blank_values=True))))
    return found


def reading(world: World, actor: str) -> dict[str, tuple[int, str, str]]:
    # A reader sees the sessions they have: the one of this reading and no other.
    PersonSession.objects.all().delete()
    reader = Reading(world, actor)
    calls = [
        call
        for name, of_route in routes.calls(world).items()
        if name not in CHANGING
        for call in of_route
        if call.method == "get" or name in {"ask", "answer_stream", "scope", *api_rows.ASKING}
    ]
    try:
        return reader.all(calls)
    finally:
        Answer.objects.exclude(pk__in=[answer.pk for answer in world.answers.values()]).delete()


def differences(
    one: dict[str, tuple[int, str, str]], other: dict[str, tuple[int, str, str]]
) -> list[tuple[str, list[str]]]:
    """Return each request that was answered differently, with the lines that differ."""
    found = []
    for name, (status, headers, body) in one.items():
        also = other[name]
        lines = unified_diff(
            [str(status), headers, *body.split("\n")], [str(also[0]), also[1], *also[2].split("\n")], n=0
        )
        if told := [line for line in lines if not line.startswith(("---", "+++", "@@"))]:
            found.append((name, told))
    return found


def without_hidden(world: World, actor: str) -> None:
    Document.objects.filter(pk__in=[row.pk for row in world.hidden_documents(actor)]).delete()


@pytest.mark.parametrize(
    "actor",
    ["narrow", pytest.param("branch", marks=pytest.mark.long), pytest.param("asker", marks=pytest.mark.long)],
)
def test_the_site_is_the_same_without_what_its_reader_may_not_see(world: World, actor: str) -> None:
    # What exists only in the memory of the process, such as the question's vector, is there both times.
    reading(world, actor)

    with_all = reading(world, actor)
    without_hidden(world, actor)
    without = reading(world, actor)

    assert with_all.keys() == without.keys()
    assert differences(with_all, without) == []
    assert len(with_all) > 60
    assert sum(status == 200 for status, _, _ in with_all.values()) > 40


def test_commands_say_the_same_without_what_their_scope_leaves_out(world: World, tmp_path: Path) -> None:
    said = []
    for number in range(2):
        target = tmp_path / f"export-{number}"
        said.append(
            [
                masked(run(*command), set())
                for command in (
                    ("retrieve", "What does biochar hold?", "--license", "public", "--json"),
                    ("retrieve", "What does biochar hold?", "--license", "public", "--explain-routing"),
                    ("ask", "What does biochar hold?", "--license", "public", "--json"),
                    ("ask", "What does biochar hold?", "--license", "public"),
                    ("corpus", "fingerprint", "--license", "public"),
                    ("graph", "show", "biochar", "--license", "public", "--json"),
                    ("graph", "show", "water", "--license", "public"),
                    ("corpus", "export", str(target), "--license", "public", "--json"),
                )
            ]
            + [
                masked(path.read_text(), set())
                for path in sorted(target.iterdir())
                if path.name != "manifest.json"
            ]
        )
        without_hidden(world, "narrow")

    assert [
        one for one, other in zip(*said, strict=True) if one.replace("export-0", "export-1") != other
    ] == []


def run(*command: str) -> str:
    outcome = CliRunner().invoke(main, command)
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


def test_a_reading_reaches_what_may_be_read(world: World) -> None:
    """The control: a crawl that reached nothing would be equal to itself."""
    found = " ".join(reading(world, "narrow"))

    assert allowed("narrow") == ["public"]
    assert f"/documents/{world.documents['public'].pk}/" in found
    assert f"/passages/{world.passages['public'].public_id}/" in found
    assert all(f"/{name}/" in found for name in ("answers", "documents", "notices"))
