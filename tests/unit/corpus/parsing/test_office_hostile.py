"""Office documents that mean harm: each is refused with its reason, before or inside the killable process."""

import os
import socket
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.parsing import parsers
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.media_types import DOCX
from corpus.parsing.office_archive import inspect
from corpus.parsing.registry import ParseLimits, parse
from tests.unit.corpus.parsing.office import (
    paragraph,
    run,
    sheet_parts,
    table,
    types,
    word,
    word_parts,
    write,
)

pytestmark = pytest.mark.xdist_group("docling")
BODY = paragraph(run("Words enough to stay."))


def _code(path: Path, *, limits: ParseLimits | None = None) -> str:
    with pytest.raises(ParseFailure) as failure:
        parse(path, limits=limits or ParseLimits(wall_seconds=60))
    assert "Traceback" not in str(failure.value)
    return failure.value.code


def _with(folder: Path, **parts: str | bytes) -> Path:
    return write(folder / "a.docx", {**word_parts(BODY), **parts})


def test_an_archive_that_unpacks_to_a_multiple_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", {**word_parts(BODY), "word/bomb.xml": b" " * 60_000_000})

    assert path.stat().st_size < 100_000
    assert _code(path) == "unsafe_archive"


def test_an_archive_that_declares_too_much_is_refused(tmp_path: Path) -> None:
    path = _with(tmp_path)
    data = path.read_bytes()
    place = data.index(b"PK\x01\x02")
    path.write_bytes(data[: place + 24] + (900_000_000).to_bytes(4, "little") + data[place + 28 :])

    assert _code(path) == "unsafe_archive"


def test_a_part_whose_data_is_damaged_is_refused_by_name(tmp_path: Path) -> None:
    path = word(tmp_path / "a.docx", paragraph(run(" ".join(map(str, range(0, 90_000, 7))))))
    with zipfile.ZipFile(path) as archive:
        part = archive.getinfo("word/document.xml")
    data = bytearray(path.read_bytes())
    start = part.header_offset + 30 + len(part.filename)
    data[start : start + 4] = bytes(byte ^ 0xFF for byte in data[start : start + 4])
    path.write_bytes(data)

    assert _code(path) == "damaged"


def test_an_archive_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    parts = {f"word/part{number}.txt": b"" for number in range(5_100)}

    assert _code(write(tmp_path / "a.docx", {**word_parts(BODY), **parts})) == "unsafe_archive"


@pytest.mark.parametrize(
    "name", ["../../etc/cron.d/x", "/etc/passwd", "word\\..\\..\\x", "C:/x", "word/../../x"]
)
def test_names_that_lead_out_of_the_archive_are_refused(tmp_path: Path, name: str) -> None:
    assert _code(write(tmp_path / "a.docx", {**word_parts(BODY), name: b"x"})) == "unsafe_archive"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name_are_refused(tmp_path: Path) -> None:
    path = _with(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("word/document.xml", "<other/>")

    assert _code(path) == "unsafe_archive"


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY e "&b;&b;&b;&b;">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
@pytest.mark.parametrize("part", ["word/document.xml", "word/styles.xml", "docProps/core.xml", "_rels/.rels"])
def test_entities_are_refused_in_every_part(tmp_path: Path, declaration: str, part: str) -> None:
    parts = word_parts(BODY)
    parts[part] = parts[part].replace('<?xml version="1.0"?>', f'<?xml version="1.0"?>{declaration}')

    assert _code(write(tmp_path / "a.docx", parts)) == "unsafe_archive"


def test_entities_in_another_encoding_are_refused(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>'

    assert _code(_with(tmp_path, **{"word/styles.xml": text.encode("utf-16")})) == "unsafe_archive"


def test_tables_in_tables_without_end_are_refused(tmp_path: Path) -> None:
    depth = 10_000
    body = "<w:tbl><w:tr><w:tc>" * depth + paragraph(run("x")) + "</w:tc></w:tr></w:tbl>" * depth

    assert _code(word(tmp_path / "a.docx", body)) == "nested_too_deep"


def test_tables_nested_as_deep_as_allowed_keep_their_words(tmp_path: Path) -> None:
    depth = 20
    body = "<w:tbl><w:tr><w:tc>" * depth + paragraph(run("the core")) + "</w:tc></w:tr></w:tbl>" * depth

    found = parse(word(tmp_path / "a.docx", body), limits=ParseLimits(wall_seconds=60))

    assert any("the core" in f"{block.text}{block.rows}" for block in found.blocks)


@pytest.mark.parametrize("missing", ["word/document.xml", "_rels/.rels"])
def test_a_missing_part_is_damage(tmp_path: Path, missing: str) -> None:
    parts = {name: content for name, content in word_parts(BODY).items() if name != missing}

    assert _code(write(tmp_path / "a.docx", parts)) == "damaged"


@pytest.mark.parametrize("keep", [0.3, 0.7, 0.98])
def test_a_cut_off_archive_is_damage(tmp_path: Path, keep: float) -> None:
    path = _with(tmp_path)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])

    assert _code(path) == "damaged"


def test_a_part_that_is_no_xml_is_damage(tmp_path: Path) -> None:
    parts = word_parts(BODY)
    parts["word/document.xml"] = parts["word/document.xml"].replace("</w:body>", "")

    assert _code(write(tmp_path / "a.docx", parts)) == "damaged"


def test_macros_are_refused(tmp_path: Path) -> None:
    parts = word_parts(BODY)
    enabled = {
        **parts,
        "[Content_Types].xml": types(word__document="application/vnd.ms-word.document.macroEnabled.main+xml"),
    }

    assert _code(write(tmp_path / "a.docx", enabled)) == "macros"
    assert _code(write(tmp_path / "b.docx", {**parts, "word/vbaProject.bin": b"x"})) == "macros"


def test_an_archive_that_is_another_kind_of_document_says_which(tmp_path: Path) -> None:
    path = write(tmp_path / "a.docx", sheet_parts("<row r='1'><c r='A1'><v>1</v></c></row>"))
    with pytest.raises(ParseFailure, match="an Excel workbook") as failure:
        parse(path)

    assert failure.value.code == "wrong_signature"
    assert _code(write(tmp_path / "b.docx", {"readme.txt": b"hello"})) == "wrong_signature"


@pytest.mark.parametrize(
    "content", [b"%PDF-1.7 x", b"<html><body>Sign in</body></html>", b"\x89PNG\r\n", b"plain"]
)
def test_what_is_no_archive_is_a_wrong_signature(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(content)

    assert _code(path) == "wrong_signature"


def test_a_document_with_a_password_says_so(tmp_path: Path) -> None:
    head = bytearray(512)
    head[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    head[30:32], head[48:52] = (9).to_bytes(2, "little"), (0).to_bytes(4, "little")
    path = tmp_path / "a.docx"
    path.write_bytes(bytes(head) + "EncryptedPackage".encode("utf-16-le") + bytes(480))

    assert _code(path) == "encrypted"
    path.write_bytes(bytes(head) + "WordDocument".encode("utf-16-le") + bytes(480))
    assert _code(path) == "wrong_signature"


def test_a_sheet_of_a_billion_cells_is_bounded(tmp_path: Path) -> None:
    cells = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>first</t></is></c></row>'
        '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>last</t></is></c></row>'
    )
    path = write(tmp_path / "a.xlsx", sheet_parts(cells))

    assert _code(path, limits=ParseLimits(wall_seconds=5)) in ("time_limit", "memory_limit", "too_large")


def test_cells_that_are_only_coloured_cost_nothing(tmp_path: Path) -> None:
    cells = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>first</t></is></c></row>'
        '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    )
    path = write(tmp_path / "a.xlsx", sheet_parts(cells))

    assert [block.text for block in parse(path, limits=ParseLimits(wall_seconds=30)).blocks] == [
        "Yields",
        "first",
    ]


def test_memory_is_bounded_while_a_document_is_read(tmp_path: Path) -> None:
    # Noise beside them, so that the archive is not refused for its ratio.
    emptiness, noise = b"<x>" + b" " * 200_000_000 + b"</x>", os.urandom(5_000_000)
    parts = {f"customXml/item{number}.xml": emptiness for number in range(2)}
    path = write(tmp_path / "a.docx", {**word_parts(BODY), **parts, "customXml/noise": noise})

    assert _code(path, limits=ParseLimits(memory_bytes=1_000_000, wall_seconds=60)) == "memory_limit"


def test_time_is_bounded_while_a_document_is_read(tmp_path: Path) -> None:
    body = "".join(paragraph(run(f"Paragraph {number} of a long document.")) for number in range(10_000))

    assert _code(word(tmp_path / "a.docx", body), limits=ParseLimits(wall_seconds=1)) == "time_limit"


@pytest.mark.parametrize(
    "source",
    [
        "{" * 20_000,
        r"\begin{itemize}\item " * 3_000,
        r"\newcommand{\a}{xxxxxxxxxx}"
        + "".join(rf"\newcommand{{\{chr(98 + n)}}}{{{(chr(92) + chr(97 + n)) * 10}}}" for n in range(12))
        + r"\begin{document}\m\end{document}",
        r"\def\x{\x\x}\begin{document}\x\end{document}",
    ],
)
def test_latex_that_nests_or_multiplies_ends_within_its_limits(tmp_path: Path, source: str) -> None:
    path = tmp_path / "a.tex"
    path.write_text(source)

    assert _outcome(path) in {"words", "nested_too_deep", "no_text", "time_limit", "memory_limit", "damaged"}


def _outcome(path: Path) -> str:
    try:
        parse(path, limits=ParseLimits(wall_seconds=20, cpu_seconds=15))
    except ParseFailure as failure:
        return failure.code
    return "words"


@pytest.fixture
def listener() -> Iterator[tuple[str, list[object]]]:
    """An address on this machine and who called it."""
    callers: list[object] = []
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.2)
    ends = threading.Event()

    def serve() -> None:
        while not ends.is_set():
            try:
                connection, caller = server.accept()
            except TimeoutError:
                continue
            callers.append(caller)
            connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/x.png", callers
    ends.set()
    thread.join()
    server.close()


def test_nothing_outside_the_document_is_fetched(tmp_path: Path, listener: tuple[str, list[object]]) -> None:
    address, callers = listener
    picture = (
        '<w:r><w:drawing><a:blip xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'r:link="far" r:embed="far"/></w:drawing></w:r>'
    )

    document = parse(word(tmp_path / "a.docx", BODY + paragraph(picture), external=address))

    assert [block.text for block in document.blocks] == ["Words enough to stay."]
    assert callers == []


def test_without_the_extra_the_reason_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "find_spec", lambda name: None)

    with pytest.raises(
        ParseFailure, match=r"a Word document needs the extra 'docling'.*sci-rag\[docling\]"
    ) as failure:
        parse(_with(tmp_path))

    assert failure.value.code == "parser_missing"


def test_a_parser_that_does_not_read_such_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseFailure, match="docling does") as failure:
        parse(_with(tmp_path), parser="pypdf")

    assert failure.value.code == "parser_unsuitable"


def test_another_parser_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    path.write_text(r"\section{Methods} A paragraph that is long enough to stay.")

    document = parse(path, parser="text-segmenter")

    assert (document.parser, document.media_type) == ("text-segmenter 1", "text/x-tex")


def test_what_a_document_states_is_read_without_any_library_of_office(tmp_path: Path) -> None:
    path = word(tmp_path / "a.docx", BODY + table(("a", "b")), title="A title", authors="Ana; python-docx")

    facts = inspect(path, DOCX)

    assert (facts.title, facts.authors, facts.language) == ("A title", ("Ana",), "en-GB")
    assert facts.characters == len("Wordsenoughtostay.ab")
