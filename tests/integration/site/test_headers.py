"""Every address of a public site, found or not, and whatever turns a request away, protects its reader alike.

The scores are those that Mozilla's HTTP Observatory publishes for what it looks at; a site begins at 100.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from http.cookies import SimpleCookie
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from corpus import browsing
from sci_rag_site.asgi import application
from tests.factories.keys import bearer, secret_of

pytestmark = pytest.mark.django_db
HOST = "papers.example.org"
NOBODYS = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(autouse=True)
def _as_in_production(settings: LazySettings) -> None:
    """What `ALLOWED_HOSTS` alone makes of the settings; test_boot.py reads them as a process does."""
    settings.ALLOWED_HOSTS = [HOST, "testserver"]
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = settings.SECURE_SSL_REDIRECT = True
    settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = settings.SECURE_HSTS_PRELOAD = True


class Visitor(Client):
    """Somebody who asks over TLS."""

    def __init__(self, person: User | None = None) -> None:
        super().__init__(raise_request_exception=False)
        if person is not None:
            self.force_login(person)

    def get(self, path: str, *args: Any, **more: Any) -> HttpResponse:  # type: ignore[override]
        return super().get(path, *args, **({"secure": True} | more))  # type: ignore[return-value]


def addresses(resolver: URLResolver | None = None, above: str = "/") -> Iterator[str]:
    """Yield one address of every route there is, the admin's too."""
    for entry in (resolver or get_resolver()).url_patterns:
        here = above + str(entry.pattern).removeprefix("^")
        if isinstance(entry, URLResolver):
            yield from addresses(entry, here)
        else:
            yield filled(here, entry)


def filled(text: str, entry: URLPattern) -> str:
    values = {"UUIDConverter": NOBODYS, "IntConverter": "1"}
    for name, converter in entry.pattern.converters.items():
        value = values.get(type(converter).__name__, "x")
        text = re.sub(rf"<(?:\w+:)?{name}>", value, text)
    return re.sub(r"\(\?P<\w+>[^)]*\)", "x", text).removesuffix("$")


ALL = sorted({address for address in addresses() if not address.startswith("/admin/jsi18n")})


def check(headers: Mapping[str, str], where: str) -> None:
    policy = policy_of(headers)
    assert policy["default-src"] == ["'none'"], where
    assert policy["base-uri"] == policy["frame-ancestors"] == ["'none'"], where
    assert policy.get("object-src", ["'none'"]) == ["'none'"], where
    assert policy["form-action"] in (["'self'"], ["'none'"]), where
    if not where.startswith("/admin/"):
        assert "unsafe" not in headers["Content-Security-Policy"], where
    assert headers["X-Content-Type-Options"] == "nosniff", where
    assert headers["X-Frame-Options"] == "DENY", where
    assert headers["Referrer-Policy"] == "same-origin", where
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin", where
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin", where
    assert "camera=()" in headers["Permissions-Policy"], where
    assert "no-store" in headers["Cache-Control"], where
    assert headers["Strict-Transport-Security"].startswith("max-age=31536000; includeSubDomains"), where
    assert "Access-Control-Allow-Origin" not in headers, where
    assert not {"Server", "X-Powered-By"} & set(headers), where


def policy_of(headers: Mapping[str, str]) -> dict[str, list[str]]:
    parts = [part.split() for part in headers["Content-Security-Policy"].split(";") if part.strip()]
    return {part[0]: part[1:] for part in parts}


@pytest.mark.parametrize(
    ("who", "asked"),
    [
        pytest.param("a visitor", ALL, id="a visitor"),
        pytest.param("an asker", ALL[::9], id="some of an asker"),
        pytest.param("an asker", ALL, marks=pytest.mark.long, id="an asker"),
        pytest.param("a librarian", ALL, marks=pytest.mark.long, id="a librarian"),
    ],
)
def test_every_address_has_the_protective_headers(
    asker: User, librarian: User, who: str, asked: list[str]
) -> None:
    visitor = Visitor({"an asker": asker, "a librarian": librarian}.get(who))

    for address in asked:
        response = visitor.get(address)
        assert response.status_code < 500, address
        check(response.headers, address)
        kind = response.headers.get("Content-Type", "")
        assert not kind.startswith("text/") or "charset=utf-8" in kind, address
    assert len(ALL) > 200


@pytest.mark.parametrize("way", ["nothing there", "no token", "our fault", "no TLS"])
def test_so_has_whatever_goes_wrong(librarian: User, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor(librarian)
    if way == "our fault":
        monkeypatch.setattr(browsing, "matching", lambda *_: 1 / 0)
    status, response = {
        "nothing there": lambda: (404, visitor.get("/nowhere/")),
        "no token": lambda: (403, strict(visitor).post(reverse("ask"), {"question": "x"}, secure=True)),
        "our fault": lambda: (500, visitor.get(reverse("documents"))),
        "no TLS": lambda: (301, visitor.get("/documents/", secure=False)),
    }[way]()

    assert response.status_code == status
    if way == "no TLS":
        assert response.headers["Location"] == "https://testserver/documents/"
    else:
        check(response.headers, way)


def strict(visitor: Visitor) -> Visitor:
    visitor.handler.enforce_csrf_checks = True
    return visitor


def served(path: str, *, method: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str]]:
    """Ask the whole application, as a server does: what answers before Django as well."""
    sent: list[Any] = []
    waiting = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        # A client that has sent all waits for the answer.
        return waiting.pop() if waiting else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    raw = {"host": HOST, **headers}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "scheme": "https", "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in raw.items()],
        "client": ("127.0.0.1", 1), "server": (HOST, 443),
    }  # fmt: skip
    async_to_sync(application)(scope, receive, send)  # type: ignore[arg-type]
    start = sent[0]
    told = {name.decode().title(): value.decode() for name, value in start["headers"]}
    # As the test client spells them.
    told["X-Request-ID"] = told.pop("X-Request-Id", "")
    return start["status"], told


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/healthz", "GET", {}, 200),
        ("/documents/", "GET", {"host": "evil.example"}, 400),
        ("/sign-in/", "POST", {"content-length": "999999999999"}, 413),
        ("/api/v1/query", "POST", {"content-length": "1000001"}, 413),
        ("/mcp", "POST", {"content-type": "application/json"}, 401),
        ("/static/js/app.js", "GET", {}, 200),
    ],
)
def test_so_has_what_never_reaches_a_page(
    path: str, method: str, headers: dict[str, str], status: int
) -> None:
    answered, told = served(path, method=method, headers=headers)

    assert answered == status
    if path.startswith("/static/"):
        # The site's own files are the same for everybody, and may be kept.
        told["Cache-Control"] = "no-store"
    check(told, path)


def test_every_cookie_is_for_this_host_over_tls_alone(asker: User) -> None:
    visitor = Visitor()
    cookies = SimpleCookie()
    for response in (
        visitor.get(reverse("login")),
        visitor.post(
            reverse("login"), {"username": "asker", "password": "correct horse battery"}, secure=True
        ),
        visitor.post(reverse("theme"), {"theme": "dark"}, secure=True),
        visitor.get(reverse("ask")),
    ):
        cookies.update(response.cookies)  # type: ignore[arg-type]

    assert set(cookies) == {"__Host-sessionid", "__Host-csrftoken", "__Host-theme", "__Host-known-device"}
    for name, cookie in cookies.items():
        assert cookie["secure"], name
        assert cookie["httponly"], name
        assert cookie["samesite"] in ("Lax", "Strict"), name
        assert (cookie["path"], cookie["domain"]) == ("/", ""), name
        assert len(name) + len(cookie.value) < 4096


def test_signing_out_leaves_nothing_in_the_browser(asker: User) -> None:
    response = Visitor(asker).post(reverse("logout"), secure=True)

    assert response.status_code == 302
    assert response.headers["Clear-Site-Data"] == '"cache", "storage"'


def test_the_sign_in_form_hides_what_is_typed_and_lets_managers_fill_it_in() -> None:
    page = Visitor().get(reverse("login")).text
    (field,) = re.findall(r'<input[^>]*name="password"[^>]*>', page)

    assert 'type="password"' in field
    assert 'autocomplete="current-password"' in field
    assert "onpaste" not in page
    assert "maxlength" not in field
    # Neither a hint, nor a question that only the owner could answer, nor mail.
    assert len(re.findall(r'<input(?![^>]*type="hidden")', page)) == 2


@pytest.mark.parametrize(
    "path",
    ["/.git/config", "/.env", "/static/", "/static/../manage.py", "/static/%2e%2e/manage.py", "/manage.py",
     "/var/secret_key", "/static/js/", "/requirements.lock"],
)  # fmt: skip
def test_nothing_but_the_sites_own_files_is_served(path: str) -> None:
    assert Visitor().get(path).status_code == 404


def test_a_program_without_tls_is_refused_and_not_sent_on(asker: User) -> None:
    response = Visitor().get("/api/v1/status", secure=False, headers=bearer(secret_of(asker)))

    assert response.status_code == 422
    assert "Ask over https." in response.text


# What is looked at, and what each finding adds or takes away. The first that is true counts.
def score(response: HttpResponse, plain: HttpResponse, scripts: list[str]) -> int:
    """Return the score of a page, asked over TLS, of the same without, and of the scripts it loads."""
    headers, cookies = response.headers, response.cookies.values()
    policy = policy_of(headers)
    named = " ".join(" ".join(sources) for sources in policy.values())
    safe = "unsafe" not in named and not re.search(r"\b(?:https?|data):", named)
    hsts = re.search(r"max-age=(\d+)", headers.get("Strict-Transport-Security", ""))
    kept = bool(hsts) and int(hsts[1]) >= 15_768_000 if hsts else False
    limits = [
        0 if safe else -20,
        0 if kept else -20,
        0 if all(cookie["secure"] for cookie in cookies) else -40,
        0 if all(cookie["httponly"] for cookie in cookies) else -30,
        0 if plain.headers.get("Location", "").startswith("https://testserver") else -20,
        0 if all(script.startswith("/") and not script.startswith("//") for script in scripts) else -50,
        0 if headers.get("X-Content-Type-Options") == "nosniff" else -5,
        0 if "Access-Control-Allow-Origin" not in headers else -50,
    ]
    found = 100 + sum(limits)
    if found < 90:
        return found
    private = {"no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin"}
    return found + sum(
        [
            10 if policy["default-src"] == ["'none'"] and policy["form-action"] == ["'self'"] else 5,
            5 if all(cookie["samesite"] in ("Lax", "Strict") for cookie in cookies) and cookies else 0,
            5 if headers.get("Referrer-Policy") in private else 0,
            5 if policy.get("frame-ancestors") in (["'none'"], ["'self'"]) else 0,
            10 if headers.get("Cross-Origin-Resource-Policy") in ("same-origin", "same-site") else 0,
        ]
    )


def test_the_first_page_scores_as_the_best_do(asker: User) -> None:
    visitor = Visitor()
    page = visitor.get(reverse("login"))
    scripts = re.findall(r'<script[^>]*\ssrc="([^"]+)"', page.text)

    found = score(page, visitor.get(reverse("login"), secure=False), scripts)

    assert scripts
    assert page.cookies
    assert found >= 115
    assert found == 135


def test_the_score_notices_what_is_missing(asker: User) -> None:
    visitor = Visitor()
    page, plain = visitor.get(reverse("login")), visitor.get(reverse("login"), secure=False)
    del page.headers["Strict-Transport-Security"]

    assert score(page, plain, []) == 80
    page.headers["Content-Security-Policy"] += "; img-src https:"
    assert score(page, plain, ["//cdn.example/x.js"]) == 10
