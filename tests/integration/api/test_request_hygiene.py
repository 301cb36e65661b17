"""What cannot be read is refused with 400, what is too large with 413, what makes no sense with 422."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.integration.api.calling import ROOT, Api
from tests.integration.api.test_errors import is_problem

pytestmark = pytest.mark.django_db

MALFORMED, TOO_LARGE, SENSELESS = "malformed_request", "request_too_large", "invalid_request"
DEEP = b'{"query": ' + b"[" * 32 + b"]" * 32 + b"}"
AT_MOST = b'{"query": ' + b"[" * 31 + b"]" * 31 + b"}"
# Every address that takes JSON.
POSTS = ("/query", "/answer", "/notes")
# What a stock view of a REST framework fails on, or takes for something else.
BODIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", SENSELESS),
    "white space": (b" ", MALFORMED),
    "half an object": (b'{"query": "x"', MALFORMED),
    "two values": (b'{"query": "x"} {"query": "y"}', MALFORMED),
    "a comma too many": (b'{"query": "x",}', MALFORMED),
    "single quotes": (b"{'query': 'x'}", MALFORMED),
    "a comment": (b'{"query": "x"} // so', MALFORMED),
    "deeper than 32": (DEEP, MALFORMED),
    "5,000 deep": (b'{"query": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", MALFORMED),
    "objects 5,000 deep": (b'{"query":' * 5_000 + b"1" + b"}" * 5_000, MALFORMED),
    "not a number": (b'{"query": NaN}', MALFORMED),
    "infinity": (b'{"query": Infinity}', MALFORMED),
    "minus infinity": (b'{"query": -Infinity}', MALFORMED),
    "a number that is infinite": (b'{"query": 1e999}', MALFORMED),
    "a number of 5,000 digits": (b'{"top_k": ' + b"9" * 5_000 + b"}", MALFORMED),
    "a name twice": (b'{"query": "x", "query": "y"}', MALFORMED),
    "a name twice, once escaped": (b'{"query": "x", "\\u0071uery": "y"}', MALFORMED),
    "a name twice, inside": (b'{"query": "x", "scope": {"year_min": 1, "year_min": 2}}', MALFORMED),
    "a zero byte": (b'{"query": "\\u0000"}', MALFORMED),
    "a zero byte in a name": (b'{"que\\u0000ry": "x"}', MALFORMED),
    "half a character": (b'{"query": "\\ud800"}', MALFORMED),
    "halves in the wrong order": (b'{"query": "\\udc00\\ud800"}', MALFORMED),
    "UTF-16": ('{"query": "x"}'.encode("utf-16"), MALFORMED),
    "a mark before it": (b'\xef\xbb\xbf{"query": "x"}', MALFORMED),
    "bytes that are no UTF-8": (b'{"query": "\xff"}', MALFORMED),
    "more than a megabyte": (b'{"query": "' + b"x" * 1_000_000 + b'"}', TOO_LARGE),
    "a list": (b"[]", SENSELESS),
    "null": (b"null", SENSELESS),
    "32 deep": (AT_MOST, SENSELESS),
    "another type": (b'{"query": {"x": 1}, "text": {"x": 1}}', SENSELESS),
}
QUERIES: dict[str, tuple[str, str]] = {
    "a zero byte": ("q=%00", MALFORMED),
    "a zero byte in a name": ("%00=1", MALFORMED),
    "a thousand parameters": ("&".join(f"a{n}=1" for n in range(1_200)), MALFORMED),
    "a year of letters": ("year_min=abc", SENSELESS),
    "a number of 5,000 digits": ("page=" + "9" * 5_000, SENSELESS),
}


def test_there_are_as_many_probes_as_the_specification_has() -> None:
    assert len(BODIES) >= 29


@pytest.mark.parametrize("name", BODIES)
def test_a_body_is_read_strictly_at_every_address(asker: User, name: str) -> None:
    body, code = BODIES[name]
    api = Api.of(asker)

    for path in POSTS:
        assert is_problem(api.post(path, body), code), path


@pytest.mark.parametrize("name", QUERIES)
def test_parameters_are_read_strictly(asker: User, name: str) -> None:
    query, code = QUERIES[name]

    assert is_problem(Api.of(asker).client.get(f"{ROOT}/documents?{query}"), code)


@pytest.mark.parametrize(
    "query", ["-" * 40 + " straw", "-" * 33 + "x", "a -" * 60, "(" * 200, '"' * 99, "\\'"]
)
def test_a_question_of_odd_signs_is_a_question(asker: User, query: str) -> None:
    assert Api.of(asker).post("/query", {"query": query}).status_code in (200, 422)


def test_a_refusal_repeats_nothing_of_what_was_sent(asker: User) -> None:
    api = Api.of(asker)

    for body in (b'{"canary": ', b'{"canary": 1, "canary": 2}', b'{"x": "canary\\u0000"}'):
        response = api.post("/query", body)
        assert is_problem(response, MALFORMED)
        assert b"canary" not in response.content


def test_a_damaged_form_with_files_is_malformed_and_not_a_fault_of_ours(librarian: User) -> None:
    client = Api.of(librarian).client

    for kind in ("multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=é"):
        response = client.generic("POST", f"{ROOT}/ingest", b"--x\r\nContent-Dis", content_type=kind)
        assert is_problem(response, MALFORMED), kind


def test_a_form_of_more_text_than_is_read_is_too_large(client: Client, asker: User) -> None:
    client.force_login(asker)

    response = client.post(reverse("ask"), {"question": "x" * 3_000_000})

    assert response.status_code == 413


def test_the_description_has_the_codes(asker: User) -> None:
    schema: dict[str, Any] = json.loads(Api().get("/openapi.json").content)

    for methods in schema["paths"].values():
        for method, operation in methods.items():
            told = operation["responses"]
            assert "`malformed_request`" in told["400"]["description"]
            assert ("413" in told) == (method == "post")
