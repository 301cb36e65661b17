"""docs/operating.md names every finding of the doctor and every job by the clock, and no other."""

import re
from pathlib import Path

from sci_rag_site.celery import SCHEDULE
from tests.integration.site.doctor_cases import QUICK, SLOW, TOLD

OPERATING = (Path(__file__).resolve().parents[2] / "docs/operating.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", OPERATING, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/operating.md has no section '{title}'"
    return found[1]


def test_every_finding_of_the_doctor_is_documented_and_no_other() -> None:
    told = set(re.findall(r"`([a-z][a-z: -]+)`", section("9 Doctor")))

    assert told - {"sci-rag doctor"} == {*(case.name for case in QUICK + SLOW), *TOLD}


def test_every_job_by_the_clock_is_documented_with_its_task_and_no_other() -> None:
    told = dict(re.findall(r"^\| `([a-z-]+)` \| `([a-z_.]+)` \|", section("By the clock"), re.MULTILINE))

    assert told == {name: entry["task"] for name, entry in SCHEDULE.items()}


def test_a_trouble_has_what_to_do() -> None:
    rows = [line for line in section("10 Trouble").splitlines() if line.startswith("| ")][2:]

    assert rows
    assert all(len([cell for cell in row.strip("|").split(" | ") if cell.strip()]) == 3 for row in rows)
