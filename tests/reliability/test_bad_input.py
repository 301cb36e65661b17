"""Requests, questions and names of files that no honest client sends, put to a served site one by one.

Each is answered below 500, with a number; a refusal by the API has its code and status; nothing refused
changes a row; and no line of the log tells of an exception. Files and manifests are in `test_hostile` and
`test_hostile_uploads`. The sample runs with every test; all of them are `long`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client import Client as ToolClient

from corpus.api.problems import MEANING, MEDIA_TYPE, Code
from corpus.keys.models import KeyUse
from tests.contents import contents_but
from tests.integration.mcp.talking import over_http
from tests.reliability.door import Door, opened_door, small_corpus, straw  # noqa: F401 fixtures
from tests.reliability.hostile.groups import groups
from tests.reliability.hostile.names import FileName, file_names
from tests.reliability.hostile.questions import UNREADABLE, BadQuestion, every_question
from tests.reliability.hostile.requests import BadRequest, every_request
from tests.reliability.wire import Heard

pytestmark = pytest.mark.django_db(transaction=True)

REQUESTS, QUESTIONS, NAMES = every_request(), every_question(), file_names()
# A page refuses in words, with one of these.
PAGES_REFUSE = {400, 401, 403, 404, 405, 413, 422}
# What is counted of everybody who asks, whatever becomes of it.
BOOKS = {
    "corpus_personsession", "corpus_keyuse", "corpus_signincount", "corpus_auditevent", "corpus_auditlink",
    "corpus_audithead", "corpus_apikey", "corpus_uploadcharge", "django_session", "auth_user",
}  # fmt: skip
_JSON = "Content-Type: application/json"
_FORM = "Content-Type: application/x-www-form-urlencoded"
_PARTS = "Content-Type: multipart/form-data; boundary=zz"


def test_there_are_as_many_of_each_kind_as_the_plan_asks_for() -> None:
    found = groups()
    print({name: len(inputs) for name, (_, inputs) in found.items()})  # noqa: T201 - figures
    assert {name: wanted for name, (wanted, _) in found.items()} == {
        "PDFs": 140, "Markdown and text": 110, "manifests": 110, "requests": 120, "questions": 60,
        "names and metadata": 60,
    }  # fmt: skip
    assert [name for name, (wanted, inputs) in found.items() if len(inputs) < wanted] == []
    for inputs in (REQUESTS, QUESTIONS, NAMES):
        assert len({one.name for one in inputs}) == len(inputs)


def test_a_sample_of_bad_requests_questions_and_names_is_taken_or_refused_by_code(door: Door) -> None:
    found = [*_of_requests(door, REQUESTS[::12]), *_of_questions(door, QUESTIONS[::12])]
    assert "\n".join([*found, *_of_names(door, NAMES[::8]), *door.complaints()]) == ""


def test_forms_in_no_characters_and_damaged_ones_are_refused_and_leave_no_file_open(door: Door) -> None:
    parts = [one for one in REQUESTS if one.name.startswith("parts:")]
    odd = [one for one in parts if "charset" in one.name or "64" in one.name]
    assert len(odd) >= 6
    assert "\n".join([*_of_requests(door, odd), *door.complaints()]) == ""
    # A request ends after its answer is there.
    until = time.monotonic() + 10
    while _open() and time.monotonic() < until:
        time.sleep(0.05)
    assert _open() == []


def _open() -> list[str]:
    held = map(_target, Path("/proc/self/fd").iterdir())
    return [name for name in held if name.endswith((".upload", ".upload (deleted)"))]


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""


@pytest.mark.long
def test_every_bad_request_is_taken_or_refused_by_code(door: Door) -> None:
    assert "\n".join([*_of_requests(door, REQUESTS), *door.complaints()]) == ""


@pytest.mark.long
def test_every_bad_question_is_answered_or_refused_by_code(door: Door) -> None:
    assert "\n".join([*_of_questions(door, QUESTIONS), *door.complaints()]) == ""


@pytest.mark.long
def test_every_bad_question_is_answered_or_refused_by_a_tool(door: Door) -> None:
    before = contents_but(BOOKS)
    # The client itself sends no half of a character.
    asked = [one for one in QUESTIONS if not _is_half(one.text)]

    async def call(client: ToolClient) -> list[str]:
        found = []
        for one in asked:
            told = await client.call_tool("search_corpus", {"query": one.text})
            code = str((told.structured_content or {}).get("code", "")) if told.is_error else ""
            if code != one.code:
                found.append(f"{one.name}: {code or 'taken'}, not {one.code or 'taken'}")
        return found

    found = over_http(door.address, door.secret, call)
    assert contents_but(BOOKS) == before
    assert "\n".join([*found, *door.complaints()]) == ""


@pytest.mark.long
def test_every_bad_question_is_answered_or_refused_on_a_page(door: Door) -> None:
    found = [line for one in QUESTIONS if not _is_half(one.text) for line in _on_pages(door, one)]
    assert "\n".join([*found, *door.complaints()]) == ""


@pytest.mark.long
def test_every_bad_name_of_a_file_is_taken_or_refused_by_code(door: Door) -> None:
    assert "\n".join([*_of_names(door, NAMES), *door.complaints()]) == ""


def _is_half(text: str) -> bool:
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def _of_requests(door: Door, requests: list[BadRequest]) -> Iterator[str]:
    for request in requests:
        KeyUse.objects.all().delete()
        yield from _told(door, request)[1]


def _told(door: Door, request: BadRequest) -> tuple[Heard, list[str]]:
    """Send a request; return the answer and what is wrong with it."""
    before = contents_but(BOOKS)
    answer = door.put(request)
    found = list(_of_answer(request, answer))
    if answer.status >= 400:
        found += [
            f"was refused and changed {table}"
            for table, held in contents_but(BOOKS).items()
            if before[table] != held
        ]
    return answer, [f"{request.name}, {request.target[:40]}: {line}" for line in found]


def _of_answer(request: BadRequest, answer: Heard) -> Iterator[str]:
    if not request.is_http and not answer.number:
        # Refused by the server, before there was a request to number.
        if answer.status not in (0, 400, 431):
            yield f"{answer.status} by the server"
    elif answer.status >= 500 or not answer.number:
        yield f"{answer.status}, number {answer.number!r}"
    elif answer.status >= 400:
        yield from _of_refusal(request, answer)
    elif request.is_api and "" not in request.codes:
        yield f"{answer.status}, and should be {' or '.join(request.codes)}"


def _of_refusal(request: BadRequest, answer: Heard) -> Iterator[str]:
    if not request.is_api:
        if answer.status not in PAGES_REFUSE or b"Traceback" in answer.body:
            yield f"is {answer.status} on a page"
        return
    if request.method == "HEAD":
        return
    if answer.headers.get_content_type() != MEDIA_TYPE:
        yield f"{answer.status} is no problem but {answer.headers.get_content_type()}"
        return
    code = json.loads(answer.body)["code"]
    if code not in request.codes:
        yield f"is {code}, and should be {' or '.join(filter(None, request.codes)) or 'taken'}"
    if MEANING[Code(code)][0] != answer.status:
        yield f"is {code} with {answer.status}"


def _of_questions(door: Door, questions: list[BadQuestion]) -> Iterator[str]:
    for one in questions:
        body = json.dumps({"query": one.text}).encode()
        yield from _told(
            door, BadRequest(one.name, "POST", "/api/v1/query", (_JSON,), body, codes=(one.code,))
        )[1]
        if not _is_half(one.text):
            listing = f"/documents/?q={_percent(one.text[:1_500])}"
            yield from _told(door, BadRequest(one.name, "GET", listing, by="session"))[1]


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _on_pages(door: Door, one: BadQuestion) -> Iterator[str]:
    body = f"question={_percent(one.text)}".encode()
    for address in ("/", "/ask/stream/"):
        yield from _told(door, BadRequest(one.name, "POST", address, (_FORM,), body, "session"))[1]


def _of_names(door: Door, names: list[FileName]) -> Iterator[str]:
    for number, name in enumerate(names):
        answer, found = _told(door, _sent(name, "/api/v1/ingest", number))
        yield from found
        if answer.status == 202 and (code := json.loads(answer.body)["files"][0]["code"]) not in name.codes:
            yield f"{name.name}: {code or 'taken'}, and should be {' or '.join(name.codes)}"
        yield from _told(door, _sent(name, "/documents/upload/file/", number))[1]


def _sent(name: FileName, to: str, number: int) -> BadRequest:
    """Return the request that sends a short text under the name, each with words of its own."""
    words = f"Straw of lot {number} was stored for ninety days.".encode()
    kind = b"\r\nContent-Type: text/plain\r\n\r\n"
    head = b'--zz\r\nContent-Disposition: form-data; name="files"; filename="'
    body = head + name.sent + b'"' + kind + words + b"\r\n--zz--\r\n"
    by = "key" if to.startswith("/api/") else "session"
    codes = ("", "invalid_request", UNREADABLE)
    return BadRequest(name.name, "POST", to, (_PARTS,), body, by, codes=codes)
