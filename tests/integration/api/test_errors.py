"""Problems: the codes and statuses of the specification, each with the number of the request, and no more."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from corpus import browsing
from corpus.api import problems
from corpus.api.problems import MEANING, Code
from corpus.keys import actions
from corpus.keys.models import ApiKey
from corpus.keys.permissions import Permission
from corpus.rights import ALL_CLASSES
from tests.factories.keys import bearer, make_key, secret_of
from tests.integration.api.calling import ROOT, Api

pytestmark = pytest.mark.django_db

# As the specification has them, and the one that HTTP asks for besides.
SPECIFIED = {
    "missing_key": 401, "invalid_key": 401, "insufficient_scope": 403, "rate_limited": 429,
    "invalid_request": 422, "not_found": 404, "llm_unavailable": 503, "generation_failed": 502,
    "internal_error": 500,
}  # fmt: skip
# The same in every process that collects these tests.
NOBODYS = "00000000-0000-4000-8000-000000000000"
READING = ("/documents", "/entities", "/sources", "/notes", "/status", "/corpus-manifest")


def is_problem(response: Any, code: str) -> bool:
    body = response.json()
    assert response.headers["Content-Type"] == "application/problem+json"
    assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-ID"])
    assert response.headers["X-Request-ID"] not in response.content.decode()
    assert body.keys() >= {"type", "title", "status", "detail", "code"}
    assert body["status"] == response.status_code == MEANING[Code(code)][0]
    return bool(body["code"] == code)


def test_the_codes_are_those_of_the_specification() -> None:
    assert {str(code): status for code, (status, _) in MEANING.items()} == SPECIFIED | {
        "method_not_allowed": 405,
        "malformed_request": 400,
        "request_too_large": 413,
        "no_room": 507,
    }


@pytest.mark.parametrize("path", [*READING, f"/documents/{NOBODYS}", f"/runs/{NOBODYS}"])
def test_without_a_key_nothing_is_said(path: str) -> None:
    response = Api().get(path)

    assert is_problem(response, "missing_key")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Basic YTpi", "Token x", "bearer  ", ""])
def test_what_is_no_key_is_a_missing_one(header: str) -> None:
    response = Client(headers={"Authorization": header}).get(f"{ROOT}/status")

    assert is_problem(response, "missing_key")


def test_keys_that_do_not_count_are_refused_in_the_same_words(asker: User, librarian: User) -> None:
    expired, revoked, closed = make_key(asker), make_key(asker), make_key(librarian)
    ApiKey.objects.filter(pk=expired.key.pk).update(
        created_at=timezone.now() - timedelta(days=2), expires_at=timezone.now() - timedelta(days=1)
    )
    actions.revoke(key=revoked.key, by=None)
    User.objects.filter(pk=librarian.pk).update(is_active=False)
    unknown = "sr_" + "a" * 8 + "_" + "b" * 43

    responses = [
        Api(secret).get("/status")
        for secret in (unknown, "nonsense", *(made.secret.reveal() for made in (expired, revoked, closed)))
    ]

    assert all(is_problem(response, "invalid_key") for response in responses)
    assert len({response.content for response in responses}) == 1


def test_a_key_does_what_its_permissions_say_and_nothing_else(librarian: User) -> None:
    of = {
        Permission.QUERY: [("post", "/query")],
        Permission.ANSWER: [("post", "/answer")],
        Permission.READ: [("get", path) for path in READING if path != "/corpus-manifest"],
        Permission.WRITE: [("post", "/notes"), ("post", "/ingest")],
    }
    for permission in Permission:
        api = Api.of(librarian, permissions=[permission])
        for needed, calls in of.items():
            for method, path in calls:
                response = api.get(path) if method == "get" else api.post(path, {})
                if needed == permission:
                    assert response.status_code in (200, 422), (permission, path)
                else:
                    assert is_problem(response, "insufficient_scope"), (permission, path)


def test_a_key_used_too_often_is_told_when_to_come_back(asker: User) -> None:
    api = Api(make_key(asker, requests_per_minute=2).secret.reveal())

    passed = [api.get("/status").status_code for _ in range(2)]
    refused = api.get("/status")

    assert passed == [200, 200]
    assert is_problem(refused, "rate_limited")
    assert 55 <= int(refused.headers["Retry-After"]) <= 60


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/query", {}, "query"),
        ("/query", {"query": ""}, "query"),
        ("/query", {"query": "x" * 2_001}, "query"),
        ("/query", {"query": "\u200b "}, "query"),
        ("/query", {"query": 7}, "query"),
        ("/query", {"query": None}, "query"),
        ("/query", {"query": ["x"]}, "query"),
        ("/query", {"query": "x", "top_k": 0}, "top_k"),
        ("/query", {"query": "x", "top_k": 51}, "top_k"),
        ("/query", {"query": "x", "top_k": "8"}, "top_k"),
        ("/query", {"query": "x", "top_k": True}, "top_k"),
        ("/query", {"query": "x", "top_k": 1.5}, "top_k"),
        ("/query", {"query": "x", "limit": 5}, "limit"),
        ("/query", {"query": "x", "profile": "fast"}, "profile"),
        ("/query", {"query": "x", "scope": []}, "scope"),
        ("/query", {"query": "x", "scope": {"license_class": ["public"]}}, "scope.license_class"),
        ("/query", {"query": "x", "scope": {"license_classes": ["cc-by-xyz"]}}, "scope.license_classes.0"),
        ("/query", {"query": "x", "scope": {"license_classes": "public"}}, "scope.license_classes"),
        ("/query", {"query": "x", "scope": {"year_min": -1}}, "scope.year_min"),
        ("/query", {"query": "x", "scope": {"as_of": "yesterday"}}, "scope.as_of"),
        ("/query", {"query": "x", "scope": {"exclude_document_ids": ["1"]}}, "scope.exclude_document_ids.0"),
        ("/answer", {"query": "x", "engine": "oracle"}, "engine"),
        ("/answer", {"query": "x", "stream": "yes"}, "stream"),
        ("/notes", {"text": ""}, "text"),
        ("/notes", {"text": "\u200b"}, "text"),
        ("/notes", {"text": "x", "kind": "rumour"}, "kind"),
        ("/notes", {"text": "x", "cites": ["10.1/"]}, "cites.0"),
        ("/notes", {"text": "x", "cites": ["x"] * 21}, "cites"),
        ("/notes", {"text": "x", "owner": "librarian"}, "owner"),
    ],
)
def test_a_request_that_makes_no_sense_is_told_where(
    asker: User, path: str, body: dict[str, Any], field: str
) -> None:
    response = Api.of(asker).post(path, body)

    assert is_problem(response, "invalid_request")
    assert response.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("scope", [{"exclude_dois": ["no doi"]}, {"year_min": 2020, "year_max": 2019}])
def test_a_scope_that_contradicts_itself_is_refused(asker: User, scope: dict[str, Any]) -> None:
    assert is_problem(Api.of(asker).post("/query", {"query": "x", "scope": scope}), "invalid_request")


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"", "invalid_request"), (b"[]", "invalid_request"), (b"\xff\xfe", "malformed_request"),
     (b'{"query": "' + b"x" * 1_000_000 + b'"}', "request_too_large")],
)  # fmt: skip
def test_a_body_that_is_no_clean_json_is_refused(asker: User, body: bytes, code: str) -> None:
    assert is_problem(Api.of(asker).post("/query", body), code)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "x"]
)
def test_a_body_of_another_kind_is_refused(asker: User, kind: str) -> None:
    response = Api.of(asker).client.generic("POST", f"{ROOT}/query", b'{"query": "x"}', content_type=kind)

    assert is_problem(response, "invalid_request")


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/documents", "titel=x"), ("/documents", "q=a&q=b"), ("/documents", "page=0"),
        ("/documents", "page=-1"), ("/documents", "page=x"), ("/documents", "page=1.5"),
        ("/documents", "page=%D9%A1"), ("/documents", "page="),
        ("/documents", "page=1_0"), ("/documents", "page=%201"), ("/documents", "page_size=101"),
        ("/documents", "page=" + "9" * 5_000),
        ("/documents", "q=" + "x" * 301), ("/documents", "license_class=secret"),
        ("/documents", "year_min=abc"),
        ("/documents", "standing=odd"),
        ("/entities", "document=1"), ("/entities", "order=random"), ("/entities", "page_size=5"),
        ("/sources", "kind=doi"), ("/notes", "whose=theirs"), ("/status", "x=1"), ("/health", "x=1"),
        (f"/documents/{NOBODYS}", "x=1"), ("/openapi.json", "format=yaml"),
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense_are_refused(asker: User, path: str, query: str) -> None:
    response = Api.of(asker).client.get(f"{ROOT}{path}?{query}")

    assert is_problem(response, "invalid_request")


def test_a_writing_request_takes_no_parameters(asker: User) -> None:
    assert is_problem(Api.of(asker).post("/query?stream=1", {"query": "x"}), "invalid_request")


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/documents/", "/documents/1", f"/chunks/{NOBODYS}", f"/documents/{NOBODYS}",
     f"/runs/{NOBODYS}", "/", "", "/../v2/documents", "/documents/%00", "/chunks/..%2f"],
)  # fmt: skip
def test_what_is_not_there_is_a_problem_too(librarian: User, path: str) -> None:
    response = Api.of(librarian).get(path)

    assert is_problem(response, "not_found")
    assert response.content == Api.of(librarian).get(f"/chunks/{NOBODYS}").content


@pytest.mark.parametrize("path", ["/documents", "/query", "/health", f"/chunks/{NOBODYS}"])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"])
def test_a_method_that_an_address_does_not_take_is_refused(asker: User, path: str, method: str) -> None:
    response = Api.of(asker).client.generic(method, ROOT + path)

    assert is_problem(response, "method_not_allowed")
    assert set(response.headers["Allow"].split(", ")) <= {"GET", "HEAD", "POST"}


def test_an_error_of_ours_names_its_type_and_nothing_else(
    asker: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("the secret words")

    monkeypatch.setattr(browsing, "matching", fails)

    response = Api.of(asker).get("/documents")

    assert is_problem(response, "internal_error")
    assert response.json()["detail"] == "The error is of the type ZeroDivisionError."
    assert "api.failed" in caplog.text


def test_what_never_reaches_a_view_is_a_problem_too(asker: User) -> None:
    response = Api.of(asker).client.get(f"{ROOT}/status", headers={"Host": "evil.example"})

    assert is_problem(response, "malformed_request")


def test_every_page_has_the_number_of_its_request(client: Client) -> None:
    for path in (
        "/",
        "/sign-in/",
        "/healthz",
        "/nothing",
        "/admin/",
        "/api/v1/docs",
        "/static/css/tokens.css",
    ):
        assert re.fullmatch("[0-9a-f]{32}", client.get(path).headers["X-Request-ID"]), path


def test_answers_are_kept_out_of_caches_and_set_no_cookie(asker: User) -> None:
    response = Api.of(asker).get("/status")

    assert response.headers["Cache-Control"] == "private, no-store"
    assert "Set-Cookie" not in response.headers


def test_a_body_that_is_announced_too_large_is_refused_before_it_is_read(asker: User) -> None:
    from asgiref.sync import async_to_sync

    from sci_rag_site.body_limit import BodyLimit

    sent: list[Any] = []

    async def never(*_: object) -> None:
        raise AssertionError("the application was asked")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": f"{ROOT}/query", "headers": [(b"content-length", b"1000001")]}
    async_to_sync(BodyLimit(never))(scope, never, send)  # type: ignore[arg-type]

    assert sent[0]["status"] == 413
    headers = dict(sent[0]["headers"])
    assert headers[b"content-type"] == problems.MEDIA_TYPE.encode()
    assert re.fullmatch(b"[0-9a-f]{32}", headers[b"x-request-id"])
    assert json.loads(sent[1]["body"])["code"] == "request_too_large"


def test_licence_classes_of_the_description_are_those_there_are() -> None:
    from typing import get_args

    from corpus.api.shapes import LicenseName

    assert get_args(LicenseName) == tuple(str(item) for item in ALL_CLASSES)


def test_the_scheme_of_the_header_is_read_in_any_case(asker: User) -> None:
    secret = secret_of(asker)

    for header in (f"bearer {secret}", f"BEARER  {secret}"):
        assert Client(headers={"Authorization": header}).get(f"{ROOT}/status").status_code == 200
    assert Client(headers=bearer(secret)).head(f"{ROOT}/status").status_code == 200
