"""Sending files and reading a page of an original, in a browser."""

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from playwright.sync_api import expect

from corpus import storage
from corpus.models import IngestionItem, IngestionRun
from tests.factories.corpus import ChunkFactory, DocumentFactory
from tests.functional.conftest import Visit
from tests.unit.corpus.parsing.drawing import Drawing

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def media(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.SCI_RAG_MAX_UPLOAD_MB = 1


@pytest.fixture
def papers(tmp_path: Path) -> list[Path]:
    """Three good files, one that is held, one of a wrong kind and one that is too large."""
    contents = {
        "one.md": b"# One\n\nStraw was stored for a year under a roof.\n",
        "two.txt": b"Bales were wrapped in film and kept dry for long.\n",
        "three.md": b"# Three\n\nThe third is about reed canary grass.\n",
        "held.md": b"# Held\n\nThis one is held already, they say.\n",
        "fake.pdf": b"<html><body>Please sign in</body></html>",
        "large.txt": b"x" * 1_000_001,
    }
    paths = []
    for name, content in contents.items():
        path = tmp_path / name
        path.write_bytes(content)
        paths.append(path)
    return paths


def hold(path: Path) -> None:
    DocumentFactory(title="Held since long", file_sha256=storage.hash_file(path))


def line(visit: Visit, name: str) -> object:
    return visit.page.locator("li.upload-line").filter(has=visit.page.get_by_text(name, exact=True))


def test_each_file_is_sent_by_itself_and_says_what_became_of_it(
    visit: Visit, librarian: User, papers: list[Path]
) -> None:
    hold(papers[3])
    visit.sign_in("librarian")
    visit.page.get_by_role("link", name="Documents").click()
    visit.page.get_by_role("link", name="Take documents in").click()

    visit.page.get_by_label("Files", exact=True).set_input_files(papers)
    expect(visit.page.locator("[data-summary]")).to_have_text("Chosen: 6.")
    visit.page.get_by_role("button", name="Leave out three.md").click()
    visit.page.get_by_role("button", name="Take in").click()

    expect(visit.page.locator("[data-summary]")).to_have_text("Done: 2 accepted, 1 held already, 2 refused.")
    expect(line(visit, "one.md")).to_contain_text("Accepted")
    expect(line(visit, "held.md").get_by_role("link", name="Show it")).to_be_visible()
    expect(line(visit, "held.md")).to_contain_text("Held since long")
    expect(line(visit, "fake.pdf")).to_contain_text("wrong_signature")
    expect(line(visit, "large.txt")).to_contain_text("larger than 1 MB")
    expect(visit.page.locator("#status")).to_contain_text("Done: 2 accepted")
    run = IngestionRun.objects.get()
    assert sorted(run.items.values_list("path", flat=True)) == ["one.md", "two.txt"]
    visit.page.get_by_role("link", name="Follow the run").click()
    expect(visit.page).to_have_url(f"{visit.server}/runs/{run.pk}/")


def test_dropped_files_join_the_chosen_ones(visit: Visit, librarian: User, papers: list[Path]) -> None:
    visit.sign_in("librarian")
    visit.open("/documents/upload/")
    visit.page.get_by_label("Files", exact=True).set_input_files(papers[:1])

    dropped = visit.page.evaluate_handle(
        """() => {
            const data = new DataTransfer();
            data.items.add(new File(["# Drop\\n\\nDropped from the desk of a librarian."], "dropped.md"));
            return data;
        }"""
    )
    visit.page.dispatch_event("[data-drop-zone]", "dragover", {"dataTransfer": dropped})
    expect(visit.page.locator("[data-drop-zone]")).to_have_class("drop-zone over")
    visit.page.dispatch_event("[data-drop-zone]", "drop", {"dataTransfer": dropped})
    visit.page.get_by_role("button", name="Take in").click()

    expect(visit.page.locator("[data-summary]")).to_contain_text("Done: 2 accepted")
    assert {item.path for item in IngestionItem.objects.all()} == {"one.md", "dropped.md"}
    assert IngestionRun.objects.count() == 1


def test_a_file_has_a_progress_bar_of_its_own_while_it_is_sent(
    visit: Visit, librarian: User, papers: list[Path]
) -> None:
    visit.sign_in("librarian")
    visit.open("/documents/upload/")
    visit.page.get_by_label("Files", exact=True).set_input_files(papers[:2])
    held: list[object] = []
    visit.page.route("**/upload/file/", lambda route: held.append(route))  # noqa: PLW0108 it cannot mark a method

    visit.page.get_by_role("button", name="Take in").click()

    expect(visit.page.get_by_role("progressbar", name="Progress of one.md")).to_be_visible()
    expect(visit.page.get_by_role("button", name="Take in")).to_be_disabled()
    assert len(held) == 1, "the second waits until the first has begun the run"
    visit.page.unroute("**/upload/file/")
    expect(visit.page.locator("[data-summary]")).to_contain_text("Done: 2 accepted")


def test_a_broken_connection_can_be_tried_again(visit: Visit, librarian: User, papers: list[Path]) -> None:
    visit.sign_in("librarian")
    visit.open("/documents/upload/")
    visit.page.get_by_label("Files", exact=True).set_input_files(papers[:1])
    visit.page.route("**/upload/file/", lambda route: route.abort())
    visit.page.get_by_role("button", name="Take in").click()
    expect(line(visit, "one.md")).to_contain_text("The connection broke.")
    # The browser itself reports the failure.
    visit.complaints.clear()
    visit.page.unroute("**/upload/file/")

    visit.page.get_by_role("button", name="Try again one.md").click()

    expect(line(visit, "one.md")).to_contain_text("Accepted")


def test_the_same_without_javascript(plain_visit: Visit, librarian: User, papers: list[Path]) -> None:
    hold(papers[3])
    plain_visit.sign_in("librarian")
    plain_visit.open("/documents/upload/")
    page = plain_visit.page

    page.get_by_label("Files", exact=True).set_input_files(papers)
    page.get_by_label("Collection").fill("reports")
    page.get_by_role("button", name="Take in").click()

    expect(page.get_by_role("heading", name="6 files")).to_be_visible()
    expect(line(plain_visit, "two.txt")).to_contain_text("Accepted")
    expect(line(plain_visit, "held.md")).to_contain_text("Duplicate")
    expect(line(plain_visit, "fake.pdf")).to_contain_text("wrong_signature")
    expect(line(plain_visit, "large.txt")).to_contain_text("larger than 1 MB")
    assert {item.described["bucket"] for item in IngestionItem.objects.all()} == {"reports"}


def test_a_manifest_is_put_right_where_it_stands(
    plain_visit: Visit, librarian: User, papers: list[Path]
) -> None:
    plain_visit.sign_in("librarian")
    plain_visit.open("/documents/upload/manifest/")
    page = plain_visit.page

    page.get_by_label("Manifest", exact=True).fill('{"path": "one.md", "title": "One", "year": "x"}')
    page.get_by_label("Files it names").set_input_files(papers[:1])
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".lint li.bad")).to_contain_text("invalid_field")
    # The browser itself reports the refusal.
    plain_visit.complaints.clear()
    page.get_by_label("Manifest", exact=True).fill('{"path": "one.md", "title": "One", "year": 2020}')
    page.get_by_role("button", name="Check again").click()
    page.get_by_role("button", name="Take 1 document in").click()

    expect(page.get_by_text("1 document is on its way.")).to_be_visible()
    assert IngestionItem.objects.get().described["year"] == 2020


def test_the_mark_lies_over_the_page_and_keeps_its_place_when_enlarged(
    visit: Visit, asker: User, tmp_path: Path
) -> None:
    drawing = Drawing()
    drawing.prose(50, 780, lines=6)
    path = drawing.save(tmp_path / "paper.pdf")
    sha256 = storage.hash_file(path)
    storage.store(path, sha256)
    document = DocumentFactory(media_type="application/pdf", page_count=1, file_sha256=sha256)
    passage = ChunkFactory(
        document=document, ordinal=0, page_start=1, page_end=1, boxes=[[1, 0.1, 0.25, 0.6, 0.5]]
    )
    visit.sign_in("asker")
    visit.page.set_viewport_size({"width": 1280, "height": 900})

    visit.open(f"/passages/{passage.public_id}/")

    for _ in range(2):
        sheet, mark = visit.page.locator(".sheet"), visit.page.locator(".page-marks rect")
        sheet.locator("img").evaluate("image => image.decode()")
        page_box, mark_box = sheet.bounding_box(), mark.bounding_box()
        assert page_box is not None
        assert mark_box is not None
        assert abs((mark_box["x"] - page_box["x"]) / page_box["width"] - 0.1) < 0.01
        assert abs((mark_box["y"] - page_box["y"]) / page_box["height"] - 0.25) < 0.01
        assert abs(mark_box["height"] / page_box["height"] - 0.25) < 0.01
        if visit.page.get_by_role("link", name="Larger").is_visible():
            visit.page.get_by_role("link", name="Larger").click()
            expect(visit.page.get_by_role("region", name="Page, enlarged")).to_be_visible()


@pytest.mark.parametrize(
    "path", ["/documents/upload/", "/documents/upload/manifest/", "/documents/upload/library/"]
)
def test_no_upload_page_scrolls_sideways_on_the_narrowest_screen(
    visit: Visit, librarian: User, path: str
) -> None:
    visit.sign_in("librarian")
    visit.page.set_viewport_size({"width": 320, "height": 640})

    visit.open(path)

    assert visit.page.evaluate("document.documentElement.scrollWidth") == 320
