"""Documents, passages, works, notes and the state of things by key, and files that are sent."""

import hashlib
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from pytest_django.fixtures import Settings

from answers.notebook.models import Observation
from corpus.fingerprint import fingerprint
from corpus.keys.permissions import Permission
from corpus.models import Document, IngestionItem, IngestionRun
from corpus.rights import LicenseClass
from corpus.scope import Ceiling, scope
from corpus.upload_handlers import MOST_FILES
from tests.factories.corpus import ChunkFactory, DocumentFactory, EditorialEventFactory, SourceFactory
from tests.factories.keys import make_key
from tests.integration.api.calling import ROOT, Api

pytestmark = pytest.mark.django_db
TEXT = b"# Straw\n\nStraw was stored for a year and lost a tenth of its mass.\n"


def ids(response: HttpResponse) -> list[str]:
    assert response.status_code == 200
    return [item["id"] for item in response.json()["items"]]


class TestDocuments:
    def test_pages_have_one_order_and_together_every_document_once(self, asker: User) -> None:
        for number in range(7):
            DocumentFactory(title="The same title" if number % 2 else f"Title {number}")
        hidden = DocumentFactory(title="Hidden", license_class="restricted")
        api = Api.of(asker)

        pages = [api.get("/documents", page=number, page_size=3) for number in (1, 2, 3, 4)]

        told = [one for page in pages for one in ids(page)]
        assert len(told) == len(set(told)) == 7
        assert str(hidden.pk) not in told
        assert {page.json()["count"] for page in pages} == {7}
        assert told == ids(api.get("/documents", page_size=100))

    @pytest.mark.parametrize(
        ("parameters", "titles"),
        [
            ({"q": "straw"}, ["Straw"]),
            ({"q": "10.1234/ash"}, ["Ash"]),
            ({"license_class": "public"}, ["Ash"]),
            ({"bucket": "reports"}, ["Straw"]),
            ({"year_min": "2021"}, ["Straw"]),
            ({"year_max": "2020"}, ["Ash"]),
            ({"standing": "retracted"}, ["Ash"]),
            ({"q": "100%_"}, []),
        ],
    )
    def test_a_list_is_narrowed_by_its_parameters(
        self, asker: User, parameters: dict[str, str], titles: list[str]
    ) -> None:
        retracted = SourceFactory(is_retracted=True)
        DocumentFactory(title="Ash", doi="10.1234/ash", license_class="public", year=2019, source=retracted)
        DocumentFactory(title="Straw", bucket="reports", year=2022)

        told = Api.of(asker).get("/documents", **parameters).json()

        assert [item["title"] for item in told["items"]] == titles

    def test_a_document_names_its_passages_and_its_visible_versions(self, asker: User) -> None:
        newest = DocumentFactory(title="Newest", license_class="restricted")
        newer = DocumentFactory(title="Newer", status="superseded", superseded_by=newest)
        older = DocumentFactory(title="Older", status="superseded", superseded_by=newer)
        chunks = [ChunkFactory(document=newer, ordinal=number) for number in range(3)]

        told = Api.of(asker).get(f"/documents/{newer.pk}").json()

        assert told["chunks"] == [str(chunk.public_id) for chunk in chunks]
        assert (told["superseded_by"], told["supersedes"]) == (None, [str(older.pk)])
        assert told["badges"] == ["superseded"]

    def test_a_passage_comes_with_its_document_and_its_neighbours(self, asker: User) -> None:
        document = DocumentFactory(title="Straw")
        first, second, third = (ChunkFactory(document=document, ordinal=number) for number in range(3))

        told = Api.of(asker).get(f"/chunks/{second.public_id}").json()

        assert told["body"] == second.body
        assert told["document"]["title"] == "Straw"
        assert (told["previous"], told["next"]) == (str(first.public_id), str(third.public_id))

    def test_what_may_not_be_seen_answers_byte_for_byte_like_what_is_not_there(self, asker: User) -> None:
        hidden = DocumentFactory(license_class="restricted")
        passage = ChunkFactory(document=hidden)
        api = Api.of(asker)

        for kind, key in (("documents", hidden.pk), ("chunks", passage.public_id)):
            denied, absent = api.get(f"/{kind}/{key}"), api.get(f"/{kind}/{uuid.uuid4()}")
            assert (denied.status_code, denied.content) == (absent.status_code, absent.content)
            assert denied.status_code == 404
            assert {k: v for k, v in denied.headers.items() if k != "X-Request-ID"} == {
                k: v for k, v in absent.headers.items() if k != "X-Request-ID"
            }


def test_works_are_those_of_visible_documents_with_their_standing(asker: User) -> None:
    shown, hidden = SourceFactory(identifier_value="10.1/a", is_retracted=True), SourceFactory()
    EditorialEventFactory(source=shown)
    documents = [DocumentFactory(title=f"Version {n}", source=shown) for n in range(2)]
    DocumentFactory(title="Hidden", source=hidden, license_class="restricted")
    DocumentFactory(title="Also hidden", source=shown, license_class="unknown")
    SourceFactory(title="Merely cited")
    api = Api.of(asker)

    told = api.get("/sources").json()

    assert told["count"] == 1
    work = told["items"][0]
    assert (work["identifier"], work["retracted"]) == ("10.1/a", True)
    assert set(work["documents"]) == {str(document.pk) for document in documents}
    assert api.get("/sources", q="hidden").json()["count"] == 0
    assert api.get("/sources", q="version 1").json()["count"] == 1


@pytest.mark.django_db(transaction=True)
def test_the_state_and_the_manifest_are_of_what_the_key_may_see(librarian: User) -> None:
    DocumentFactory(license_class="public", chunk_count=3)
    DocumentFactory(license_class="restricted", chunk_count=4)
    key = make_key(librarian, ceiling=Ceiling((LicenseClass.PUBLIC,), None), requests_per_minute=9)
    api = Api(key.secret.reveal())

    status, manifest = api.get("/status").json(), api.get("/corpus-manifest").json()

    seen = fingerprint(scope(license_classes=["public"]))
    assert (status["documents"], status["passages"], status["fingerprint"]) == (1, 3, seen)
    assert (status["license_classes"], status["buckets"]) == (["public"], None)
    assert status["permissions"] == sorted(Permission)
    assert status["requests_per_minute"] == 9
    assert manifest["counts"] == {"documents": 1, "passages": 3, "citations": 0}
    assert manifest["fingerprint"] == seen
    assert manifest["licenses"]["documents"]["restricted"] == 0


class TestNotes:
    def test_a_note_is_kept_as_the_owners_and_listed(self, asker: User) -> None:
        api = Api.of(asker)

        kept = api.post("/notes", {"text": " Straw burns. ", "cites": ["10.1234/abc", "A handbook"]})

        told = kept.json()
        assert kept.status_code == 201
        note = Observation.objects.get(pk=told["id"])
        assert (note.owner, note.text, note.is_shared) == (asker, "Straw burns.", False)
        assert [source["identifier"] for source in told["sources"]] == ["doi:10.1234/abc", ""]
        assert ids(api.get("/notes", q="burns", whose="mine")) == [told["id"]]
        assert ids(api.get("/notes", kind="question")) == []

    def test_notes_of_others_are_read_when_they_are_shared(self, asker: User, librarian: User) -> None:
        other = Api.of(librarian)
        private = other.post("/notes", {"text": "Private."}).json()["id"]
        shared = other.post("/notes", {"text": "Shared.", "shared": True}).json()["id"]

        told = ids(Api.of(asker).get("/notes"))

        assert shared in told
        assert private not in told

    def test_an_answer_of_somebody_else_is_not_there(self, asker: User) -> None:
        refused = Api.of(asker).post("/notes", {"text": "x", "from_answer": str(uuid.uuid4())})

        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
        assert not Observation.objects.exists()

    def test_who_may_not_ask_keeps_no_notes(self, asker: User) -> None:
        asker.groups.clear()

        assert Api.of(asker).post("/notes", {"text": "x"}).status_code == 403


class TestFiles:
    @pytest.fixture(autouse=True)
    def media(self, settings: Settings, tmp_path: Path) -> None:
        settings.MEDIA_ROOT = tmp_path / "media"
        settings.SCI_RAG_MAX_UPLOAD_MB = 1

    def send(self, api: Api, *files: SimpleUploadedFile, **fields: Any) -> HttpResponse:
        return api.client.post(f"{ROOT}/ingest", {"files": list(files), **fields})

    def file(self, name: str = "straw.md", content: bytes = TEXT) -> SimpleUploadedFile:
        return SimpleUploadedFile(name, content)

    def test_files_are_handed_to_the_workers_and_the_run_can_be_followed(self, librarian: User) -> None:
        api = Api.of(librarian)

        sent = self.send(api, self.file(), self.file("bad.exe", b"MZ"), bucket="reports")

        told = sent.json()
        assert sent.status_code == 202
        assert [(line["name"], line["verdict"]) for line in told["files"]] == [
            ("straw.md", "accepted"),
            ("bad.exe", "refused"),
        ]
        run = IngestionRun.objects.get(pk=told["run"])
        assert run.started_by == librarian
        followed = api.get(f"/runs/{run.pk}").json()
        assert (followed["state"], followed["count"]) == ("running", 1)
        assert followed["items"][0]["path"] == "straw.md"
        assert IngestionItem.objects.get().described["bucket"] == "reports"

    def test_what_is_held_out_of_the_keys_sight_is_not_named(self, librarian: User) -> None:
        digest = hashlib.sha256(TEXT).hexdigest()
        DocumentFactory(title="Secret", file_sha256=digest, license_class="restricted")
        narrow = Api(make_key(librarian, ceiling=Ceiling((LicenseClass.PUBLIC,), None)).secret.reveal())

        line = self.send(narrow, self.file()).json()["files"][0]

        assert (line["verdict"], line["document"]) == ("duplicate", None)
        assert "Secret" not in str(line)
        assert "Secret" in str(self.send(Api.of(librarian), self.file()).json())

    def test_only_who_takes_documents_in_may_send(self, asker: User, librarian: User) -> None:
        for api in (Api.of(asker), Api.of(librarian, permissions=[Permission.READ])):
            refused = self.send(api, self.file())
            assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
        assert not IngestionRun.objects.exists()

    @pytest.mark.parametrize(
        "fields",
        [
            {"owner": "me"}, {"bucket": "x" * 200}, {"license_class": "cc-by-xyz"}, {"bucket": ["a", "b"]},
            {"license_class": "public"}, {"title": "a\0b"},
        ],
    )  # fmt: skip
    def test_fields_that_make_no_sense_are_refused(self, librarian: User, fields: dict[str, Any]) -> None:
        refused = self.send(Api.of(librarian), self.file(), **fields)

        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
        assert not IngestionRun.objects.exists()

    def test_no_file_too_many_and_too_large_ones_are_refused(self, librarian: User) -> None:
        api = Api.of(librarian)

        assert self.send(api).json()["errors"][0]["field"] == "files"
        assert api.post("/ingest", {}).status_code == 422
        assert api.client.post(f"{ROOT}/ingest", {"other": self.file()}).status_code == 422
        large = self.send(api, self.file("large.txt", b"x" * 1_000_001)).json()["files"]
        assert [(line["verdict"], line["code"]) for line in large] == [("refused", "too_large")]
        many = self.send(api, *(self.file(f"{n}.exe", b"MZ") for n in range(MOST_FILES + 1))).json()["files"]
        assert many[-1]["code"] == "too_many_files"

    def test_sent_bytes_count_for_the_keys_owner(self, librarian: User, settings: Settings) -> None:
        settings.SCI_RAG_UPLOAD_MB_PER_DAY = 0

        line = self.send(Api.of(librarian), self.file()).json()["files"][0]

        assert (line["verdict"], line["code"]) == ("refused", "over_quota")

    def test_runs_are_closed_to_whom_the_pages_close_them(self, asker: User) -> None:
        run = IngestionRun.objects.create(origin="upload", parameters={"process": None})
        api = Api.of(asker)

        assert api.get(f"/runs/{run.pk}").content == api.get(f"/runs/{uuid.uuid4()}").content


def test_files_of_no_document_show_to_who_sent_them_and_not_to_a_narrower_key(librarian: User) -> None:
    """A ceiling of one bucket says nothing of a file whose bucket nobody can look up."""
    ceiling = Group.objects.get(name="librarian").ceiling
    ceiling.all_buckets, ceiling.buckets = False, ["reports"]
    ceiling.save()
    run, other = (
        IngestionRun.objects.create(origin="upload", started_by=who, parameters={"process": None})
        for who in (librarian, None)
    )
    for one in (run, other):
        IngestionItem.objects.create(run=one, path="secret.docx", outcome="failed", reason="damaged")
    narrow = Api(make_key(librarian).secret.reveal())

    from corpus import run_pages

    assert run_pages.rows(run, librarian).count() == 1
    assert run_pages.rows(other, librarian).count() == 0
    assert narrow.get(f"/runs/{run.pk}").json()["items"] == []
    assert Document.objects.count() == 0
