"""PDFs through Docling: chosen only with its models, bounded and named like every other parser.

The models themselves are not here; rules of the test stand in for the layout they find.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

pytest.importorskip("docling", reason="needs the extra 'docling'")

from docling.datamodel.base_models import Cluster, LayoutPrediction
from docling.datamodel.pipeline_options import (
    BaseLayoutOptions,
    BaseTableStructureOptions,
    PdfPipelineOptions,
)
from docling.models import factories
from docling.models.base_layout_model import BaseLayoutModel
from docling.models.base_table_model import BaseTableStructureModel
from docling.models.factories.layout_factory import LayoutFactory
from docling.models.factories.table_factory import TableStructureFactory
from docling.pipeline import standard_pdf_pipeline
from docling_core.types.doc import DocItemLabel
from reportlab.pdfgen.canvas import Canvas

from corpus.parsing import docling_pdf, parsers, registry
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.limits import ParseLimits
from tests.unit.corpus.parsing.reading import shown

pytestmark = [
    pytest.mark.xdist_group("docling"),
    # Docling's own use of what it has deprecated.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


class _LayoutOptions(BaseLayoutOptions):
    kind: ClassVar[str] = "lines_of_a_test"  # type: ignore[misc]


class _TableOptions(BaseTableStructureOptions):
    kind: ClassVar[str] = "no_tables"


class _Lines(BaseLayoutModel):
    """Takes every line for a paragraph, large ones for headings and those at the foot for footers."""

    def __init__(self, **_: Any) -> None:
        self.options = _LayoutOptions()

    @classmethod
    def get_options_type(cls) -> type[_LayoutOptions]:
        return _LayoutOptions

    def predict_layout(self, conv_res: Any, pages: Sequence[Any]) -> list[LayoutPrediction]:
        return [LayoutPrediction(clusters=list(self._clusters(page))) for page in pages]

    def _clusters(self, page: Any) -> Iterator[Cluster]:
        for number, cell in enumerate(page.cells):
            box = cell.rect.to_bounding_box().to_top_left_origin(page.size.height)
            label = DocItemLabel.SECTION_HEADER if box.b - box.t > 14 else DocItemLabel.TEXT
            if box.t > page.size.height * 0.9:
                label = DocItemLabel.PAGE_FOOTER
            yield Cluster(id=number, label=label, bbox=box, confidence=1, cells=[cell])


class _NoTables(BaseTableStructureModel):
    enabled = False

    def __init__(self, **_: Any) -> None:
        pass

    @classmethod
    def get_options_type(cls) -> type[_TableOptions]:
        return _TableOptions

    def predict_tables(self, conv_res: Any, pages: Sequence[Any]) -> list[Any]:
        return []


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Docling find its layout with the rules of this test."""
    layouts, tables = LayoutFactory(), TableStructureFactory()
    layouts.register(_Lines, "test", __name__)
    tables.register(_NoTables, "test", __name__)
    for module in (factories, standard_pdf_pipeline):
        monkeypatch.setattr(module, "get_layout_factory", lambda **_: layouts)
        monkeypatch.setattr(module, "get_table_structure_factory", lambda **_: tables)
    options = PdfPipelineOptions(
        do_ocr=False, layout_options=_LayoutOptions(), table_structure_options=_TableOptions()
    )
    monkeypatch.setattr(docling_pdf, "pipeline_options", lambda: options)


def _paper(path: Path, *, words: bool = True) -> Path:
    canvas = Canvas(str(path), pagesize=(600, 800))
    for page in ("one", "two"):
        if words:
            canvas.setFont("Helvetica", 20)
            canvas.drawString(60, 700, f"Section {page}")
            canvas.setFont("Helvetica", 10)
            canvas.drawString(60, 600, f"The words of page {page} are here.")
            canvas.drawString(300, 20, "7")
        canvas.showPage()
    canvas.save()
    return path


@pytest.mark.usefixtures("stand_in")
def test_pages_places_and_kinds_come_from_docling(tmp_path: Path) -> None:
    document = docling_pdf.parse(_paper(tmp_path / "a.pdf"), ParseLimits())

    assert shown(document) == [
        "heading1 Section one",
        "paragraph The words of page one are here.",
        "heading1 Section two",
        "paragraph The words of page two are here.",
    ]
    assert [block.page for block in document.blocks] == [1, 1, 2, 2]
    assert document.page_count == 2
    (box,) = document.blocks[3].boxes
    assert (box.page, round(box.left, 1)) == (2, 0.1)
    assert 0.2 < box.top < box.bottom < 0.3
    assert document.parser.startswith("docling ")


@pytest.mark.usefixtures("stand_in")
def test_a_pdf_without_words_needs_ocr(tmp_path: Path) -> None:
    document = docling_pdf.parse(_paper(tmp_path / "a.pdf", words=False), ParseLimits())

    assert (document.blocks, document.quality) == ((), {"needs_ocr": 1})


@pytest.mark.usefixtures("stand_in")
def test_reasons_are_those_of_every_pdf(tmp_path: Path) -> None:
    with pytest.raises(ParseFailure) as failure:
        docling_pdf.parse(_paper(tmp_path / "a.pdf"), ParseLimits(max_pages=1))
    assert failure.value.code == "too_many_pages"

    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(ParseFailure) as failure:
        docling_pdf.parse(tmp_path / "b.pdf", ParseLimits())
    assert failure.value.code == "damaged"


def test_ocr_and_the_network_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCLING_ARTIFACTS_PATH", "/models")

    options = docling_pdf.pipeline_options()

    assert (options.do_ocr, options.enable_remote_services, options.allow_external_plugins) == (
        False, False, False,
    )  # fmt: skip
    assert str(options.artifacts_path) == "/models"


def test_without_models_asking_for_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ParseFailure, match="DOCLING_ARTIFACTS_PATH") as failure:
        registry.parse(_paper(tmp_path / "a.pdf"), parser="docling")

    assert failure.value.code == "parser_missing"


def test_with_models_and_without_torch_the_usual_parser_reads_and_says_so(
    tmp_path: Path, settings: Any
) -> None:
    settings.DOCLING_ARTIFACTS_PATH = str(tmp_path)

    document = registry.parse(_paper(tmp_path / "a.pdf"))

    assert document.parser.startswith("pdf-layout")
    assert document.warnings[-1] == "Docling did not read it (parser_missing)."


def test_with_models_docling_reads_pdfs_unless_another_parser_is_asked_for(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def run(path: Path, *, parser: str = "", models: str = "", **_: object) -> ParsedDocument:
        asked.append((parser, models))
        return ParsedDocument((), parser, "application/pdf")

    monkeypatch.setattr(registry.sandbox, "run", run)
    settings.DOCLING_ARTIFACTS_PATH = "/models"
    registry.parse(_paper(tmp_path / "a.pdf"))
    registry.parse(tmp_path / "a.pdf", parser="pypdf")
    settings.DOCLING_ARTIFACTS_PATH = ""
    registry.parse(tmp_path / "a.pdf")

    assert asked == [("docling", "/models"), ("pypdf", "/models"), ("", "")]


def test_a_limit_of_docling_is_not_hidden_by_another_parser(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(path: Path, **_: object) -> ParsedDocument:
        raise ParseFailure("time_limit", "Too long.")

    monkeypatch.setattr(registry.sandbox, "run", run)
    settings.DOCLING_ARTIFACTS_PATH = "/models"

    with pytest.raises(ParseFailure) as failure:
        registry.parse(_paper(tmp_path / "a.pdf"))
    assert failure.value.code == "time_limit"


def test_every_parser_has_the_name_it_signs_with() -> None:
    assert {"docling", "pdf-layout", "pypdf", "markdown-it", "lxml-html", "lxml-jats"} <= set(parsers.NAMES)
    assert parsers.reading("pypdf") == ("application/pdf",)
