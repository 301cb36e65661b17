"""A manifest in the browser: every problem beside its line, and nothing taken in before it is right."""

import html
import json
import re
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from corpus import storage
from corpus.forms import MOST_MANIFEST_CHARACTERS
from corpus.manifest import Code
from corpus.manifest_upload import FIXES
from corpus.models import IngestionItem, IngestionRun

pytestmark = pytest.mark.django_db
STRAW = b"# Straw\n\nStraw was stored for a year and lost a tenth of its mass.\n"
BALES = b"# Bales\n\nBales were wrapped in film and kept dry under a roof.\n"


@pytest.fixture(autouse=True)
def media(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def desk(client: Client, librarian: User) -> Client:
    client.force_login(librarian)
    return client


def line(path: str, **fields: object) -> str:
    return json.dumps({"path": path, "title": f"About {path}"} | fields)


def post(client: Client, *rows: str, files: dict[str, bytes] | None = None, **fields: object) -> object:
    sent = [SimpleUploadedFile(name, content) for name, content in (files or {}).items()]
    return client.post(reverse("upload_manifest"), {"manifest": "\n".join(rows), "files": sent, **fields})


def codes(response: object) -> list[tuple[int, str]]:
    rows = response.context["found"].rows  # type: ignore[attr-defined]
    return [(row.number, problem.code.value) for row in rows for problem, _fix in row.problems]


def tokens(response: object) -> list[str]:
    return [token for _name, token in response.context["found"].tokens]  # type: ignore[attr-defined]


def test_every_problem_is_said_to_be_fixable_somehow() -> None:
    assert set(FIXES) == set(Code)


def test_all_problems_stand_beside_their_lines_at_once(desk: Client) -> None:
    response = post(
        desk,
        line("straw.md"),
        "# a remark",
        line("absent.md"),
        "{not json",
        line("../straw.md"),
        line("straw.md"),
        line("a.exe", license_class="cc-by", colour="red"),
        '{"path": "bales.md"}',
        files={"straw.md": STRAW, "bales.md": BALES},
    )

    assert response.status_code == 422  # type: ignore[attr-defined]
    assert codes(response) == [
        (3, "missing_file"),
        (4, "invalid_json"),
        (5, "outside_folder"),
        (6, "duplicate_path"),
        (7, "unknown_key"),
        (7, "unknown_license_class"),
        (7, "unsupported_file_type"),
        (8, "missing_title"),
    ]
    text = response.text  # type: ignore[attr-defined]
    assert "Add the file to this form, under the same name." in text
    assert "a remark" in text
    assert not IngestionRun.objects.exists()


def test_a_manifest_with_problems_takes_nothing_in_unless_its_good_lines_are_asked_for(desk: Client) -> None:
    rows = (line("straw.md", bucket="reports"), line("absent.md"))
    checked = post(desk, *rows, files={"straw.md": STRAW})

    assert post(desk, *rows, kept=tokens(checked), do="take").status_code == 422  # type: ignore[attr-defined]
    assert not IngestionRun.objects.exists()
    taken = post(desk, *rows, kept=tokens(checked), do="take_good")

    item = IngestionItem.objects.get()
    assert (item.path, item.line, item.described["bucket"]) == ("straw.md", 1, "reports")
    assert str(item.run_id) in taken.text  # type: ignore[attr-defined]


def test_a_clean_manifest_is_checked_first_and_taken_in_without_sending_the_files_again(desk: Client) -> None:
    rows = (line("papers/straw.md", license_class="public", license_source="17 USC 105"), line("bales.md"))
    checked = post(desk, *rows, files={"straw.md": STRAW, "bales.md": BALES})
    assert checked.status_code == 200  # type: ignore[attr-defined]
    assert "Take 2 documents in" in checked.text  # type: ignore[attr-defined]
    assert not IngestionRun.objects.exists()

    post(desk, *rows, kept=tokens(checked), do="take")

    items = IngestionItem.objects.order_by("line")
    assert [item.path for item in items] == ["papers/straw.md", "bales.md"]
    assert items[0].described["license_class"] == "public"
    assert storage.path_of(items[0].file_sha256).read_bytes() == STRAW


def test_files_are_added_over_several_checks(desk: Client) -> None:
    rows = (line("straw.md"), line("bales.md"))
    first = post(desk, *rows, files={"straw.md": STRAW})

    second = post(desk, *rows, files={"bales.md": BALES}, kept=tokens(first))

    assert codes(first) == [(2, "missing_file")]
    assert codes(second) == []


def test_the_file_of_a_manifest_takes_the_place_of_the_text(desk: Client) -> None:
    sent = SimpleUploadedFile("m.jsonl", b"\xef\xbb\xbf" + line("straw.md").encode() + b"\r\n")

    response = post(desk, "ignored", files={"straw.md": STRAW}, manifest_file=sent)

    assert codes(response) == []
    assert html.escape(line("straw.md")) in response.text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00x", "not UTF-8"),
        (b"x" * (MOST_MANIFEST_CHARACTERS + 1), "too long"),
        (b"", "has no entries"),
    ],
)
def test_a_manifest_that_cannot_be_read_says_why(desk: Client, content: bytes, words: str) -> None:
    response = post(desk, manifest_file=SimpleUploadedFile("m.jsonl", content))

    assert response.status_code == 422  # type: ignore[attr-defined]
    assert re.search(words, response.text)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark"])
def test_a_manifest_without_entries_says_so(desk: Client, text: str) -> None:
    response = post(desk, text)

    assert response.status_code == 422  # type: ignore[attr-defined]
    assert 'role="alert"' in response.text  # type: ignore[attr-defined]


def test_files_that_cannot_be_taken_in_are_named(desk: Client) -> None:
    response = post(desk, line("a.pdf"), files={"a.pdf": b"<html>sign in</html>"})

    assert codes(response) == [(1, "missing_file")]
    assert "wrong_signature" in response.text  # type: ignore[attr-defined]
    assert tokens(response) == []


def test_two_files_of_one_name_are_refused(desk: Client) -> None:
    sent = [SimpleUploadedFile("a.md", STRAW), SimpleUploadedFile("a.md", BALES)]

    response = desk.post(reverse("upload_manifest"), {"manifest": line("a.md"), "files": sent})

    assert response.text.count("duplicate_name") == 2
    assert codes(response) == [(1, "missing_file")]


def test_a_file_that_no_line_names_is_pointed_out(desk: Client) -> None:
    response = post(desk, line("straw.md"), files={"straw.md": STRAW, "bales.md": BALES})

    assert "No line that can be taken in names this file." in response.text  # type: ignore[attr-defined]


def test_what_one_person_sent_is_not_anothers_to_take_in(desk: Client, administrator: User) -> None:
    kept = tokens(post(desk, line("straw.md"), files={"straw.md": STRAW}))
    desk.force_login(administrator)

    response = post(desk, line("straw.md"), kept=kept, do="take")

    assert codes(response) == [(1, "missing_file")]
    assert not IngestionRun.objects.exists()


@pytest.mark.parametrize("token", ["x", "", "a:b:c", "\0"])
def test_a_forged_token_keeps_nothing(desk: Client, token: str) -> None:
    assert codes(post(desk, line("straw.md"), kept=[token], do="take")) == [(1, "missing_file")]


def test_who_may_not_change_licences_may_not_declare_them(client: Client, asker: User) -> None:
    asker.user_permissions.add(Permission.objects.get(codename="add_ingestionrun"))
    client.force_login(asker)
    rows = (line("straw.md", license_class="public"),)

    for wish in ("check", "take", "take_good"):
        response = post(client, *rows, files={"straw.md": STRAW}, do=wish)
        assert "may not declare" in response.text  # type: ignore[attr-defined]
    assert not IngestionRun.objects.exists()


def test_a_long_manifest_shows_the_lines_with_problems(desk: Client) -> None:
    rows = ["# remark"] * 1_000
    rows[700] = line("absent.md")

    response = post(desk, *rows)

    found = response.context["found"]  # type: ignore[attr-defined]
    assert [row.number for row in found.rows] == [701]
    assert found.left_out == 999


@pytest.mark.parametrize(
    "row",
    [
        "[" * 100_000,
        '{"path": "' + "a" * 100_000 + '.md"}',
        '{"path": "a\\u0000.md"}',
        '{"path": "\\ud800.md", "title": "\\ud800"}',
        '{"path": "<script>alert(1)</script>.md", "title": "</textarea><script>alert(1)</script>"}',
        '{"path": "x\\u202egnp.md", "title": "{{ 7|add:7 }}"}',
        '{"year": 1e999999, "path": "a.md"}',
        "\x01\x02 \u2028 \u2029 \ufeff",
    ],
)
def test_a_hostile_line_is_a_problem_and_no_more(desk: Client, row: str) -> None:
    response = post(desk, row, files={"straw.md": STRAW})

    assert response.status_code == 422  # type: ignore[attr-defined]
    assert "<script>alert" not in response.text  # type: ignore[attr-defined]
    assert not IngestionRun.objects.exists()
