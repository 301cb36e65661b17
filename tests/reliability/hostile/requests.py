"""A hundred and twenty requests that no client should send, as the bytes that go over the wire.

By kind: JSON, content types, forms in parts, headers, methods, ids, pages of lists, digits of other scripts,
thousands of parameters, and percent signs. The same ones every time.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.integration.api.test_request_hygiene import BODIES

COUNT = 120
MALFORMED, SENSELESS, TOO_LARGE = "malformed_request", "invalid_request", "request_too_large"
ABSENT, METHOD, NO_KEY, BAD_KEY = "not_found", "method_not_allowed", "missing_key", "invalid_key"
TAKEN = ""
NOBODYS = "00000000-0000-4000-8000-000000000000"
JSON, FORM = "Content-Type: application/json", "Content-Type: application/x-www-form-urlencoded"
_QUESTION = b'{"query": "straw"}'
_BUCKETS = b'{"query": "x", "scope": {"buckets": [%s"a"]}}'
_BOUNDARY = "Content-Type: multipart/form-data; boundary=x"
_PART = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nStraw was stored.\r\n'


@dataclass(frozen=True, slots=True)
class BadRequest:
    """One request.

    `by` says whose credentials go along: a program's `key`, a browser's `session`, or nobody's. `codes` are
    the API's refusals it may get, of which the empty one stands for being taken. A page has no codes.
    `is_http` is false where it breaks HTTP itself: then the server may refuse it before the site sees it.
    """

    name: str
    method: str
    target: str
    headers: tuple[str, ...] = ()
    body: bytes = b""
    by: str = "key"
    codes: tuple[str, ...] = (TAKEN,)
    is_http: bool = True

    @property
    def is_api(self) -> bool:
        return self.target.startswith("/api/")

    def on_wire(self, *credentials: str) -> bytes:
        """Return its bytes."""
        lines = [f"{self.method} {self.target} HTTP/1.1", *credentials, *self.headers]
        given = " ".join(self.headers).lower()
        if "host:" not in given:
            lines.insert(1, "Host: 127.0.0.1")
        if "content-length:" not in given and "transfer-encoding:" not in given:
            lines.append(f"Content-Length: {len(self.body)}")
        lines.append("Connection: close")
        return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + self.body


def every_request() -> list[BadRequest]:
    """Return all of them, each with a name of its own."""
    return [
        *_json(), *_content_types(), *_parts(), *_headers(), *_methods(), *_ids(), *_pages_of_lists(),
        *_digits(), *_thousands(), *_percent_signs(),
    ]  # fmt: skip


def _posted(name: str, body: bytes, *codes: str, kind: str = JSON, to: str = "/api/v1/query") -> BadRequest:
    return BadRequest(name, "POST", to, (kind,), body, codes=codes)


def _got(name: str, target: str, *codes: str) -> BadRequest:
    by = "key" if target.startswith("/api/") else "session"
    return BadRequest(name, "GET", target, by=by, codes=codes or (TAKEN,))


def _json() -> Iterator[BadRequest]:
    for name, (body, code) in BODIES.items():
        yield _posted(f"json: {name}", body, code)
    for name, body, code in (
        ("UTF-32", '{"query": "x"}'.encode("utf-32"), MALFORMED),
        ("UTF-16 without a mark", '{"query": "x"}'.encode("utf-16-le"), MALFORMED),
        ("Latin-1", b'{"query": "caf\xe9"}', MALFORMED),
        ("zero bytes behind", _QUESTION + bytes(50), MALFORMED),
        ("compressed", gzip.compress(_QUESTION), MALFORMED),
        ("a name of 100,000 letters", b'{"' + b"x" * 100_000 + b'": 1}', SENSELESS),
        ("brackets in a text", json.dumps({"query": "[" * 1_990}).encode(), TAKEN),
        ("a whole number with a point", b'{"query": "x", "top_k": 8.0}', TAKEN),
        ("minus nothing", b'{"query": "x", "top_k": -0}', SENSELESS),
        ("a list of 100,000", _BUCKETS % (b'"a",' * 99_999), SENSELESS),
        ("a scope that names a prototype", b'{"query": "x", "scope": {"__proto__": {}}}', SENSELESS),
        ("a query of an array of letters", b'{"query": ["s", "t"]}', SENSELESS),
    ):  # fmt: skip
        codes = (code, SENSELESS) if code == TAKEN else (code,)
        yield _posted(f"json: {name}", body, *codes)


def _content_types() -> Iterator[BadRequest]:
    for name, kind, codes in (
        ("none", "X-Nothing: x", (SENSELESS, TAKEN)),
        ("text", "Content-Type: text/plain", (SENSELESS,)),
        ("XML", "Content-Type: application/xml", (SENSELESS,)),
        ("a form", FORM, (SENSELESS,)),
        ("of another character set", "Content-Type: application/json; charset=utf-16", (TAKEN,)),
        ("of a character set there is not", "Content-Type: application/json; charset=klingon", (TAKEN,)),
        ("of 8,000 letters", "Content-Type: application/" + "x" * 8_000, (SENSELESS, MALFORMED)),
        ("a slash", "Content-Type: /", (SENSELESS, MALFORMED)),
        ("half a type", "Content-Type: application/", (SENSELESS, MALFORMED)),
        ("semicolons", "Content-Type: ;;;;;;", (SENSELESS, MALFORMED)),
        ("parts without a boundary", "Content-Type: multipart/form-data", (SENSELESS, MALFORMED)),
        ("a wildcard", "Content-Type: */*", (SENSELESS, MALFORMED, TAKEN)),
    ):
        yield _posted(f"type: {name}", _QUESTION, *codes, kind=kind)


def _parts() -> Iterator[BadRequest]:
    def sent(name: str, body: bytes, kind: str = _BOUNDARY) -> BadRequest:
        codes = (MALFORMED, SENSELESS, TOO_LARGE, TAKEN)
        return _posted(f"parts: {name}", body, *codes, kind=kind, to="/api/v1/ingest")

    many = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="f%d"\r\n\r\n1\r\n' % n for n in range(2_000)
    )
    long = b"--x\r\nContent-Disposition: form-data; name=" + b"y" * 100_000 + b"\r\n\r\n1\r\n--x--\r\n"
    yield sent("never closed", _PART)
    yield sent("cut in a header", b"--x\r\nContent-Dis")
    yield sent("another boundary", _PART.replace(b"--x", b"--y") + b"--y--\r\n")
    yield sent(
        "a boundary of 4,000 letters", _PART, "Content-Type: multipart/form-data; boundary=" + "b" * 4_000
    )
    yield sent("a boundary that is no ASCII", _PART, "Content-Type: multipart/form-data; boundary=é")
    yield sent("an empty boundary", _PART, "Content-Type: multipart/form-data; boundary=")
    yield sent("2,000 fields", many + b"--x--\r\n")
    yield sent("a header of 100,000 bytes", long)
    yield sent("no name", b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n")
    yield sent("no disposition", b"--x\r\nContent-Type: text/plain\r\n\r\n1\r\n--x--\r\n")
    yield sent(
        "base64 that is none",
        _PART.replace(b"\r\n\r\n", b"\r\nContent-Transfer-Encoding: base64\r\n\r\n!", 1) + b"--x--\r\n",
    )
    yield sent(
        "parts in parts",
        _PART.replace(b"\r\n\r\n", b"\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n", 1)
        + b"--x--\r\n",
    )
    yield sent("line ends alone", _PART.replace(b"\r\n", b"\n") + b"--x--\n")
    # Names of codecs that are no encodings of text, or that refuse to replace what they cannot read.
    closed = _PART.replace(b"Straw", "Stroh f\u00fcr ".encode()) + b"--x--\r\n"
    for charset in (
        "charset=rot13",
        "charset=idna",
        "charset=undefined",
        "charset=punycode",
        "charset*=utf-8''%00",
    ):
        yield sent(f"a set of characters, {charset}", closed, f"{_BOUNDARY}; {charset}")
    page = "/documents/upload/file/"
    yield BadRequest(
        "parts: to a page, rot13", "POST", page, (f"{_BOUNDARY}; charset=rot13",), closed, "session"
    )
    yield BadRequest("parts: to a page, never closed", "POST", page, (_BOUNDARY,), _PART, "session")
    yield BadRequest("parts: to a page, an empty boundary", "POST", page, (_BOUNDARY[:-1],), _PART, "session")
    yield sent("a name with a zero byte", _PART.replace(b'"files"', b'"fi\0les"') + b"--x--\r\n")


def _headers() -> Iterator[BadRequest]:
    status = "/api/v1/status"
    for name, line, by, codes in (
        ("a scheme alone", "Authorization: Bearer", "", (NO_KEY,)),
        ("a key of 30,000 letters", "Authorization: Bearer " + "x" * 30_000, "", (BAD_KEY,)),
        ("a key of other signs", "Authorization: Bearer \u2028é\u202e", "", (BAD_KEY, NO_KEY)),
        ("a cookie that is cut", 'Cookie: sessionid="; =; a=b=c; csrftoken', "key", (TAKEN,)),
        ("languages without end", "Accept-Language: " + "en;q=0.1," * 2_000, "key", (TAKEN,)),
        ("a language of nonsense", "Accept-Language: ../../etc/passwd;q=nan", "key", (TAKEN,)),
        ("kinds of nonsense", "Accept: text/;q=x, */json, ,,", "key", (TAKEN,)),
        ("a range", "Range: bytes=0-99999999999999999999,-1", "key", (TAKEN,)),
        ("a day that is none", "If-Modified-Since: 99 Foo 99999 99:99:99", "key", (TAKEN,)),
        ("forwarded for nonsense", "X-Forwarded-For: ::::, 999.1.1.1", "key", (TAKEN,)),
        ("another method", "X-HTTP-Method-Override: DELETE", "key", (TAKEN,)),
    ):
        yield BadRequest(f"header: {name}", "GET", status, (line,), by=by, codes=codes)
    yield BadRequest("header: another host", "GET", status, ("Host: evil.example",), codes=(MALFORMED,))
    yield BadRequest("header: a host of nonsense", "GET", status, ("Host: [::1",), codes=(MALFORMED,))
    for name, lines, body in (
        ("two lengths", ("Content-Length: 5", "Content-Length: 9"), _QUESTION),
        ("a length of words", ("Content-Length: many",), b""),
        ("pieces of nonsense", ("Transfer-Encoding: chunked",), b"zz\r\nx\r\n0\r\n\r\n"),
    ):
        yield BadRequest(
            f"header: {name}",
            "POST",
            "/api/v1/query",
            (JSON, *lines),
            body,
            codes=(MALFORMED,),
            is_http=False,
        )


def _methods() -> Iterator[BadRequest]:
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        yield BadRequest(f"method: {method}", method, "/api/v1/query", codes=(METHOD,))
    yield BadRequest("method: one there is not", "BREW", "/api/v1/query", codes=(METHOD,), is_http=False)
    yield BadRequest("method: small letters", "get", "/api/v1/status", codes=(METHOD, TAKEN), is_http=False)
    yield BadRequest("method: of 500 letters", "X" * 500, "/api/v1/status", codes=(METHOD,), is_http=False)
    yield BadRequest(
        "method: a form to a page without its token", "POST", "/theme/", (FORM,), b"theme=dark", ""
    )
    yield BadRequest("method: delete a page", "DELETE", "/documents/", by="session")


def _ids() -> Iterator[BadRequest]:
    for name, key, codes in (
        ("nobody's", NOBODYS, (ABSENT,)),
        ("capital letters", NOBODYS.upper().replace("4", "F"), (ABSENT,)),
        ("in braces", "%7B" + NOBODYS + "%7D", (ABSENT,)),
        ("a name of a resource", "urn:uuid:" + NOBODYS, (ABSENT,)),
        ("a zero byte", NOBODYS[:-3] + "%00", (ABSENT, MALFORMED)),
        ("digits of another script", "%D9%A0" * 36, (ABSENT,)),
        ("a way up", "../../../etc/passwd", (ABSENT,)),
        ("a statement", "1%27%20OR%201=1--", (ABSENT,)),
        ("of 8,000 letters", "a" * 8_000, (ABSENT,)),
    ):
        yield _got(f"id: {name}", f"/api/v1/documents/{key}", *codes)
    yield _got("id: a page number without end", f"/documents/{NOBODYS}/pages/{'9' * 400}.webp")
    yield _got("id: a run of nobody", f"/runs/{NOBODYS}/events/")
    yield _got("id: a letter for an answer", "/answers/x/")


def _pages_of_lists() -> Iterator[BadRequest]:
    for name, query, codes in (
        ("nought", "page=0", (SENSELESS,)),
        ("minus one", "page=-1", (SENSELESS,)),
        ("a million million", "page=1000000000000", (SENSELESS,)),
        ("with an exponent", "page=1e3", (SENSELESS,)),
        ("twice", "page=1&page=2", (SENSELESS,)),
        ("of nothing", "page=", (SENSELESS,)),
        ("as large as there are", "page_size=101", (SENSELESS,)),
        ("a list of pages", "page[]=1", (SENSELESS,)),
    ):
        yield _got(f"page: {name}", f"/api/v1/documents?{query}", *codes)
    yield _got("page: of documents, nonsense", "/documents/?page=%F0%9F%8C%BE&year_min=abc&license_class=x")
    yield _got("page: of runs, without end", "/runs/?page=" + "9" * 5_000)


def _digits() -> Iterator[BadRequest]:
    for name, digits in (("Arabic", "\u0661"), ("wide", "\uff11"), ("raised", "\u00b2"), ("Roman", "\u2161")):
        value = "".join(f"%{byte:02X}" for byte in digits.encode())
        yield _got(f"digits: {name}", f"/api/v1/documents?page={value}", SENSELESS)
        yield _got(f"digits: {name}, on a page", f"/documents/?year_min={value * 4}&page={value}")


def _thousands() -> Iterator[BadRequest]:
    many = "&".join(f"a{n}=1" for n in range(10_000))
    yield _posted("many: fields of a form", many.encode(), SENSELESS, MALFORMED, kind=FORM)
    yield BadRequest("many: fields of a page's form", "POST", "/", (FORM,), many.encode(), "session")
    names = json.dumps({f"a{n}": 1 for n in range(10_000)}).encode()
    yield _posted("many: names of an object", names, SENSELESS)
    yield _got(
        "many: parameters", f"/api/v1/documents?{'&'.join(f'a{n}=1' for n in range(5_000))}", MALFORMED
    )


def _percent_signs() -> Iterator[BadRequest]:
    for name, sign in (
        ("alone", "%"),
        ("of no number", "%zz"),
        ("a byte that is no text", "%ff%fe"),
        ("too long a form", "%c0%af"),
        ("half a character", "%ed%a0%80"),
        ("a zero byte", "%00"),
        ("twice", "%2500"),
        ("a line end", "%0d%0aSet-Cookie:%20a=b"),
    ):
        codes = (MALFORMED,) if name == "a zero byte" else (TAKEN, MALFORMED)
        yield _got(f"percent: {name}", f"/api/v1/documents?q={sign}", *codes)
        yield _got(f"percent: {name}, in a path", f"/documents/{sign}/")
