"""The one outbound client against a server that misbehaves, and against names that lead inside."""

import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from corpus.gateways import http
from corpus.gateways.http import ContactMissing, Outbound, OutboundError
from corpus.gateways.http_addresses import BadAddress, is_listed, is_public, parse, require_public
from corpus.gateways.pace import Pace, retry_after
from tests.loopback.crossref_server import CrossrefServer, Fault

JSON = ("application/json",)


@pytest.fixture(scope="module")
def server() -> Iterator[CrossrefServer]:
    with CrossrefServer() as running:
        yield running


def fetch(
    server: CrossrefServer, path: str, *, listed: bool = True, deadline: float = 5.0, most: int = 10_000
):
    hosts = [server.host] if listed else []
    with Outbound(contact="a@b.example", listed=hosts, deadline=deadline, pace=Pace()) as outbound:
        return outbound.get(f"{server.base_url}{path}", accept=JSON, most_bytes=most)


def refusal(server: CrossrefServer, path: str, **how) -> str:
    with pytest.raises(OutboundError) as raised:
        fetch(server, path, **how)
    return raised.value.code


INSIDE = """
127.0.0.1 127.255.255.254 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 169.254.0.1
100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250
240.0.0.1 255.255.255.255 192.88.99.1 ::1 :: ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe
fe80::1 fe80::1%eth0 fc00::1 fd12:3456::1 fec0::1 ff02::1 ff0e::1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::1
2002:7f00:1:: 2002:a00:1::1 2001::1 2001:db8::1 100::1 localhost 127.1 2130706433
""".split()
PUBLIC = "1.1.1.1 8.8.8.8 93.184.216.34 2606:4700:4700::1111 2a00:1450:4001:81b::200e ::ffff:8.8.8.8".split()


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_that_leads_inside_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_public(address: str) -> None:
    assert is_public(address)


REFUSED = [
    "http://example.org/", "https://example.org:8443/", "https://127.0.0.1/", "https://2130706433/",
    "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/", "https://0/", "https://0x7f.1/",
    "https://[::1]/", "https://[fe80::1%25eth0]/", "https://localhost/", "https://localhost./",
    "https://LOCALHOST/", "https://example.org./", "https://user@example.org/", "https://user:pw@example.org/",
    "https://example.org\\@127.0.0.1/", "https://127.0.0.1\\@example.org/", "https://example.org /",
    "https://exa\tmple.org/", "https://example.org/\r\nHost: evil", "ftp://example.org/", "file:///etc/passwd",
    "//example.org/", "https:///path", "https://", "https://exämple.org/", "https://①②⑦.0.0.1/",
    "https://-a.example.org/", "https://a_b.example.org/", "https://example.org:99999/", "gopher://x/",
    "https://" + "a" * 3000 + ".org/", "data:text/html,x", "javascript:alert(1)", "https://1.2.3.4.5/",
    "https://example.123/", "https://127。0。0。1/", "https://a..org/",
]  # fmt: skip


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_is_no_plain_public_one_is_refused(address: str) -> None:
    with pytest.raises(BadAddress):
        require_public(parse(address))


@pytest.mark.parametrize(
    "address",
    ["https://api.crossref.org/works/10.1%2Fa", "https://EXAMPLE.org", "https://xn--bcher-kva.example/"],
)
def test_a_plain_public_address_is_allowed(address: str) -> None:
    require_public(parse(address))


def test_a_listed_host_is_listed_with_its_port_only() -> None:
    assert is_listed(parse("http://mirror.lab/x"), ["mirror.lab"])
    assert is_listed(parse("http://mirror.lab:8080/"), ["mirror.lab:8080"])
    assert not is_listed(parse("http://mirror.lab:8080/"), ["mirror.lab"])
    assert not is_listed(parse("http://mirror.lab.evil.example/"), ["mirror.lab"])


def test_a_fetch_says_who_asks_and_takes_no_cookies_along(server: CrossrefServer) -> None:
    server.pages["/cookie"] = Fault(body=b"{}", headers={"Set-Cookie": "a=b"})
    with Outbound(contact="a@b.example", listed=[server.host], pace=Pace()) as outbound:
        for _ in range(2):
            fetched = outbound.get(f"{server.base_url}/cookie", accept=JSON, most_bytes=100)

    sent = server.seen[-1].headers
    assert (fetched.status, fetched.body, fetched.media_type) == (200, b"{}", "application/json")
    assert sent["user-agent"].startswith("sci-rag/")
    assert sent["user-agent"].endswith("(mailto:a@b.example)")
    assert sent["accept-encoding"] == "identity"
    assert not {"cookie", "authorization"} & set(sent)


def test_a_private_host_nobody_listed_is_never_connected_to(server: CrossrefServer) -> None:
    before = len(server.seen)

    assert refusal(server, "/x", listed=False) == "bad_address"
    assert len(server.seen) == before


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["93.184.216.34", "127.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["169.254.169.254"],
    ],
)
def test_a_public_name_that_leads_inside_is_not_connected_to(trap, answers: list[str]) -> None:
    _, caught = trap
    with (
        Outbound(contact="a@b.example", listed=[], look_up=lambda *_: answers, pace=Pace()) as outbound,
        pytest.raises(OutboundError, match="forbidden_address"),
    ):
        outbound.get("https://rebinding.example/", accept=JSON, most_bytes=10)

    time.sleep(0.1)
    assert caught == []


def test_a_name_is_looked_up_once_and_the_address_that_was_checked_is_used(server: CrossrefServer) -> None:
    host, port = server.host.split(":")
    asked = []

    def rebinding(name: str, _port: int) -> list[str]:
        asked.append(name)
        return [host] if len(asked) == 1 else ["10.255.255.1"]

    server.pages["/once"] = Fault(body=b"{}")
    listed = [f"mirror.example:{port}"]
    with Outbound(contact="a@b.example", listed=listed, look_up=rebinding, pace=Pace()) as outbound:
        fetched = outbound.get(f"http://mirror.example:{port}/once", accept=JSON, most_bytes=10)

    assert (fetched.status, asked) == (200, ["mirror.example"])
    assert server.seen[-1].headers["host"] == f"mirror.example:{port}"


def test_a_name_without_an_address_is_unreachable() -> None:
    def nothing(*_: object) -> list[str]:
        raise socket.gaierror

    for look_up in (nothing, lambda *_: []):
        with (
            Outbound(contact="a@b.example", listed=[], look_up=look_up, pace=Pace()) as outbound,
            pytest.raises(OutboundError, match="unreachable"),
        ):
            outbound.get("https://nowhere.example/", accept=JSON, most_bytes=10)


def test_a_redirect_is_followed_by_hand(server: CrossrefServer) -> None:
    server.pages |= {"/from": Fault(302, b"", {"Location": "/to"}), "/to": Fault(body=b"{}")}

    assert fetch(server, "/from").url == f"{server.base_url}/to"


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data", "http://127.0.0.1:1/", "https://127.0.0.1/", "file:///etc/passwd",
        "//localhost/", "https://example.org/", "http://example.org/", "http://[::1]/", "gopher://example.org/",
        "http://2130706433/", "https://user@example.org/",
    ],
)  # fmt: skip
def test_a_redirect_to_where_one_may_not_go_is_refused(server: CrossrefServer, location: str) -> None:
    server.pages["/away"] = Fault(302, b"", {"Location": location})

    assert refusal(server, "/away") == "bad_address"


def test_redirects_come_to_an_end(server: CrossrefServer) -> None:
    server.pages["/loop"] = Fault(301, b"", {"Location": "/loop"})
    before = len(server.seen)

    assert refusal(server, "/loop") == "too_many_redirects"
    assert len(server.seen) - before == 4


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(body=b"x" * 20_000), "too_large"),
        (Fault(body=b"<p>", headers={"Content-Type": "text/html"}), "wrong_type"),
        (Fault(body=b"{}", headers={"Content-Encoding": "gzip"}), "wrong_type"),
        (Fault(body=b'{"a": 1}', cut=3), "truncated"),
        (Fault(body=b"{}", wait=30), "timeout"),
        (Fault(body=b"x" * 900, drip=0.1), "timeout"),
    ],
)
def test_what_is_no_whole_answer_in_time_and_bounds_is_an_error(
    server: CrossrefServer, fault: Fault, code: str
) -> None:
    server.pages["/fault"] = fault
    started = time.monotonic()

    assert refusal(server, "/fault", deadline=0.5) == code
    assert time.monotonic() - started < 2


def test_headers_that_drip_end_with_the_time() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    stopping = threading.Event()

    def drip() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for _ in range(100):
                if stopping.wait(0.1):
                    return
                try:
                    connection.sendall(b"X")
                except OSError:
                    return

    thread = threading.Thread(target=drip)
    thread.start()
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    with (
        Outbound(contact="a@b.example", listed=[host], deadline=0.5, pace=Pace()) as outbound,
        pytest.raises(OutboundError, match="timeout"),
    ):
        outbound.get(f"http://{host}/", accept=JSON, most_bytes=10)
    stopping.set()
    thread.join()
    listening.close()


def test_a_port_nobody_listens_at_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        host = f"127.0.0.1:{gone.getsockname()[1]}"
    with (
        Outbound(contact="a@b.example", listed=[host], pace=Pace()) as outbound,
        pytest.raises(OutboundError, match="unreachable"),
    ):
        outbound.get(f"http://{host}/", accept=JSON, most_bytes=10)


def test_an_error_page_is_an_answer_whatever_its_type_and_size(server: CrossrefServer) -> None:
    server.pages["/error"] = Fault(503, b"x" * 20_000, {"Content-Type": "text/html", "Retry-After": "7"})

    fetched = fetch(server, "/error")

    assert (fetched.status, fetched.wait, len(fetched.body)) == (503, 7.0, 10_000)


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0), ("120", 120.0), (" 5 ", 5.0), ("9" * 30, float("inf")),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60.0),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0.0), ("", None), (None, None),
        ("soon", None), ("-5", None), ("1.5", None),
        ("nan", None), ("٣", None), ("Thu, 99 Foo 2026", None),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_as_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, now=NOW) == seconds


def test_a_host_is_asked_no_faster_than_it_allows() -> None:
    pace = Pace()
    pace.learn("a", {"x-rate-limit-limit": "10", "x-rate-limit-interval": "1s"})
    started = time.monotonic()
    for _ in range(4):
        pace.wait("a")

    assert 0.28 < time.monotonic() - started < 0.6


@pytest.mark.parametrize("limit", ["0", "-1", "many", "", "5s"])
def test_a_limit_that_makes_no_sense_changes_nothing(limit: str) -> None:
    pace = Pace()
    pace.learn("a", {"x-rate-limit-limit": limit, "x-rate-limit-interval": "1s"})
    started = time.monotonic()
    pace.wait("a")
    pace.wait("a")

    assert time.monotonic() - started > 0.15


@pytest.mark.parametrize(
    "address", ["", "library", "a@b", "a b@c.example", "a@b.example\r\nX: y", "ä@b.example"]
)
def test_without_somebody_to_write_to_nothing_is_asked(settings, address: str) -> None:
    settings.SCI_RAG_CONTACT_EMAIL = address

    with pytest.raises(ContactMissing, match="SCI_RAG_CONTACT_EMAIL"):
        http.contact()
