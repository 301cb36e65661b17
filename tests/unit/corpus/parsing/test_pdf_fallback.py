"""The last resort for PDFs."""

from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from corpus.parsing import pdf_fallback
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.limits import ParseLimits
from tests.unit.corpus.parsing.drawing import LEFT, TOP, Drawing


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    page = Drawing(title="A stated title")
    page.column(LEFT, TOP, ["Steam explosion of ligno-", "cellulosic straw."])
    page.next_page()
    page.line(LEFT, TOP, "Second page.")
    return page.save(tmp_path / "drawn.pdf")


def test_the_text_of_each_page_is_read(drawn: Path) -> None:
    document = pdf_fallback.parse(drawn, ParseLimits())

    assert [(block.page, block.text) for block in document.blocks] == [
        (1, "Steam explosion of lignocellulosic straw."),
        (2, "Second page."),
    ]
    assert (document.title, document.page_count) == ("A stated title", 2)
    assert document.warnings == ("The PDF was read by the fallback parser, without its layout.",)


def test_a_password_is_asked_for_by_name(drawn: Path, tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=PdfReader(drawn))
    writer.encrypt("secret", algorithm="RC4-128")
    locked = tmp_path / "locked.pdf"
    writer.write(locked)

    with pytest.raises(ParseFailure) as failure:
        pdf_fallback.parse(locked, ParseLimits())

    assert failure.value.code == "encrypted"


def test_too_many_pages_are_refused(drawn: Path) -> None:
    with pytest.raises(ParseFailure) as failure:
        pdf_fallback.parse(drawn, ParseLimits(max_pages=1))

    assert failure.value.code == "too_many_pages"
