"""PDFs: honest ones with bytes changed, and ones built to loop, to swell and to lie."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from tests.reliability.hostile.cases import Case, file

_SEED = 20
_MUTATIONS = 102
_MEGABYTE = 1_000_000


def cases() -> Iterator[Case]:
    """Yield the hostile PDFs."""
    choose = random.Random(_SEED)  # noqa: S311 - the same every time
    honest = [_honest(pages=1, compressed=False), _honest(pages=4, compressed=True)]
    for number in range(_MUTATIONS):
        kind = _MUTATORS[number % len(_MUTATORS)]
        data = kind(choose, bytearray(honest[number // len(_MUTATORS) % 2]))
        yield file(f"{kind.__name__.strip('_')}-{number}.pdf", bytes(data))
    yield from _built()


def _honest(*, pages: int, compressed: bool) -> bytes:
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, pageCompression=int(compressed), invariant=1)
    for page in range(pages):
        for line in range(40):
            canvas.drawString(60, 780 - 16 * line, f"Straw of lot {page} lost {line} per cent of dry matter.")
        canvas.rect(60, 60, 300, 40)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _flipped(choose: random.Random, data: bytearray) -> bytearray:
    for _ in range(choose.choice((3, 40, 400))):
        data[choose.randrange(8, len(data))] ^= 1 << choose.randrange(8)
    return data


def _cut(choose: random.Random, data: bytearray) -> bytearray:
    return data[: choose.randrange(20, len(data))]


def _doubled(choose: random.Random, data: bytearray) -> bytearray:
    start = choose.randrange(8, len(data) - 200)
    return data[: start + 200] + data[start:]


def _holed(choose: random.Random, data: bytearray) -> bytearray:
    start = choose.randrange(8, len(data) - 300)
    data[start : start + choose.randrange(1, 300)] = bytes(choose.randrange(1, 300))
    return data


def _renumbered(choose: random.Random, data: bytearray) -> bytearray:
    digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    for place in choose.sample(digits, 30):
        data[place] = choose.randrange(48, 58)
    return data


def _swollen(choose: random.Random, data: bytearray) -> bytearray:
    for name in (b"/Length", b"/Count", b"/Size", b"/Parent"):
        at = data.find(name)
        if at > 0 and choose.random() < 0.7:
            data[at + len(name) : at + len(name)] = b" 9999999999"
    return data


_MUTATORS = (_flipped, _cut, _doubled, _holed, _renumbered, _swollen)


def _pdf(*objects: bytes, trailer: bytes = b"/Root 1 0 R") -> bytes:
    """Return a PDF of numbered objects, the first of which is the catalogue."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"trailer << %s /Size %d >>\nstartxref\n%d\n%%%%EOF" % (trailer, len(objects) + 1, start)


def _stream(content: bytes, extra: bytes = b"", *, packed: bool = False) -> bytes:
    data = zlib.compress(content, 9) if packed else content
    how = b"/Filter /FlateDecode " if packed else b""
    return b"<< %s%s/Length %d >>\nstream\n%s\nendstream" % (how, extra, len(data), data)


_CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def _paged(content: bytes, *, pages: int = 1, box: bytes = b"0 0 600 800", resources: bytes = b"") -> bytes:
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents 3 0 R "
        b"/Resources << /Font << /F 4 0 R >> %s >> >>" % (box, resources)
    )
    tree = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages)
    return _pdf(_CATALOG, tree, content, _FONT, *[page] * pages)


def _built() -> Iterator[Case]:
    text = b"BT /F 10 Tf 50 700 Td (%s) Tj ET "
    words = text % b"Straw was stored for ninety days."
    yield file("page-tree-loop.pdf", _pdf(_CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"))
    yield file("count-lies.pdf", _pdf(_CATALOG, b"<< /Type /Pages /Kids [] /Count 2000000000 >>"))
    yield file("count-negative.pdf", _pdf(_CATALOG, b"<< /Type /Pages /Kids [] /Count -5 >>"))
    yield file("no-catalogue.pdf", _pdf(b"<< >>"))
    yield file("root-is-itself.pdf", _pdf(b"1 0 R"))
    yield file("previous-table-loop.pdf", _pdf(_CATALOG, b"<< >>", trailer=b"/Root 1 0 R /Prev 9"))
    yield file("too-many-pages.pdf", _paged(_stream(words), pages=6_000), refused="too_many_pages")
    yield file("bomb-of-zeros.pdf", _paged(_stream(bytes(300 * _MEGABYTE), packed=True)))
    yield file("bomb-of-spaces.pdf", _paged(_stream(b" " * (300 * _MEGABYTE), packed=True)))
    yield file("operators-2-mb.pdf", _paged(_stream(b"q Q " * 500_000, packed=True)))
    yield file("operators-shared.pdf", _paged(_stream(b"q Q " * 500_000, packed=True), pages=40))
    yield file("letters-2-million.pdf", _paged(_stream(words * 60_000, packed=True)))
    yield file("letters-shared.pdf", _paged(_stream(words * 10_000, packed=True), pages=60))
    yield file("letters-on-one-spot.pdf", _paged(_stream(text % (b"a" * 200_000), packed=True)))
    yield file("rules-200-thousand.pdf", _paged(_stream(b"50 50 400 1 re f " * 200_000 + words, packed=True)))
    yield file("grid-of-rules.pdf", _paged(_stream(_grid() + words, packed=True)))
    yield file("table-of-dots.pdf", _paged(_stream(_dots(), packed=True)))
    yield file("save-states-deep.pdf", _paged(_stream(b"q " * 400_000 + words, packed=True)))
    yield file("arrays-deep.pdf", _paged(_stream(b"[" * 300_000 + b"]" * 300_000, packed=True)))
    yield file("dictionary-deep.pdf", _pdf(b"<< /A " * 100_000 + b">> " * 100_000))
    yield file("packed-in-packed.pdf", _paged(_packed_often()))
    yield file("page-huge.pdf", _paged(_stream(words), box=b"0 0 1e30 1e30"))
    yield file("page-inside-out.pdf", _paged(_stream(words), box=b"600 800 0 0"))
    yield file("page-of-nothing.pdf", _paged(_stream(words), box=b"0 0 0 0"))
    yield file("page-not-numbers.pdf", _paged(_stream(words), box=b"/a /b (c) null"))
    yield file("type-size-huge.pdf", _paged(_stream(b"BT /F 1e20 Tf 5 5 Td (Straw) Tj ET")))
    yield file("type-size-nan.pdf", _paged(_stream(b"BT /F 1e400 Tf nan nan Td (Straw) Tj ET")))
    yield file("matrix-of-zeros.pdf", _paged(_stream(b"BT 0 0 0 0 0 0 Tm /F 9 Tf (Straw fed) Tj ET")))
    yield file("places-far-away.pdf", _paged(_stream(b"BT /F 9 Tf 1e15 -1e15 Td (Straw fed it) Tj ET")))
    form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> "
    loop = b"/XObject << /X 6 0 R >>"
    body = [_CATALOG, b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>", _stream(b"/X Do"), _FONT]
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 3 0 R /Resources << %s >> >>" % loop
    yield file("form-draws-itself.pdf", _pdf(*body, page, form + b"/Length 5 >>\nstream\n/X Do\nendstream"))
    yield file("script-on-open.pdf", _pdf(_CATALOG[:-2] + b"/OpenAction << /S /JavaScript /JS (x) >> >>"))
    yield file("launch-on-open.pdf", _pdf(_CATALOG[:-2] + b"/OpenAction << /S /Launch /F (/bin/sh) >> >>"))
    yield file("header-alone.pdf", b"%PDF-1.7\n", refused="damaged")
    yield file("header-late.pdf", b"\n" * 900 + _honest(pages=1, compressed=True))
    yield file("header-too-late.pdf", b"\n" * 5_000 + _honest(pages=1, compressed=True))
    yield file("two-in-one.pdf", _honest(pages=1, compressed=True) + _honest(pages=2, compressed=False))
    yield file("with-archive-behind.pdf", _honest(pages=1, compressed=True) + b"PK\x03\x04" + bytes(500))
    yield file("page-of-html.pdf", b"<html>" + bytes(2_000) + b"%PDF-1.7</html>", refused="wrong_signature")


def _grid() -> bytes:
    flat = b"".join(b"50 %d m 550 %d l S " % (y, y) for y in range(20, 780))
    return flat + b"".join(b"%d 20 m %d 780 l S " % (x, x) for x in range(50, 550))


def _dots() -> bytes:
    cell = b"BT /F 1 Tf %d %d Td (7) Tj ET "
    return b"".join(cell % (4 * x, 4 * y) for x in range(150) for y in range(200))


def _packed_often() -> bytes:
    data = b"q Q " * 100_000
    for _ in range(40):
        data = zlib.compress(data, 1)
    return b"<< /Filter [%s] /Length %d >>\nstream\n%s\nendstream" % (b"/FlateDecode " * 40, len(data), data)
