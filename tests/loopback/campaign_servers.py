"""Servers on 127.0.0.1 that behave like OpenAlex, Crossref, Unpaywall and a publisher, each with a log.

Records are our own, in the shapes that the services use.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

UNHURRIED = {"X-Rate-Limit-Limit": "1000", "X-Rate-Limit-Interval": "1s"}
PDF = {"Content-Type": "application/pdf"}
HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class Answer:
    """What is sent back. Of an endless body pieces go out until the client hangs up."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Callable[[], Iterator[bytes]] | None = None
    cut: int | None = None


def as_json(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


@dataclass(frozen=True)
class Seen:
    path: str
    query: dict[str, str]
    headers: dict[str, str]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Stay silent: clients hang up on purpose here."""


class LoopbackServer:
    """Start with `with …() as server`. Faults stand before what `answer` says, by path."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.sent = 0
        self.faults: dict[str, deque[Answer]] = defaultdict(deque)
        self.on_request: Callable[[Seen], None] = lambda _seen: None
        self._server = _Http(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"http://{self.host}"

    def answer(self, seen: Seen) -> Answer:
        raise NotImplementedError

    def will(self, path: str, *answers: Answer) -> None:
        self.faults[path].extend(answers)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _handler(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(unquote(parts.path), query, headers)
            server.seen.append(seen)
            server.on_request(seen)
            queued = server.faults[seen.path]
            answer = queued.popleft() if queued else server.answer(seen)
            # A client that has hung up by now is part of the test.
            with contextlib.suppress(OSError):
                _send(self, server, answer)

        def log_message(self, *_: object) -> None:
            """Stay silent: the tests read `seen`."""

    return Handler


def _send(handler: BaseHTTPRequestHandler, server: LoopbackServer, answer: Answer) -> None:
    handler.send_response(answer.status)
    for name, value in {**UNHURRIED, **answer.headers}.items():
        handler.send_header(name, value)
    if answer.pieces is not None:
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for piece in answer.pieces():
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            server.sent += len(piece)
        handler.wfile.write(b"0\r\n\r\n")
        return
    if "Content-Length" not in answer.headers:
        handler.send_header("Content-Length", str(len(answer.body)))
    handler.end_headers()
    handler.wfile.write(answer.body if answer.cut is None else answer.body[: answer.cut])
    handler.wfile.flush()
    if answer.cut is not None:
        handler.close_connection = True


@dataclass
class Work:
    """A work as the indexes know it."""

    doi: str
    title: str
    abstract: str = "Straw loses dry matter in storage."
    year: int = 2021
    number: int = 0


def works(count: int, *, first: int = 1) -> list[Work]:
    """Return works of our own; each seventh has no abstract."""
    return [
        Work(
            doi=f"10.5555/straw.{number}",
            title=f"Storage of straw bales, trial {number}",
            abstract=""
            if number % 7 == 0
            else f"Bales of trial {number} lost {number % 30} % of their dry matter.",
            year=2000 + number % 25,
            number=number,
        )
        for number in range(first, first + count)
    ]


def openalex_record(work: Work) -> dict[str, Any]:
    index: dict[str, list[int]] = {}
    for place, word in enumerate(work.abstract.split()):
        index.setdefault(word, []).append(place)
    return {
        "id": f"https://openalex.org/W{4_000_000_000 + work.number}",
        "doi": f"https://doi.org/{work.doi}" if work.doi else None,
        "title": work.title,
        "display_name": work.title,
        "publication_year": work.year,
        "language": "en",
        "type": "article",
        "authorships": [{"author": {"display_name": "Ada Halm"}}, {"author": {"display_name": "Ben Stroh"}}],
        "primary_location": {"source": {"display_name": "Journal of Bales"}},
        "abstract_inverted_index": index or None,
    }


class OpenAlexServer(LoopbackServer):
    """`GET /works` with `search` and `cursor`, `GET /works/doi:…`. Cursors beyond the first need a key."""

    key = "test-key"

    def __init__(self, found: list[Work]) -> None:
        super().__init__()
        self.works = found

    def answer(self, seen: Seen) -> Answer:
        if seen.path != "/works":
            doi = seen.path.removeprefix("/works/doi:").lower()
            record = next((openalex_record(work) for work in self.works if work.doi == doi), None)
            return as_json({"error": "Not found"}, 404) if record is None else as_json(record)
        cursor, rows = seen.query["cursor"], int(seen.query["per_page"])
        if rows > 100:
            return as_json({"error": "Invalid query parameters error."}, 403)
        if cursor != "*" and seen.query.get("api_key") != self.key:
            return as_json({"error": "Unauthorized"}, 401)
        start = 0 if cursor == "*" else int(cursor.removeprefix("after-"))
        page = self.works[start : start + rows]
        following = f"after-{start + rows}" if start + rows < len(self.works) else None
        meta = {"count": len(self.works), "per_page": rows, "next_cursor": following}
        return as_json({"meta": meta, "results": [openalex_record(work) for work in page], "group_by": []})


def crossref_item(work: Work) -> dict[str, Any]:
    item: dict[str, Any] = {
        "DOI": work.doi.upper(),
        "title": [work.title],
        "author": [{"given": "Ada", "family": "Halm", "sequence": "first"}, {"name": "The Bale Group"}],
        "issued": {"date-parts": [[work.year, 3]]},
        "container-title": ["Journal of Bales"],
        "type": "journal-article",
        "language": "en",
    }
    if work.abstract:
        item["abstract"] = f"<jats:title>Abstract</jats:title><jats:p>{work.abstract}</jats:p>"
    return item


class CrossrefSearchServer(LoopbackServer):
    """`GET /works` with `query.bibliographic` and `cursor`, `GET /works/{doi}`."""

    def __init__(self, found: list[Work]) -> None:
        super().__init__()
        self.works = found

    def answer(self, seen: Seen) -> Answer:
        if seen.path != "/works":
            doi = seen.path.removeprefix("/works/").lower()
            item = next((crossref_item(work) for work in self.works if work.doi == doi), None)
            if item is None:
                return Answer(404, b"Resource not found.", {"Content-Type": "text/plain"})
            return as_json({"status": "ok", "message-type": "work", "message": item})
        rows, cursor = int(seen.query["rows"]), seen.query["cursor"]
        start = 0 if cursor == "*" else int(cursor.removeprefix("AoJ"))
        items = [crossref_item(work) for work in self.works[start : start + rows]]
        message = {"total-results": len(self.works), "items": items, "next-cursor": f"AoJ{start + rows}"}
        return as_json({"status": "ok", "message-type": "work-list", "message": message})


def place(
    pdf: str | None, license_code: str | None, *, version: str = "publishedVersion", is_best: bool = True
) -> dict[str, Any]:
    """Return a location as Unpaywall has it."""
    return {
        "url": pdf or "https://publisher.example/landing",
        "url_for_pdf": pdf,
        "url_for_landing_page": "https://publisher.example/landing",
        "license": license_code,
        "version": version,
        "host_type": "publisher",
        "is_best": is_best,
    }


class UnpaywallServer(LoopbackServer):
    """`GET /{doi}?email=`; what is not in `places` is not known."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, list[dict[str, Any]]] = {}

    def answer(self, seen: Seen) -> Answer:
        if "@" not in seen.query.get("email", ""):
            return as_json({"error": True, "message": "Please use your own email address."}, 422)
        doi = seen.path.removeprefix("/").lower()
        if doi not in self.places:
            return as_json({"error": True, "HTTP_status_code": 404}, 404)
        found = self.places[doi]
        best = found[0] if found else None
        return as_json(
            {
                "doi": doi,
                "is_oa": bool(found),
                "best_oa_location": best,
                "oa_locations": found,
                "data_standard": 2,
            }
        )


class PublisherServer(LoopbackServer):
    """Answers by path from `files`; what is not there is an HTML page that says so."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, Answer] = {}

    def answer(self, seen: Seen) -> Answer:
        return self.files.get(seen.path) or Answer(404, b"<html>Not here</html>", HTML)

    def holds(self, path: str, body: bytes) -> str:
        """Have a PDF at `path`; return its address."""
        self.files[path] = Answer(200, body, PDF)
        return self.base_url + path

    def redirects(self, path: str, to: str) -> str:
        """Send whoever asks for `path` on; return its address."""
        self.files[path] = Answer(302, b"", {"Location": to})
        return self.base_url + path


def endless(first: bytes = b"%PDF-1.7\n", total: int = 10_000_000_000) -> Answer:
    """A body of ten gigabytes, without saying so before."""

    def pieces() -> Iterator[bytes]:
        yield first
        block = b"\x00" * 65_536
        for _ in range(total // len(block)):
            yield block

    return Answer(200, b"", PDF, pieces)
