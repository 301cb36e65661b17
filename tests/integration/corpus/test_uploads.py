"""Sending files: what becomes of each, every refusal by name, and who may."""

import hashlib
import re
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from corpus import pipeline, storage
from corpus.jobs import Kind
from corpus.models import Document, GroupCeiling, IngestionItem, IngestionRun
from corpus.upload_handlers import MOST_FILES
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db
TEXT = b"# Straw\n\nStraw was stored for a year and lost a tenth of its mass.\n"


@pytest.fixture(autouse=True)
def media(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.SCI_RAG_MAX_UPLOAD_MB = 1


@pytest.fixture
def desk(client: Client, librarian: User) -> Client:
    client.force_login(librarian)
    return client


def file(name: str = "straw.md", content: bytes = TEXT) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def send(client: Client, *files: SimpleUploadedFile, **fields: str) -> object:
    return client.post(reverse("upload"), {"files": list(files), **fields})


def send_one(client: Client, content: SimpleUploadedFile, **fields: str) -> object:
    return client.post(reverse("upload_file"), {"files": content, **fields})


def lines(response: object) -> list[tuple[str, str, str]]:
    """Name, verdict and code of each line."""
    return [(line.name, line.verdict.value, line.code) for line in response.context["lines"]]  # type: ignore[attr-defined]


def held(content: bytes, **values: object) -> Document:
    return DocumentFactory(file_sha256=hashlib.sha256(content).hexdigest(), **values)


@pytest.mark.parametrize("route", ["upload", "upload_file", "upload_manifest"])
def test_only_those_who_take_documents_in_may_send_files(client: Client, asker: User, route: str) -> None:
    address = reverse(route)
    assert client.post(address, {"files": file()}).headers["Location"].startswith(reverse("login"))

    client.force_login(asker)

    assert client.get(address).status_code == 403
    assert client.post(address, {"files": file()}).status_code == 403
    assert not IngestionRun.objects.exists()
    assert not list(storage.root().glob("*/*/*"))


def test_the_way_to_the_page_is_shown_to_those_who_may(desk: Client, asker: User) -> None:
    assert reverse("upload") in desk.get(reverse("documents")).text
    desk.force_login(asker)
    assert reverse("upload") not in desk.get(reverse("documents")).text


def test_each_file_of_a_post_gets_its_line_and_the_good_ones_join_one_run(desk: Client) -> None:
    held(b"# Held\n\nheld already", title="Old straw")

    response = send(
        desk,
        file(),
        file("held.md", b"# Held\n\nheld already"),
        file("b.txt", b"Other words."),
        file("c.exe"),
    )

    assert lines(response) == [
        ("straw.md", "accepted", ""),
        ("held.md", "duplicate", "already_held"),
        ("b.txt", "accepted", ""),
        ("c.exe", "refused", "unsupported_file_type"),
    ]
    run = IngestionRun.objects.get()
    assert run.started_by.username == "librarian"
    assert sorted(run.items.values_list("path", flat=True)) == ["b.txt", "straw.md"]
    assert all(storage.path_of(item.file_sha256).is_file() for item in run.items.all())
    assert str(run.pk) in response.text  # type: ignore[attr-defined]


def test_a_duplicate_is_named_with_a_link(desk: Client) -> None:
    document = held(TEXT, title="Old straw")

    text = send(desk, file()).text  # type: ignore[attr-defined]

    assert "Old straw" in text
    assert reverse("document", args=[document.id]) in text
    assert not IngestionRun.objects.exists()


def test_a_duplicate_out_of_the_senders_ceiling_is_not_named(desk: Client, librarian: User) -> None:
    GroupCeiling.objects.filter(group__name="librarian").update(license_classes=["public"])
    document = held(TEXT, title="Secret straw", license_class="restricted")

    response = send(desk, file())

    assert lines(response) == [("straw.md", "duplicate", "already_held")]
    assert "Secret" not in response.text  # type: ignore[attr-defined]
    assert str(document.id) not in response.text  # type: ignore[attr-defined]


def test_a_class_declared_for_a_file_that_is_held_is_left_to_the_worker_to_compare(desk: Client) -> None:
    held(TEXT)

    response = send(desk, file(), license_class="restricted", license_source="A letter")

    assert lines(response) == [("straw.md", "duplicate", "already_held")]
    assert IngestionItem.objects.get().described["license_class"] == "restricted"


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.pdf", b"<html><body>Please sign in</body></html>", "wrong_signature"),
        ("a.pdf", b"PK\x03\x04 and so on", "wrong_signature"),
        ("a.txt", b"%PDF-1.7 and so on", "wrong_signature"),
        ("a.md", b"\x7fELF\x02\x01\x01\x00", "wrong_signature"),
        ("a.html", b"\x89PNG\r\n\x1a\n" + bytes(100), "wrong_signature"),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "unsupported_file_type"),
        ("a", TEXT, "unsupported_file_type"),
        ("a.pdf.exe", b"%PDF-1.7", "unsupported_file_type"),
        ("a.md", b"", "empty_file"),
        ("a.md", b"x" * 1_000_001, "too_large"),
    ],
)
def test_what_cannot_be_taken_in_is_refused_by_name(
    desk: Client, name: str, content: bytes, code: str
) -> None:
    response = send(desk, file(name, content))

    assert lines(response) == [(name, "refused", code)]
    assert not IngestionRun.objects.exists()
    assert not list(storage.root().glob("*/*/*"))


def test_the_size_limit_is_named_in_the_refusal(desk: Client) -> None:
    assert "larger than 1 MB" in send(desk, file("a.md", b"x" * 1_000_001)).text  # type: ignore[attr-defined]


def test_more_files_than_one_request_may_have_are_refused_by_name(desk: Client) -> None:
    response = send(desk, *(file(f"{n}.md", TEXT + b"%d" % n) for n in range(MOST_FILES + 2)))

    found = lines(response)
    assert [line[1] for line in found].count("accepted") == MOST_FILES
    assert found[-2:] == [
        (f"{MOST_FILES}.md", "refused", "too_many_files"),
        (f"{MOST_FILES + 1}.md", "refused", "too_many_files"),
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd.md", "passwd.md"),
        ("..\\..\\boot.md", "boot.md"),
        ("CON.md", "CON.md"),
        ("<img src=x onerror=alert(1)>.md", "&lt;img src=x onerror=alert(1)&gt;.md"),
        ("{{ 7|add:7 }}.md", "{{ 7|add:7 }}.md"),
        ("exe.\u202edm.md", "exe.dm.md"),
        ("a\tb.md", "ab.md"),
        ("-rf.md", "-rf.md"),
        (".md.md", ".md.md"),
        ("ü" * 400 + ".md", "ü" * 252 + ".md"),
        ("a." + "m" * 800, "unsupported_file_type"),
    ],
)
def test_hostile_names_are_shown_as_text_and_name_nothing_on_disk(
    desk: Client, name: str, shown: str
) -> None:
    boundary = "bounds"
    body = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode()
        + TEXT
        + f"\r\n--{boundary}--\r\n".encode()
    )

    response = desk.post(
        reverse("upload"), data=body, content_type=f"multipart/form-data; boundary={boundary}"
    )

    assert response.status_code == 200
    assert shown in response.text
    assert "<img" not in response.text
    assert all(re.fullmatch("[0-9a-f]{64}", path.name) for path in storage.root().glob("*/*/*"))


def test_a_post_without_files_says_so(desk: Client) -> None:
    response = desk.post(reverse("upload"), {"bucket": "reports"})

    assert response.status_code == 422
    assert "No file was sent" in response.text
    assert 'value="reports"' in response.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"license_class": "public"}, "Give the evidence"),
        ({"license_class": "restricted"}, "Give the evidence"),
        ({"license_class": "cc-by"}, "cc-by"),
        ({"bucket": "x" * 101}, "longer than 100"),
        ({"bucket": "a\x01b"}, "control characters"),
        ({"title": "x" * 1001}, "longer than 1,000"),
    ],
)
def test_what_is_said_wrongly_takes_nothing_in(desk: Client, fields: dict[str, str], words: str) -> None:
    assert words in send(desk, file(), **fields).text  # type: ignore[attr-defined]
    one = send_one(desk, file(), **fields)
    assert one.status_code == 422  # type: ignore[attr-defined]
    assert words in one.text  # type: ignore[attr-defined]
    assert not IngestionRun.objects.exists()


def test_what_is_said_goes_with_the_file(desk: Client) -> None:
    send(
        desk, file(), title="Straw in stores", bucket="reports",
        license_class="open_commercial", license_source="https://creativecommons.org/licenses/by/4.0/",
    )  # fmt: skip

    described = IngestionItem.objects.get().described
    assert described["title"] == "Straw in stores"
    assert described["bucket"] == "reports"
    assert described["license_class"] == "open_commercial"


def test_a_title_is_about_one_file(desk: Client) -> None:
    send(desk, file(), file("b.md", b"# B\n\nOther words stand here."), title="Straw in stores")

    assert not any(item.described.get("title") for item in IngestionItem.objects.all())


def test_who_may_not_change_licences_may_not_declare_them(client: Client, asker: User) -> None:
    asker.user_permissions.add(Permission.objects.get(codename="add_ingestionrun"))
    client.force_login(asker)

    assert "id_license_class" not in client.get(reverse("upload")).text
    assert "may not declare" in send(client, file(), license_class="public", license_source="x").text  # type: ignore[attr-defined]
    assert not IngestionRun.objects.exists()


def test_files_sent_one_by_one_join_the_run_of_the_first(desk: Client) -> None:
    first = send_one(desk, file(), single="1", title="Straw in stores")
    run = IngestionRun.objects.get()

    second = send_one(desk, file("b.md", b"# B\n\nOther words stand here."), run=str(run.pk))

    assert 'class="upload-line accepted"' in first.text  # type: ignore[attr-defined]
    assert f'data-run="{run.pk}"' in second.text  # type: ignore[attr-defined]
    assert "<html" not in second.text  # type: ignore[attr-defined]
    assert run.items.count() == 2
    assert run.items.get(path="straw.md").described["title"] == "Straw in stores"


def test_nobody_adds_to_the_run_of_another(desk: Client, administrator: User) -> None:
    send_one(desk, file())
    first = IngestionRun.objects.get()
    desk.force_login(administrator)

    send_one(desk, file("b.md", b"# B\n\nOther words stand here."), run=str(first.pk))

    assert first.items.count() == 1
    assert IngestionRun.objects.count() == 2


@pytest.mark.parametrize("run", ["x", "00000000-0000-0000-0000-000000000000", "\0"])
def test_a_run_that_is_none_begins_a_new_one(desk: Client, run: str) -> None:
    assert send_one(desk, file(), run=run).status_code == 200  # type: ignore[attr-defined]
    assert IngestionRun.objects.count() == 1


def test_a_cancelled_run_takes_no_more_files(desk: Client) -> None:
    send_one(desk, file())
    run = IngestionRun.objects.get()
    IngestionRun.objects.update(state=IngestionRun.State.CANCELLED)

    response = send_one(desk, file("b.md", b"# B\n\nOther words stand here."), run=str(run.pk))

    assert "run_cancelled" in response.text  # type: ignore[attr-defined]
    assert run.items.count() == 1


def test_one_file_that_is_too_large_is_refused_by_name(desk: Client) -> None:
    response = send_one(desk, file("a.md", b"x" * 1_000_001))

    assert response.status_code == 200  # type: ignore[attr-defined]
    assert "too_large" in response.text  # type: ignore[attr-defined]


def test_a_request_of_one_file_without_a_file_says_so(desk: Client) -> None:
    assert desk.post(reverse("upload_file"), {}).status_code == 422
    assert desk.get(reverse("upload_file")).status_code == 405


def test_a_form_that_is_not_what_it_says_is_no_error_of_ours(desk: Client) -> None:
    name = b"n" * 4_000
    for body in (
        b"",
        b"--x",
        b"--bounds\r\nContent-Disposition: form-data; name=files; filename=" + name,
        b"--bounds\r\nContent-Disposition: form-data; name=files; filename=a\r\n",
    ):
        response = desk.post(
            reverse("upload"), data=body, content_type="multipart/form-data; boundary=bounds"
        )
        assert response.status_code in (400, 422)


@pytest.mark.django_db(transaction=True)
def test_a_file_ends_as_a_document_under_the_name_its_sender_gave_it(desk: Client) -> None:
    send(
        desk, file("Straw storage.md"), bucket="reports",
        license_class="public", license_source="17 USC 105",
    )  # fmt: skip

    while any(pipeline.work(kind=kind) for kind in Kind):
        pass

    document = Document.objects.get()
    assert (document.state, document.file_name, document.bucket) == ("ready", "Straw storage.md", "reports")
    decision = document.rights_decisions.get()
    assert (decision.to_class, decision.decided_by_name) == ("public", "librarian")
    assert lines(send(desk, file("again.md"))) == [("again.md", "duplicate", "already_held")]
