"""The manifest: every problem is named with its line and code, and no path leaves the folder."""

import json
from pathlib import Path

import pytest
from django.conf import settings

from corpus.manifest import MAX_LINE_BYTES, Code, Manifest, read, read_text
from corpus.rights import LicenseClass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "collection"
    inside.mkdir()
    for name in ("a.md", "b.md", "c.md"):
        (inside / name).write_text(f"# {name}\n\nText.")
    (tmp_path / "secret.md").write_text("not yours")
    return inside


def written(folder: Path, *rows: object) -> Manifest:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path = folder / "manifest.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(path)


def codes(manifest: Manifest) -> list[tuple[int, str]]:
    return [(problem.line, str(problem.code)) for problem in manifest.problems]


def test_a_full_entry_is_read_with_every_field(folder):
    manifest = written(
        folder,
        "# a remark",
        "",
        {
            "path": "a.md", "title": "A  title", "authors": ["Ann Bee", "C. Dee"], "year": 2020,
            "doi": "https://doi.org/10.1000/ABC", "journal": "J", "url": "https://example.org/a",
            "license_class": "open_commercial", "license_source": "CC BY 4.0", "source": "reports",
            "version": "2", "supersedes": "10.1000/old", "language": "en-US",
        },
    )  # fmt: skip

    (entry,) = manifest.entries
    assert manifest.problems == []
    assert (entry.path, entry.name, entry.line) == (folder / "a.md", "a.md", 3)
    assert entry.described.title == "A title"
    assert entry.described.license_class is LicenseClass.OPEN_COMMERCIAL
    assert entry.described.bucket == "reports"
    assert entry.described.language == "en"
    assert entry.described.doi == "https://doi.org/10.1000/ABC"


def test_all_problems_of_all_lines_are_reported_at_once(folder):
    manifest = written(
        folder,
        {"path": "missing.md", "title": "A"},
        {"path": "a.md", "title": "A"},
        {"path": "./a.md", "title": "A again"},
        {"path": "b.md", "title": "B", "license_class": "free"},
        {"path": "b.md"},
        {"path": "c.docm", "title": "C"},
        {"path": "c.md", "title": "C", "year": "2020", "doi": "none"},
        ["a list"],
        "{broken",
        {"path": "../secret.md", "title": "S"},
        {"path": "c.md", "title": "C", "colour": "blue"},
    )

    assert codes(manifest) == [
        (1, "missing_file"), (3, "duplicate_path"), (4, "unknown_license_class"), (5, "missing_title"),
        (5, "duplicate_path"), (6, "unsupported_file_type"), (7, "invalid_field"), (7, "invalid_field"),
        (8, "not_an_object"), (9, "invalid_json"), (10, "outside_folder"), (11, "unknown_key"),
        (11, "duplicate_path"),
    ]  # fmt: skip
    assert [entry.line for entry in manifest.entries] == [2]
    assert manifest.has_errors


def test_a_missing_title_is_reported_and_the_file_may_state_its_own(folder):
    manifest = written(folder, {"path": "a.md"})

    assert codes(manifest) == [(1, "missing_title")]
    assert manifest.has_errors
    assert len(manifest.entries) == 1


def test_an_unknown_key_is_only_a_warning(folder):
    manifest = written(folder, {"path": "a.md", "title": "A", "note": 1})

    assert codes(manifest) == [(1, "unknown_key")]
    assert not manifest.has_errors
    assert len(manifest.entries) == 1


@pytest.mark.parametrize(
    "name", ["../secret.md", "/etc/passwd", "x/../../secret.md", "link.md", "up/secret.md"]
)
def test_no_path_leaves_the_manifests_folder(folder, name):
    (folder / "link.md").symlink_to(folder.parent / "secret.md")
    (folder / "up").symlink_to(folder.parent)

    manifest = written(folder, {"path": name, "title": "S"})

    assert codes(manifest) == [(1, "outside_folder")]
    assert manifest.entries == []


def test_a_link_within_the_folder_is_the_file_it_points_at(folder):
    (folder / "link.md").symlink_to(folder / "a.md")

    manifest = written(folder, {"path": "a.md", "title": "A"}, {"path": "link.md", "title": "L"})

    assert codes(manifest) == [(2, "duplicate_path")]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("[" * 10_000 + "]" * 10_000, Code.INVALID_JSON),
        ('{"path": "a.md", "title": ' + "[" * 10_000, Code.INVALID_JSON),
        ('{"path": "a.md", "title": "A", "title": "B"}', Code.INVALID_JSON),
        ('{"path": "a.md", "title": "A", "year": NaN}', Code.INVALID_JSON),
        ('{"path": "a.md", "title": "A", "year": 1' + "0" * 5_000 + "}", Code.INVALID_JSON),
        ('{"path": "a.md", "title": "A", "year": true}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "A", "year": -1}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "\\u0000"}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "\\ud800"}', Code.INVALID_FIELD),
        ('{"path": "a.md\\u0000", "title": "A"}', Code.INVALID_FIELD),
        ('{"path": ["a.md"], "title": "A"}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "A", "url": "javascript:alert(1)"}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "A", "url": "https://[broken"}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "A", "authors": "Ann"}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "A", "authors": [1]}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "A", "language": "../x"}', Code.INVALID_FIELD),
        ('{"path": "a.md", "title": "A", "license_class": "Public"}', Code.UNKNOWN_LICENSE_CLASS),
        ('{"path": "a.md", "title": "' + "x" * MAX_LINE_BYTES + '"}', Code.TOO_LARGE),
        ('{"path": "' + "d/" * 3_000 + 'a.md", "title": "A"}', Code.MISSING_FILE),
        ("null", Code.NOT_AN_OBJECT),
    ],
)
def test_hostile_lines_are_refused_by_name(folder, line, code):
    manifest = written(folder, line)

    assert [problem.code for problem in manifest.problems] == [code]
    assert manifest.entries == []


def test_half_a_character_in_a_manifest_that_was_sent_is_a_problem_of_its_line(folder):
    lines = ["\ud800", '{"path": "a.md", "title": "\ud800"}', '{"path": "\ud800.md", "title": "A"}']

    manifest = read_text("\n".join(lines), {"a.md": folder / "a.md"})

    assert codes(manifest) == [(1, "invalid_json"), (2, "invalid_field"), (3, "missing_file")]
    assert manifest.entries == []


def test_a_manifest_that_cannot_be_read_is_one_problem(tmp_path):
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"path": "caf\xe9.md"}'.encode("latin-1"))

    assert codes(read(tmp_path / "nowhere.jsonl")) == [(0, "unreadable")]
    assert codes(read(tmp_path)) == [(0, "unreadable")]
    assert codes(read(latin)) == [(0, "unreadable")]


def test_the_demo_manifest_has_no_problems():
    manifest = read(settings.BASE_DIR / "domain" / "demo" / "manifest.jsonl")

    assert manifest.problems == []


@pytest.mark.parametrize(
    ("declared", "signal", "flagged"),
    [
        ("open_commercial", "CC BY-NC 4.0", True),
        ("public", "All rights reserved", True),
        ("open_commercial", "cc-by-xyz", True),
        ("open_noncommercial", "CC BY-NC 4.0", False),
        ("restricted", "CC BY 4.0", False),
        ("restricted", "letter of the publisher", False),
        ("unknown", "", False),
        ("public", "", False),
    ],
)
def test_a_class_that_allows_more_than_its_signal_is_flagged_and_taken_in(folder, declared, signal, flagged):
    row = {"path": "a.md", "title": "A", "license_class": declared}
    manifest = written(folder, row | ({"license_source": signal} if signal else {}))

    assert codes(manifest) == ([(1, "looser_than_its_signal")] if flagged else [])
    assert all(problem.is_warning for problem in manifest.problems)
    assert len(manifest.entries) == 1


@pytest.mark.parametrize(
    ("row", "errors"),
    [
        ({"embargo_until": "2030-01-31"}, 0),
        ({"embargo_until": "2030-01-31", "license_class": "restricted"}, 0),
        ({"embargo_until": "2030-01-31", "license_class": "public"}, 1),
        ({"embargo_until": "31.1.2030"}, 1),
        ({"embargo_until": "2030-02-30"}, 1),
        ({"embargo_until": 2030}, 1),
    ],
)
def test_an_embargo_is_a_day_and_goes_with_no_class_that_allows_more(folder, row, errors):
    manifest = written(folder, {"path": "a.md", "title": "A"} | row)

    assert codes(manifest) == [(1, "invalid_field")] * errors
    assert len(manifest.entries) == 1 - errors
