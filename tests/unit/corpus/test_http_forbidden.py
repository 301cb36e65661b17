"""Addresses, names, redirects and bodies that try to lead inside: nobody there is ever connected to.

Every connection that this process opens is noted, and a port listens for those that arrive.
"""

from __future__ import annotations

import itertools
import sys
import time
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from corpus.gateways.exchanging import Unhurried
from corpus.gateways.http import Outbound, OutboundError
from tests.loopback.crossref_server import CrossrefServer, Fault
from tests.unit.corpus.test_http import INSIDE

JSON = ("application/json",)
FEWEST = 150
PUBLIC = "93.184.216.34"
SECONDS = 0.4

# `{port}` is that of the trap.
URLS = (
    "http://127.0.0.1:{port}/", "https://127.0.0.1:{port}/", "http://localhost:{port}/", "https://localhost/",
    "https://LocalHost/", "https://localhost./", "https://localhost.localdomain/x", "https://127.0.0.1./",
    "https://127.1/", "https://127.0.1/", "https://2130706433/", "https://0x7f000001/", "https://0X7F.0.0.1/",
    "https://017700000001/", "https://0177.0.0.01/", "https://0/", "https://0.0.0.0/", "https://0x7f.1/",
    "https://[::1]/", "https://[::1]:{port}/", "https://[::]/", "https://[::ffff:127.0.0.1]/",
    "https://[0:0:0:0:0:ffff:7f00:1]/", "https://[::ffff:7f00:1]:{port}/", "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://[fec0::1]/",
    "https://169.254.169.254/latest/meta-data/", "http://169.254.169.254/", "https://[fd00:ec2::254]/",
    "https://2852039166/", "https://0xa9fea9fe/", "https://metadata/", "https://10.0.0.1/",
    "https://192.168.0.1/", "https://172.16.0.1/", "https://100.64.0.1/",
    "https://user@127.0.0.1:{port}/", "https://example.org@127.0.0.1:{port}/",
    "https://127.0.0.1:{port}@example.org/", "https://example.org:443@127.0.0.1:{port}/",
    "https://example.org\\@127.0.0.1:{port}/", "https://127.0.0.1:{port}\\@example.org/",
    "https://127.0.0.1:{port}#@example.org/", "https://127.0.0.1:{port}?@example.org/",
    "https://127.0.0.1:{port}%2f@example.org/", "https://127.0.0.1%00.example.org/",
    "https://127。0。0。1/", "https://①②⑦.⓪.⓪.①/", "https://１２７.0.0.1/", "https://ⓛocalhost/",
    "https://exam\u200bple.org/", "https://example.org\u3002evil/", "https://example.org:{port}/",
    "https://example.org:22/", "https://example.org:0/", "https://example.org:-1/",
    "https://example.org:99999/", "http://example.org/", "http:///127.0.0.1:{port}/",
    "//127.0.0.1:{port}/", "https:/127.0.0.1:{port}/", "https:127.0.0.1:{port}/", "127.0.0.1:{port}",
    " https://127.0.0.1:{port}/", "https://127.0.0.1:{port}/ ", "https://127.0.0.1\t:{port}/",
    "https://127.0.0.1:{port}/\r\nHost: example.org", "ftp://127.0.0.1:{port}/", "file:///etc/passwd",
    "gopher://127.0.0.1:{port}/_x", "dict://127.0.0.1:{port}/x", "unix:///var/run/docker.sock",
    "data:application/json,{{}}", "javascript:fetch('http://127.0.0.1:{port}/')", "jar:http://127.0.0.1/!/",
    "https://" + "a." * 1_100 + "example.org/", "https://a..example.org/", "https://.example.org/", "https://",
)  # fmt: skip
MIXED = tuple(
    (PUBLIC, inside) if first else (inside, PUBLIC)
    for inside in ("127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "64:ff9b::7f00:1", "::ffff:127.0.0.1")
    for first in (True, False)
)
LOCATIONS = (
    "http://127.0.0.1:{port}/", "https://127.0.0.1:{port}/", "//127.0.0.1:{port}/", "//localhost:{port}/",
    "http://localhost:{port}/", "http://[::1]:{port}/", "http://169.254.169.254/latest/meta-data/",
    "http://2130706433:{port}/", "http://0x7f000001:{port}/", "http://127.1:{port}/", "file:///etc/passwd",
    "ftp://127.0.0.1:{port}/", "gopher://127.0.0.1:{port}/", "https://example.org/", "http://example.org/",
    "https://user@127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@example.org/", "\\\\127.0.0.1:{port}\\x",
    "/\\127.0.0.1:{port}/", "http:127.0.0.1:{port}", "http:///127.0.0.1:{port}/", "data:application/json,1",
)  # fmt: skip
STATUSES = (301, 302, 303, 307, 308)
HTML = {"Content-Type": "text/html"}
GZIP = zlib.compress(bytes(5_000_000), 9, 31)
BODIES: tuple[tuple[str, Fault, str], ...] = (
    ("too large", Fault(body=b"x" * 20_000), "too_large"),
    ("larger than it says", Fault(body=b"[1]", headers={"Content-Length": "1"}), "any"),
    ("shorter than it says", Fault(body=b'{"a": 1}', cut=3), "truncated"),
    ("length negative", Fault(body=b"{}", headers={"Content-Length": "-5"}), "any"),
    ("length no number", Fault(body=b"{}", headers={"Content-Length": "two"}), "any"),
    ("length huge", Fault(body=b"{}", headers={"Content-Length": "9" * 30}), "any"),
    ("packed", Fault(body=GZIP, headers={"Content-Encoding": "gzip"}), "wrong_type"),
    ("packed twice", Fault(body=GZIP, headers={"Content-Encoding": "gzip, gzip"}), "wrong_type"),
    ("packed as deflate", Fault(body=GZIP, headers={"Content-Encoding": "deflate"}), "wrong_type"),
    ("packed as br", Fault(body=b"x", headers={"Content-Encoding": "br"}), "wrong_type"),
    ("packed as zstd", Fault(body=b"x", headers={"Content-Encoding": "zstd"}), "wrong_type"),
    ("packed as nonsense", Fault(body=b"x", headers={"Content-Encoding": "x-evil"}), "wrong_type"),
    ("packed without saying", Fault(body=GZIP[:9_000]), "none"),
    ("page", Fault(body=b"<p>", headers=HTML), "wrong_type"),
    ("type missing", Fault(body=b"{}", headers={"Content-Type": ""}), "wrong_type"),
    ("type twice", Fault(body=b"{}", headers={"Content-Type": "application/json, text/html"}), "wrong_type"),
    ("stall", Fault(body=b"{}", wait=5), "timeout"),
    ("drip", Fault(body=b"x" * 900, drip=0.05), "timeout"),
)
COUNT = len(URLS) + len(INSIDE) + len(MIXED) + len(LOCATIONS) + len(STATUSES) + len(BODIES)

_connected: list[Any] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    # Unix sockets belong to the database.
    if _connected is not None and event == "socket.connect" and isinstance(arguments[1], tuple):
        _connected.append(arguments[1][:2])


sys.addaudithook(_note)


@pytest.fixture
def connects() -> Iterator[list[Any]]:
    """Where this process opens connections to, this test long."""
    global _connected  # noqa: PLW0603 - an audit hook cannot be taken away again
    _connected = []
    yield _connected
    _connected = None


@pytest.fixture(scope="module")
def server() -> Iterator[CrossrefServer]:
    with CrossrefServer() as running:
        yield running


class Names:
    """What names lead to: the next answer of the cycle."""

    def __init__(self) -> None:
        self.answers: Iterator[list[str]] = itertools.repeat([PUBLIC])
        self.asked = 0

    def __call__(self, *_: object) -> list[str]:
        self.asked += 1
        return next(self.answers)


@pytest.fixture(scope="module")
def names() -> Names:
    return Names()


@pytest.fixture(scope="module")
def outbound(server: CrossrefServer, names: Names) -> Iterator[Outbound]:
    with Outbound(
        contact="a@b.example", listed=[server.host], deadline=SECONDS, pace=Unhurried(), look_up=names
    ) as outbound:
        yield outbound


def code_of(outbound: Outbound, address: str) -> str:
    try:
        outbound.get(address, accept=JSON, most_bytes=10_000)
    except OutboundError as error:
        return error.code
    return "none"


def test_there_are_a_hundred_and_fifty_cases() -> None:
    assert len(set(URLS)) == len(URLS) >= 60
    assert len(INSIDE) >= 45
    assert COUNT >= FEWEST


def test_the_notes_see_a_connection(
    outbound: Outbound, names: Names, server: CrossrefServer, connects: list[Any]
) -> None:
    host, port = server.host.split(":")
    names.answers = itertools.repeat([host])
    server.pages["/seen"] = Fault(body=b"{}")

    assert code_of(outbound, f"http://{server.host}/seen") == "none"
    assert connects == [(host, int(port))]


@pytest.mark.parametrize("url", URLS, ids=range(len(URLS)))
def test_an_address_that_leads_inside_is_not_connected_to(
    outbound: Outbound, names: Names, trap: tuple[int, list[str]], connects: list[Any], url: str
) -> None:
    port, caught = trap
    names.answers = itertools.repeat(["127.0.0.1"])

    assert code_of(outbound, url.format(port=port)) in {"bad_address", "forbidden_address"}
    assert (connects, caught) == ([], [])


@pytest.mark.parametrize("answers", [*((one,) for one in INSIDE), *MIXED], ids=",".join)
def test_a_name_with_one_address_that_leads_inside_is_not_connected_to(
    outbound: Outbound, names: Names, connects: list[Any], answers: tuple[str, ...]
) -> None:
    names.answers = itertools.repeat(list(answers))

    assert code_of(outbound, "https://rebinding.example/") == "forbidden_address"
    assert connects == []


def test_a_name_that_changes_is_looked_up_once_for_a_connection(
    outbound: Outbound, names: Names, server: CrossrefServer, connects: list[Any]
) -> None:
    names.answers = itertools.cycle([["127.0.0.1"], [PUBLIC]])
    names.asked = 0

    assert code_of(outbound, "https://rebinding.example/") == "forbidden_address"
    assert (names.asked, connects) == (1, [])


@pytest.mark.parametrize("location", LOCATIONS, ids=range(len(LOCATIONS)))
def test_a_redirect_that_leads_inside_is_not_followed(
    outbound: Outbound,
    names: Names,
    server: CrossrefServer,
    trap: tuple[int, list[str]],
    connects: list[Any],
    location: str,
) -> None:
    port, caught = trap
    names.answers = itertools.repeat([server.host.split(":")[0]])
    server.pages["/away"] = Fault(302, b"", {"Location": location.format(port=port)})

    # Some are read as a path of the host that was asked: "none" is its answer.
    assert code_of(outbound, f"http://{server.host}/away") in {"bad_address", "none"}
    assert {port for _, port in connects} <= {int(server.host.split(":")[1])}
    assert caught == []


@pytest.mark.parametrize("status", STATUSES)
def test_no_kind_of_redirect_is_followed_in_a_circle(
    outbound: Outbound, server: CrossrefServer, status: int
) -> None:
    server.pages["/round"] = Fault(status, b"", {"Location": "/round"})
    before = len(server.seen)

    assert code_of(outbound, f"http://{server.host}/round") == "too_many_redirects"
    assert len(server.seen) - before == 4


@pytest.mark.parametrize(("fault", "code"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES])
def test_a_body_that_lies_ends_in_time_and_bounds(
    outbound: Outbound, server: CrossrefServer, fault: Fault, code: str
) -> None:
    server.pages["/body"] = fault
    started = time.monotonic()

    found = code_of(outbound, f"http://{server.host}/body")

    assert found == code if code != "any" else found in {"none", "truncated", "unreachable", "wrong_type"}
    assert time.monotonic() - started < SECONDS + 0.6
