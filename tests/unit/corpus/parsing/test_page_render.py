"""Pages as pictures, drawn in the parsing process."""

from io import BytesIO
from pathlib import Path
from typing import cast

import pytest
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, RectangleObject

from corpus.parsing import page_render, sandbox
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import PDF
from tests.unit.corpus.parsing.drawing import HEIGHT, LEFT, WIDTH, Drawing

SHORT = ParseLimits(wall_seconds=20, cpu_seconds=20)


def drawn(path: Path, *, page: int = 1, width: int = 300) -> Image.Image:
    return Image.open(BytesIO(sandbox.draw(path, page=page, width=width, limits=SHORT))).convert("L")


def ink(picture: Image.Image, box: tuple[float, float, float, float]) -> int:
    """How many dark pixels a page-relative rectangle holds."""
    width, height = picture.size
    left, top, right, bottom = box
    part = picture.crop((int(left * width), int(top * height), int(right * width), int(bottom * height)))
    return sum(part.histogram()[:128])


@pytest.fixture
def two_pages(tmp_path: Path) -> Path:
    drawing = Drawing()
    drawing.prose(50, 780, lines=6)
    drawing.next_page()
    drawing.prose(50, 200, lines=6)
    return drawing.save(tmp_path / "two.pdf")


def test_the_picture_has_the_width_asked_for_and_the_shape_of_the_page(two_pages: Path) -> None:
    assert drawn(two_pages, width=300).size == (300, 425)


@pytest.mark.parametrize("crop", [None, (40, 60, 560, 700)])
@pytest.mark.parametrize("offset", [0, 90])
def test_the_boxes_hold_the_ink_of_a_page_that_inherits_its_size(
    tmp_path: Path, crop: tuple[float, float, float, float] | None, offset: int
) -> None:
    drawing = Drawing()
    drawing.prose(LEFT, 500, lines=4, first="Inherited", seed=1)
    reader = PdfReader(drawing.save(tmp_path / "own.pdf"))
    writer = PdfWriter(clone_from=reader)
    (page,) = writer.pages
    whole = RectangleObject((0, -offset, WIDTH, HEIGHT - offset))
    cast("DictionaryObject", page["/Parent"].get_object())[NameObject("/MediaBox")] = whole
    del page["/MediaBox"]
    if crop is not None:
        page[NameObject("/CropBox")] = RectangleObject(crop)
    path = tmp_path / "inherited.pdf"
    writer.write(path)

    (block,) = sandbox.run(path, media_type=PDF, limits=SHORT).blocks

    (box,) = block.boxes
    picture = drawn(path, width=800)
    assert ink(picture, (box.left, box.top, box.right, box.bottom)) > 0.95 * ink(picture, (0, 0, 1, 1)) > 0


def test_the_boxes_of_a_passage_hold_its_ink(two_pages: Path) -> None:
    blocks = sandbox.run(two_pages, media_type=PDF, limits=SHORT).blocks

    for number in (1, 2):
        picture = drawn(two_pages, page=number, width=800)
        (box,) = (box for block in blocks for box in block.boxes if box.page == number)
        inside = ink(picture, (box.left, box.top, box.right, box.bottom))
        assert inside > 500
        assert inside > 0.95 * ink(picture, (0, 0, 1, 1))


@pytest.mark.parametrize("angle", [90, 270])
def test_a_page_whose_text_lies_on_its_side_is_drawn_as_it_was_read(tmp_path: Path, angle: int) -> None:
    drawing = Drawing()
    drawing.canvas.translate(300, 400)
    drawing.canvas.rotate(angle)
    drawing.prose(-200, 100, lines=8)
    path = drawing.save(tmp_path / "side.pdf")
    (block,) = sandbox.run(path, media_type=PDF, limits=SHORT).blocks
    (box,) = block.boxes

    picture = drawn(path, width=800)

    assert picture.width > picture.height
    assert ink(picture, (box.left, box.top, box.right, box.bottom)) > 0.9 * ink(picture, (0, 0, 1, 1)) > 0


@pytest.mark.parametrize("page", [0, -1, 3, 10**12])
def test_a_page_that_is_not_there_is_named(two_pages: Path, page: int) -> None:
    with pytest.raises(ParseFailure) as failure:
        sandbox.draw(two_pages, page=page, width=300, limits=SHORT)

    assert failure.value.code == "no_such_page"


def test_a_page_of_extreme_shape_stays_within_the_pixels(tmp_path: Path) -> None:
    drawing = Drawing()
    drawing.canvas.setPageSize((20, 14_000))
    drawing.line(1, 7_000, "i")
    path = drawing.save(tmp_path / "long.pdf")

    width, height = drawn(path, width=1_600).size

    assert width * height <= page_render.MAX_PIXELS
    assert height < 16_384


def test_what_is_no_pdf_is_a_named_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7 and nothing else")

    with pytest.raises(ParseFailure) as failure:
        sandbox.draw(path, page=1, width=300, limits=SHORT)

    assert failure.value.code == "damaged"


def test_drawing_is_bounded_in_time(two_pages: Path) -> None:
    with pytest.raises(ParseFailure) as failure:
        sandbox.draw(two_pages, page=1, width=300, limits=ParseLimits(wall_seconds=0.01))

    assert failure.value.code == "time_limit"
