"""Importing a library in a browser: choose, look, confirm, follow; with and without JavaScript."""

import io
import os
import re
import zipfile
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from playwright.sync_api import expect

from corpus import storage
from corpus.models import IngestionItem, IngestionRun, Source
from tests.factories.corpus import DocumentFactory
from tests.functional.conftest import Visit

pytestmark = pytest.mark.browser

ITEM = """<bib:Article rdf:about="#item_{n}">
 <z:itemType>journalArticle</z:itemType><dc:title>{title}</dc:title>
 <bib:authors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Doe</foaf:surname><foaf:givenName>Ann</foaf:givenName>
 </foaf:Person></rdf:li></rdf:Seq></bib:authors><dc:date>2019</dc:date><dc:rights>CC BY 4.0</dc:rights>
 <dc:identifier>DOI 10.1000/{n}</dc:identifier><link:link rdf:resource="#file_{n}"/></bib:Article>
<z:Attachment rdf:about="#file_{n}"><z:itemType>attachment</z:itemType>
 <rdf:resource rdf:resource="files/{n}/{file}"/></z:Attachment>
"""
FILES = {
    "files/1/Straw under a roof.md": b"# Straw\n\nStraw was stored for a year under a roof.\n",
    "files/2/held.md": b"# Held\n\nThis one is held already, they say.\n",
    "files/4/sign in.pdf": b"<html><body>Please sign in</body></html>",
}


@pytest.fixture(autouse=True)
def media(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    titles = ["Straw under a roof", "Held since long", "Never sent along", "A page to sign in"]
    names = ["Straw under a roof.md", "held.md", "gone.pdf", "sign in.pdf"]
    items = [
        ITEM.format(n=n, title=title, file=name)
        for n, (title, name) in enumerate(zip(titles, names, strict=True), start=1)
    ]
    rdf = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
        ' xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:bib="http://purl.org/net/biblio#"'
        ' xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/"'
        f' xmlns:dc="http://purl.org/dc/elements/1.1/">\n{"".join(items)}</rdf:RDF>'
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("My Library/My Library.rdf", rdf)
        archive.writestr("../evil.md", "evil")
        for name, content in FILES.items():
            archive.writestr(f"My Library/{name}", content)
    path = tmp_path / "My Library.zip"
    path.write_bytes(buffer.getvalue())
    held = tmp_path / "held.md"
    held.write_bytes(FILES["files/2/held.md"])
    DocumentFactory(title="Held since long", file_sha256=storage.hash_file(held))
    return path


def picture(visit: Visit, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        for theme in ("light", "dark"):
            visit.page.emulate_media(color_scheme=theme)
            for width in (1280, 320):
                visit.page.set_viewport_size({"width": width, "height": 900})
                visit.page.screenshot(path=f"{folder}/{name}-{theme}-{width}.png", full_page=True)


def row(visit: Visit, title: str) -> object:
    return visit.page.locator(".lint li").filter(has=visit.page.get_by_text(title, exact=True))


def test_a_library_is_looked_at_then_imported_and_its_run_followed(
    visit: Visit, librarian: User, export: Path
) -> None:
    visit.sign_in("librarian")
    visit.open("/documents/upload/")
    visit.page.get_by_role("link", name="The library of a reference manager?").click()
    picture(visit, "empty")
    visit.page.get_by_label("Library", exact=True).set_input_files(export)
    visit.page.get_by_label("Collection").fill("zotero")
    visit.page.get_by_role("button", name="Look at it").click()

    expect(row(visit, "Straw under a roof")).to_contain_text("Found")
    expect(row(visit, "Held since long")).to_contain_text("Held already")
    expect(row(visit, "Never sent along")).to_contain_text("Not sent along")
    expect(row(visit, "A page to sign in")).to_contain_text("wrong_signature")
    expect(visit.page.get_by_text("../evil.md")).to_be_visible()
    expect(visit.page.get_by_label("Collection")).to_have_value("zotero")
    picture(visit, "preview")
    visit.page.get_by_role("button", name="Import 2 files, 4 works").click()

    expect(visit.page).to_have_url(re.compile("/runs/"))
    expect(visit.page.get_by_text("missing_file")).to_be_visible()
    picture(visit, "run")
    assert IngestionRun.objects.get().parameters["bucket"] == "zotero"
    assert IngestionItem.objects.filter(outcome="waiting").count() == 3
    assert Source.objects.filter(identifier_value__startswith="10.1000/").count() == 4


def test_without_javascript_what_was_chosen_stays_when_something_is_wrong(
    plain_visit: Visit, librarian: User, tmp_path: Path
) -> None:
    library = tmp_path / "lib.bib"
    library.write_bytes("@book{k, title = {期刊}, isbn = {0306406152}}".encode("gbk"))
    plain_visit.sign_in("librarian")
    plain_visit.open("/documents/upload/library/")
    page = plain_visit.page
    page.get_by_label("Library", exact=True).set_input_files(library)
    page.get_by_label("Encoding of the text").fill("klingon")
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_text("No text encoding has this name.")).to_be_visible()
    picture(plain_visit, "error")
    # The browser itself reports the refusal.
    plain_visit.complaints.clear()

    page.get_by_label("Encoding of the text").fill("gbk")
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_text("期刊", exact=True)).to_be_visible()
    page.get_by_role("button", name="Register 1 work").click()

    expect(page.get_by_text("1 work is in the registry.")).to_be_visible()
    assert Source.objects.get().title == "期刊"
