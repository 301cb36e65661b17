"""Schemathesis on every operation of the description, with every kind of key: nothing fails on our side.

What it looks for: answers of 500 and more, statuses, media types, headers and bodies that the description
does not have, methods that are taken though they are not described, and data taken that it does not allow.
Left out is the check that all data which the schema allows is accepted: a question of zero-width characters
is a text of the right length and still none.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connections
from pytest_django.fixtures import Settings

from corpus.keys.models import KeyUse
from corpus.keys.permissions import ALL_PERMISSIONS, Permission
from corpus.models import Chunk, Document, IngestionRun
from corpus.rights import LicenseClass
from corpus.scope import EVERYTHING, Ceiling
from tests.factories.keys import make_key
from tests.loopback import served
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "response_headers_conformance", "unsupported_method",
    "negative_data_rejection", "ignored_auth",
)  # fmt: skip
# Whose key, what it may do, what it may see.
KINDS: dict[str, tuple[str, tuple[Permission, ...], Ceiling] | None] = {
    "all that a librarian may": ("librarian", ALL_PERMISSIONS, EVERYTHING),
    "all that an asker may": ("asker", ALL_PERMISSIONS, EVERYTHING),
    "public, of a librarian": ("librarian", ALL_PERMISSIONS, Ceiling((LicenseClass.PUBLIC,), None)),
    "nothing, of a librarian": ("librarian", ALL_PERMISSIONS, Ceiling((), ())),
    **{f"only {one}": ("librarian", (one,), EVERYTHING) for one in ALL_PERMISSIONS},
    "no permission": ("librarian", (), EVERYTHING),
    "no key": None,
}
QUICK = ("--phases", "examples,fuzzing", "--max-examples", "2")
MORE = ("--phases", "examples,fuzzing", "--max-examples", "25")
THOROUGH = ("--phases", "examples,coverage,fuzzing", "--max-examples", "100")
THOROUGHLY = "all that a librarian may"


@contextmanager
def passing_time() -> Iterator[None]:
    """Let a minute pass every second: what is looked for is not the limit."""
    over = threading.Event()

    def forget() -> None:
        while not over.wait(1.0):
            KeyUse.objects.all().delete()
            connections.close_all()

    thread = threading.Thread(target=forget, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def tried(kind: str, people: dict[str, User], folder: Path, *options: str) -> str:
    """Run schemathesis with a key of this kind; return what it said. What it finds fails the test."""
    wanted = KINDS[kind]
    header: list[str] = []
    if wanted is not None:
        owner, permissions, ceiling = wanted
        secret = make_key(people[owner], permissions=permissions, ceiling=ceiling).secret.reveal()
        header = ["--header", f"Authorization: Bearer {secret}"]
    checks = [name for name in CHECKS if wanted is not None or name != "ignored_auth"]
    with served.site() as address, passing_time():
        (folder / "openapi.json").write_text(json.dumps(described_with_rows()))
        ended = subprocess.run(
            [str(Path(sys.executable).with_name("st")), "run", str(folder / "openapi.json"),
             "--url", address, *header, "--checks", ",".join(checks), "--continue-on-failure",
             "--seed", "1", "--generation-database", "none", "--warnings", "off",
             "--request-timeout", "60", *options],
            cwd=folder, capture_output=True, text=True, timeout=1_500, check=False,
        )  # fmt: skip
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-6_000:]
    return said


def described_with_rows() -> dict[str, object]:
    """Return the description with the ids of rows there are as examples, so that they are asked for too."""
    from sci_rag_site.api import described

    schema: dict[str, dict[str, dict[str, dict[str, list[dict[str, object]]]]]] = json.loads(described())
    known = {
        "document_id": list(Document.objects.values_list("pk", flat=True)),
        "passage_id": list(Chunk.objects.values_list("public_id", flat=True)),
        "run_id": list(IngestionRun.objects.values_list("pk", flat=True)) or [uuid.uuid4()],
    }
    for methods in schema["paths"].values():
        for parameter in methods.get("get", {}).get("parameters", []):
            if parameter["name"] in known:
                rows = known[str(parameter["name"])]
                parameter["examples"] = {str(n): {"value": str(row)} for n, row in enumerate(rows)}
    return schema  # type: ignore[return-value]


def cases_of(said: str) -> int:
    """Return how many requests were made."""
    return sum(int(number.replace(",", "")) for number in re.findall(r"([\d,]+) generated", said))


@pytest.fixture
def people(
    librarian: User,
    asker: User,
    small_corpus: dict[str, Document],
    configured_model: OpenAIServer,
    settings: Settings,
    tmp_path: Path,
) -> Iterator[dict[str, User]]:
    settings.MEDIA_ROOT = tmp_path / "media"
    # A model that is not set up is a 503 by the specification, and no fault of ours.
    configured_model.will(says("It is so [1]."))
    IngestionRun.objects.create(origin="upload", state="finished", parameters={"process": None})
    yield {"librarian": librarian, "asker": asker}
    forget_clients()


def test_a_little_of_every_operation_finds_nothing(people: dict[str, User], tmp_path: Path) -> None:
    said = tried(THOROUGHLY, people, tmp_path, *QUICK)

    assert cases_of(said) > 25, said


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_operation_with_every_kind_of_key_finds_nothing(
    people: dict[str, User], tmp_path: Path, kind: str
) -> None:
    said = tried(kind, people, tmp_path, *(THOROUGH if kind == THOROUGHLY else MORE))

    assert cases_of(said) > (1_000 if kind == THOROUGHLY else 200), said
