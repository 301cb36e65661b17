"""A library in the browser: what importing it would do, every refusal by name, and the run that does it."""

import hashlib
import io
import re
import zipfile
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from corpus import library_upload, pipeline, storage
from corpus.jobs import Kind
from corpus.models import Document, GroupCeiling, IngestionItem, IngestionRun, Source
from tests.factories.corpus import DocumentFactory, SourceFactory

pytestmark = pytest.mark.django_db

STRAW = b"# Straw\n\nStraw was stored for a year and lost a tenth of its mass.\n"
LIBRARY = """
@article{held, title = {Storing Straw}, author = {Doe, Ann}, year = 2010, doi = {10.1000/abc},
  rights = {CC BY 4.0}, file = {files/1/straw.md}}
@misc{preprint, title = {Reed}, eprint = {2101.00001}, archiveprefix = {arXiv}, file = {files/2/reed.md}}
@misc{gone, title = {Gone}, file = {files/3/gone.pdf}}
@misc{evil, title = {Evil}, file = {/etc/passwd}}
@misc{macro, title = {Macro}, file = {files/4/x.exe}}
"""


@pytest.fixture(autouse=True)
def media(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def desk(client: Client, librarian: User) -> Client:
    client.force_login(librarian)
    return client


def export(library: str = LIBRARY, name: str = "lib.bib", **more: bytes) -> SimpleUploadedFile:
    files = {
        "files/1/straw.md": STRAW,
        "files/2/reed.md": b"# Reed\n\nReed canary grass was cut twice a year for three years.\n",
        "files/4/x.exe": b"MZ",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"My Library/{name}", library)
        for path, content in (files | more).items():
            archive.writestr(f"My Library/{path}", content)
    return SimpleUploadedFile("export.zip", buffer.getvalue())


def alone(text: str | bytes, name: str = "lib.bib") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def post(client: Client, file: SimpleUploadedFile | None = None, **fields: str) -> object:
    return client.post(reverse("upload_library"), ({"library": file} if file else {}) | fields)


def found(response: object) -> library_upload.Examined:
    return response.context["found"]  # type: ignore[attr-defined,no-any-return]


def states(response: object) -> dict[str, list[tuple[str, str]]]:
    return {
        row.record.key: [(file.state.value, file.code) for file in row.files] for row in found(response).rows
    }


def work() -> None:
    for kind in (Kind.PARSE, Kind.EMBED, Kind.SETTLE):
        while pipeline.work(kind=kind):
            pass


def test_a_preview_names_every_file_and_writes_nothing(desk: Client) -> None:
    DocumentFactory(title="Old straw", file_sha256=hashlib.sha256(STRAW).hexdigest())
    before = Source.objects.count()

    response = post(desk, export())

    assert response.status_code == 200  # type: ignore[attr-defined]
    assert states(response) == {
        "held": [("held", "already_held")],
        "preprint": [("found", "")],
        "gone": [("missing", "missing_file")],
        "evil": [("refused", "outside_folder")],
        "macro": [("refused", "unsupported_file_type")],
    }
    assert (found(response).records, found(response).works, found(response).stating) == (5, 2, 1)
    assert "Old straw" in response.text  # type: ignore[attr-defined]
    assert Source.objects.count() == before
    assert not IngestionRun.objects.exists()


def test_confirming_goes_to_a_run_that_takes_the_files_in_with_what_their_records_say(desk: Client) -> None:
    token = found(post(desk, export())).token

    response = post(desk, kept=token, bucket="zotero", do="take")

    run = IngestionRun.objects.get()
    assert response.headers["Location"] == reverse("run", args=[run.pk])  # type: ignore[attr-defined]
    assert (run.origin, run.started_by.username) == ("library export.zip", "librarian")
    work()
    items = {item.path: (item.outcome, item.reason) for item in run.items.all()}
    assert items == {
        "files/1/straw.md": ("ready", ""),
        "files/2/reed.md": ("ready", ""),
        "files/3/gone.pdf": ("failed", "missing_file"),
        "/etc/passwd": ("failed", "outside_folder"),
        "files/4/x.exe": ("failed", "unsupported_file_type"),
    }
    straw, reed = Document.objects.get(doi="10.1000/abc"), Document.objects.get(title="Reed")
    assert (straw.license_class, straw.license_source, straw.bucket) == ("unknown", "CC BY 4.0", "zotero")
    assert (reed.source.identifier_type, reed.source.identifier_value) == ("arxiv", "2101.00001")
    page = desk.get(reverse("run", args=[run.pk])).text
    assert "outside_folder" in page
    assert "Record gone on line 5" in page


def test_importing_twice_changes_nothing_but_the_list_of_runs(desk: Client) -> None:
    token = found(post(desk, export())).token
    post(desk, kept=token, do="take")
    work()
    before = list(Document.objects.order_by("id").values()), list(Source.objects.order_by("id").values())

    post(desk, kept=token, do="take")
    work()

    assert before == (
        list(Document.objects.order_by("id").values()),
        list(Source.objects.order_by("id").values()),
    )
    outcomes = IngestionItem.objects.order_by("id").values_list("outcome", flat=True)
    assert list(outcomes)[-5:].count("duplicate") == 2


def test_a_library_without_files_registers_its_works(desk: Client) -> None:
    response = post(desk, alone(LIBRARY), do="take")

    assert response.context["taken"].works == 2  # type: ignore[attr-defined]
    assert set(Source.objects.values_list("identifier_value", flat=True)) == {"10.1000/abc", "2101.00001"}
    assert not IngestionRun.objects.exists()


def test_a_work_of_which_a_document_is_held_is_named_within_the_ceiling_only(
    desk: Client, librarian: User
) -> None:
    source = SourceFactory(identifier_type="doi", identifier_value="10.1000/abc")
    DocumentFactory(title="Secret straw", source=source, license_class="restricted")
    assert "Secret straw" in post(desk, alone(LIBRARY)).text  # type: ignore[attr-defined]

    GroupCeiling.objects.filter(group__name="librarian").update(license_classes=["public"])

    assert "Secret straw" not in post(desk, alone(LIBRARY)).text  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        (alone("words"), "unknown_format", "neither BibTeX"),
        (alone(""), "unknown_format", ""),
        (alone("[{", "x.json"), "invalid_json", "Line 1: "),
        (alone('<!DOCTYPE r><rdf:RDF xmlns:rdf="x"/>', "x.rdf"), "broken_entry", "Line 1: "),
        (alone(b"\x00\xff" * 50, "x.zip"), "damaged", "is none"),
        (alone(b"PK\x03\x04 and so on", "x.zip"), "damaged", "cut off"),
        (alone(b"\x89PNG\r\n\x1a\n" + bytes(100), "x.bib"), "unknown_format", ""),
    ],
)
def test_what_is_no_library_is_refused_by_name_and_stays_chosen(
    desk: Client, file: SimpleUploadedFile, code: str, words: str
) -> None:
    file.seek(0)
    response = post(desk, file, bucket="reports")

    assert response.status_code == 422  # type: ignore[attr-defined]
    assert found(response).code == code
    assert words in found(response).error
    assert found(response).token
    assert 'value="reports"' in response.text  # type: ignore[attr-defined]


def test_what_was_refused_can_be_looked_at_again_with_another_encoding(desk: Client) -> None:
    text = "@book{k, title = {期刊}, isbn = {0306406152}}".encode("gbk")
    token = found(post(desk, alone(text))).token

    response = post(desk, kept=token, encoding="gbk")

    assert found(response).rows[0].record.title == "期刊"
    assert post(desk, kept=token, encoding="klingon").status_code == 422  # type: ignore[attr-defined]


def test_a_forged_or_foreign_or_old_token_fetches_nothing(desk: Client, administrator: User) -> None:
    token = found(post(desk, alone(LIBRARY))).token
    assert "not kept any more" in found(post(desk, kept="forged")).error
    desk.force_login(administrator)
    assert "not kept any more" in found(post(desk, kept=token)).error


def test_a_file_above_the_limit_keeps_the_one_chosen_before(desk: Client, settings: LazySettings) -> None:
    token = found(post(desk, alone(LIBRARY))).token
    settings.SCI_RAG_MAX_UPLOAD_MB = 1

    response = post(desk, alone("x" * 1_100_000), kept=token)

    assert response.status_code == 422  # type: ignore[attr-defined]
    assert "larger than 1 MB" in found(response).error
    assert found(response).token == token


def test_a_library_of_too_much_text_is_sent_to_the_command_line(desk: Client, monkeypatch) -> None:
    monkeypatch.setattr(library_upload, "MOST_LIBRARY_BYTES", 100)

    assert found(post(desk, alone(LIBRARY))).code == "too_large"


def test_a_file_that_is_refused_in_the_zip_is_told_at_its_record(
    desk: Client, settings: LazySettings
) -> None:
    settings.SCI_RAG_MAX_UPLOAD_MB = 1
    library = "@misc{big, title = {Big}, file = {files/9/big.pdf}}"

    response = post(desk, export(library, **{"files/9/big.pdf": b"%PDF-" + b"x" * 1_100_000}))

    assert states(response) == {"big": [("refused", "too_large")]}
    assert "larger than 1 MB" in response.text  # type: ignore[attr-defined]


def test_of_thousands_of_records_those_with_something_to_say_are_shown(desk: Client) -> None:
    rows = [f"@misc{{k{n}, title = {{T {n}}}, doi = {{10.1000/{n}}}}}" for n in range(3_000)]
    rows[1_500] = "@misc{odd, title = {Odd}, file = {a.pdf}}"

    response = post(desk, alone("\n".join(rows)))

    assert [row.record.key for row in found(response).rows] == ["odd"]
    assert found(response).left_out == 2_999
    assert found(response).works == 2_999


def test_words_of_a_library_are_shown_as_text(desk: Client) -> None:
    library = "@misc{<script>k, title = {<img src=x onerror=alert(1)>}, file = {<b>.exe}, doi={10.1000/<i>}}"

    text = post(desk, alone(library)).text  # type: ignore[attr-defined]

    assert not re.search(r"<img src=x|<script>k|<b>\.exe", text)


def test_the_form_asks_for_a_file(desk: Client) -> None:
    assert "Choose the file" in found(post(desk)).error


def test_nothing_is_left_in_the_folder_of_temporary_files(desk: Client, tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))

    post(desk, export(), do="take")

    assert list(folder.iterdir()) == []
    assert len(list(storage.root().glob("*/*/*"))) == 3


def test_only_those_who_take_documents_in_may_import(client: Client, asker: User) -> None:
    address = reverse("upload_library")
    assert client.get(address).headers["Location"].startswith(reverse("login"))
    client.force_login(asker)
    assert client.get(address).status_code == 403
    assert client.post(address, {"library": alone(LIBRARY)}).status_code == 403
    assert not list(storage.root().glob("*/*/*"))
