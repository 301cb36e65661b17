"""A sixth layer is one file and one line: those of docs/extending.md, added to a copy of the code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.db import connection

from corpus.models import Chunk
from corpus.rights import LicenseClass
from tests.factories.corpus import ChunkFactory

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(site.BASE_DIR)
# Everything but what the layer is added to.
LINKED = ("answers", "corpus", "domain", "evaluation", "sci_rag_site", "static", "templates", "tests")
PROGRAM = """
import json, sys
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
import django
django.setup()
from answers.wording import LAYERS as WORDS
from corpus.models import Document
from corpus.scope import scope
from retrieval import profiles
from retrieval.layers import title
from retrieval.retriever import retrieve

alone = {name: name == "title" for name in profiles.LAYERS}
narrow = scope(license_classes=["open_commercial"])

def ask(**options):
    return retrieve(question="Which beetles live in granaries?", **{"scope": scope(), **options}).as_dict()

told = {
    "layers": profiles.LAYERS,
    "words": str(WORDS["title"]),
    "deep": ask(profile="deep"),
    "alone": ask(switches=alone),
    "narrow": ask(switches=alone, scope=narrow),
    "denied": ask(switches=alone, scope=scope(license_classes=[])),
}
prompt = title._BY_TITLE
title._BY_TITLE = prompt.replace("SELECT chunk.id", "SELECT chunk.id, pg_sleep(60)")
assert title._BY_TITLE != prompt
interactive = profiles.PROFILES["interactive"]
profiles.PROFILES["interactive"] = profiles.Profile("interactive", interactive.layers, 1.0)
told["late"] = ask(switches={"title": True})
title._BY_TITLE, profiles.PROFILES["interactive"] = prompt, interactive
Document.objects.exclude(license_class="open_commercial").delete()
told["narrow, nothing else there"] = ask(switches=alone, scope=narrow)
print(json.dumps(told))
"""


def typed_from_the_page(copy: Path) -> None:
    """Make a copy of the code to which the page's file and line are added."""
    for name in LINKED:
        (copy / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "retrieval", copy / "retrieval", ignore=shutil.ignore_patterns("__pycache__"))
    page = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    section = page.partition("## A retrieval layer\n")[2].partition("\n## ")[0]
    module, line = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (copy / "retrieval/layers/title.py").write_text(module, encoding="utf-8")
    registered = copy / "retrieval/layers/registered.py"
    rows = registered.read_text(encoding="utf-8").removesuffix(")\n")
    registered.write_text(f"{rows}{line.rstrip()},)\n", encoding="utf-8")


def told_by(copy: Path) -> dict[str, Any]:
    """Ask the copy, in a process that knows no other."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(copy)}
    program = [sys.executable, "-c", PROGRAM, connection.settings_dict["NAME"]]
    said = subprocess.run(program, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr[-2000:]
    told: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    return told


def passage(title: str, license_class: LicenseClass) -> Chunk:
    return ChunkFactory(
        document__title=title,
        document__license_class=license_class.value,
        document__chunk_count=1,
        body=f"Weevils were counted every month. ({title})",
    )


def found(result: dict[str, Any]) -> set[str]:
    return {item["title"] for item in result["items"]}


def trace(result: dict[str, Any]) -> dict[str, Any]:
    (one,) = (trace for trace in result["traces"] if trace["stage"] == "title")
    return one


def without_clock(result: dict[str, Any]) -> dict[str, Any]:
    traces = [{**trace, "milliseconds": 0} for trace in result["traces"]]
    return {**result, "request_id": "", "traces": traces}


def test_one_file_and_one_line_of_the_page_are_a_sixth_layer(tmp_path: Path) -> None:
    passage("Granaries of the north", LicenseClass.OPEN_COMMERCIAL)
    passage("Granaries of the south", LicenseClass.RESTRICTED)
    passage("Sheds", LicenseClass.OPEN_COMMERCIAL)

    typed_from_the_page(tmp_path)
    told = told_by(tmp_path)

    assert told["layers"][-1] == "title"
    assert len(told["layers"]) == 6
    assert told["words"] == "titles"
    # The profile that searches every way searches this one, and says so.
    assert trace(told["deep"])["status"] == "ok"
    assert trace(told["deep"])["mode"] == "title words"
    assert all("title" in item["ranks"] for item in told["deep"]["items"])
    # A question retrieves by it alone.
    assert found(told["alone"]) == {"Granaries of the north", "Granaries of the south"}
    # The scope holds: by what is found, by every count, and as if nothing else had ever been there.
    assert found(told["narrow"]) == {"Granaries of the north"}
    assert trace(told["narrow"])["candidates"] == 1
    assert without_clock(told["narrow"]) == without_clock(told["narrow, nothing else there"])
    assert [(one["stage"], one["status"]) for one in told["denied"]["traces"]] == [("scope", "denied")]
    # The deadline holds: the database ends it, it is named, and the others' passages come.
    assert trace(told["late"])["status"] == "timeout"
    assert trace(told["late"])["milliseconds"] < 30_000
    assert told["late"]["degraded"] == ["title"]
    assert found(told["late"]) >= {"Granaries of the north", "Granaries of the south"}
