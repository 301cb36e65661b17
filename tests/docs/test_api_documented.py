"""docs/api.md says of the API what its description says: addresses, what they need, codes and bounds."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import resolve

from corpus.api.hygiene import MOST_BYTES, MOST_DEPTH
from corpus.api.problems import MEANING
from corpus.keys.permissions import ALL_PERMISSIONS
from corpus.upload_handlers import MOST_FILES
from sci_rag_site.api import described

ROOT = Path(__file__).resolve().parents[2]
API = (ROOT / "docs/api.md").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = json.loads(described())
ROWS = re.findall(r"^\| `(GET|POST) (/\S+)` \| `?([\w:]+)`? \|", API, re.MULTILINE)


def operations() -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path.removeprefix("/api/v1")): operation
        for path, methods in SCHEMA["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_is_documented_and_no_other() -> None:
    assert {(method, path) for method, path, _ in ROWS} == set(operations())


@pytest.mark.parametrize(("method", "path", "needs"), ROWS)
def test_what_an_operation_needs_is_what_its_view_asks_for(method: str, path: str, needs: str) -> None:
    address = re.sub(r"\{\w+\}", "00000000-0000-0000-0000-000000000000", f"/api/v1{path}")
    view = resolve(address).func.cls  # type: ignore[attr-defined]

    asked = view.permissions.get(method)

    assert needs == (str(asked) if asked else "nothing")
    assert operations()[method, path].get("security") == ([{"key": []}] if asked else None) or not asked


def test_every_code_is_documented_with_its_status() -> None:
    told = dict(re.findall(r"^\| `(\w+)` \| (\d{3}) \|", API, re.MULTILINE))

    assert told == {str(code): str(status) for code, (status, _) in MEANING.items()}


def test_every_permission_is_documented() -> None:
    told = re.findall(r"^\| `([\w]+:[\w]+)` \|", API, re.MULTILINE)

    assert told == [str(permission) for permission in ALL_PERMISSIONS]


def test_the_bounds_are_those_that_hold() -> None:
    query = SCHEMA["components"]["schemas"]["QueryAsked"]["properties"]

    assert (query["query"]["minLength"], query["query"]["maxLength"]) == (1, 2_000)
    assert (query["top_k"]["minimum"], query["top_k"]["maximum"]) == (1, 50)
    for said in ("1 to 2,000 characters", "1 to 50", f"{MOST_BYTES:,} bytes", f"{MOST_DEPTH} levels"):
        assert said in API
    assert f"up to {MOST_FILES} in the field" in API


def test_the_description_is_of_openapi_3_1_and_says_every_status_with_its_media_type() -> None:
    assert SCHEMA["openapi"] == "3.1.0"
    for name, operation in operations().items():
        for status, response in operation["responses"].items():
            kinds = set(response["content"])
            wanted = {"application/problem+json"} if status >= "400" else {"application/json"}
            assert kinds - {"text/event-stream"} == wanted, (name, status)
            assert "X-Request-ID" in response["headers"], (name, status)
