"""The normaliser held against the table of real signals that lies beside the checkout."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

from corpus.licensing import CrossrefLicense, normalise
from corpus.licensing.readings import OPEN


def test_no_ineligible_signal_is_open_and_nearly_all_have_their_class(shared_data: Path) -> None:
    with (shared_data / "licences" / "licence_strings.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    read = [(row, normalise(row["raw"])) for row in rows]

    false_open = [row["raw"] for row, reading in read if reading.is_open and row["class"] not in OPEN]
    exact = sum(reading.license_class == row["class"] for row, reading in read)
    flagged = [
        row["raw"]
        for row, reading in read
        if reading.is_open and reading.license_class == row["class"]
        if reading.no_derivatives != ("nd" in row["flags"].split("|"))
    ]

    assert (false_open, flagged) == ([], [])
    assert exact / len(rows) >= 0.98, f"{exact} of {len(rows)}"


def test_arrays_are_read_whole_and_none_opens_what_its_label_does_not(shared_data: Path) -> None:
    lines = (shared_data / "licences" / "crossref_licence_arrays.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    false_open, missed = [], []
    for row in rows:
        array = [
            CrossrefLicense(
                one["URL"], one["content_version"], date(*one["start"]) if one.get("start") else None
            )
            for one in row["licenses"]
        ]
        reading = normalise(array, on=date(2026, 1, 1))
        expected = row["expected_vor_class"] or "unknown"
        if reading.license_class != expected:
            missed.append((expected, reading.license_class.value))
        if reading.is_open and expected not in OPEN:
            false_open.append(row["DOI"])

    assert false_open == []
    # Terms of a publisher's own that the labels call unknown: stricter than need be at most.
    assert set(missed) <= {("unknown", "restricted")}
    assert len(missed) <= 3
