"""Bytes to text: UTF-8, a marked UTF-16 or UTF-32, else the encoding a bounded sample suggests."""

from __future__ import annotations

import codecs
from pathlib import Path

from corpus.parsing.blocks import ParseFailure
from corpus.parsing.limits import ParseLimits

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 64_000
_FALLBACK = "cp1252"


def read_text(path: Path, limits: ParseLimits) -> tuple[str, tuple[str, ...]]:
    """Return the text of `path` and a warning for the librarian where its encoding had to be guessed."""
    data = path.read_bytes()
    text, encoding = decode(data)
    if len(text) > limits.max_characters:
        raise ParseFailure(
            "too_large", f"The text has {len(text):,} characters; the limit is {limits.max_characters:,}."
        )
    if encoding == "utf-8":
        return text, ()
    return text, (f"The text is not UTF-8; it was read as {encoding}.",)


def decode(data: bytes) -> tuple[str, str]:
    """Return `data` as text and the name of the encoding, which is "utf-8" unless it had to be another."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            return text, "utf-8" if encoding == "utf-8-sig" else encoding
    zeros = _zero_share(data[:_SAMPLE_BYTES])
    if zeros is not None:
        return data.decode(zeros, "replace"), zeros
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        if _is_only_cut_off(data, error):
            return data[: error.start].decode("utf-8"), "utf-8"
    encoding = _guess(data)
    return data.decode(encoding, "replace"), encoding


def _zero_share(sample: bytes) -> str | None:
    """Return the UTF-16 whose every second byte is mostly zero, for western text without a mark."""
    half = len(sample) // 2
    if half < 8:
        return None
    if sample[1::2].count(0) > half * 0.7:
        return "utf-16-le"
    return "utf-16-be" if sample[0::2].count(0) > half * 0.7 else None


def _is_only_cut_off(data: bytes, error: UnicodeDecodeError) -> bool:
    return error.reason == "unexpected end of data" and len(data) - error.start < 4


def _guess(data: bytes) -> str:
    """Return the encoding that a sample around the first byte beyond ASCII suggests."""
    from charset_normalizer import from_bytes

    first = next((place for place, byte in enumerate(data) if byte > 0x7F), 0)
    start = max(0, first - _SAMPLE_BYTES // 2)
    sample = data[start : start + _SAMPLE_BYTES]
    best = from_bytes(sample, steps=5, chunk_size=512, cp_exclusion=["utf_8", "utf_7"]).best()
    if best is None or str(best) == sample.decode(_FALLBACK, "replace"):
        return _FALLBACK
    return str(best.encoding)
