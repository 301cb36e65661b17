"""More texts and Markdown: every encoding that says nothing of itself, signs nobody sees, nesting, script.

With those of `prose` there are more than a hundred and ten.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from tests.reliability.hostile.cases import Case, file
from tests.reliability.hostile.scripts import BREAKING_OUT, PLAIN

_WORDS = "Straw was stored for ninety days and lost a tenth of its dry matter. "
_GERMAN = "Stroh für große Ställe wird überdacht gelagert, damit es trocken bleibt. "
_ENCODINGS = (
    "utf-7", "utf-16-be", "utf-32-be", "cp437", "cp850", "cp1250", "cp1252", "latin-1", "iso8859-2",
    "iso8859-15", "mac-roman", "cp037", "cp1140", "hz",
)  # fmt: skip
_SCRIPTED = 17


def cases() -> Iterator[Case]:
    """Yield the texts."""
    yield from _encoded()
    yield from _controls()
    yield from _unseen()
    yield from _nested()
    yield from _scripted()


def _encoded() -> Iterator[Case]:
    for name in _ENCODINGS:
        yield file(f"encoding-{name}.txt", (_GERMAN * 20).encode(name, "replace"))
    for name, text in (
        ("gb18030", "\u79f8\u79c6\u7684\u7532\u70f7\u4ea7\u91cf"),
        ("big5", "\u7a3b\u8349\u5806\u653e"),
        ("euc-jp", "\u7a3b\u308f\u3089\u3092\u8caf\u8535"),
        ("iso2022_jp", "\u7a3b\u308f\u3089\u3092\u8caf\u8535"),
        ("koi8-r", "\u0421\u043e\u043b\u043e\u043c\u0430"),
        ("cp1256", "\u0642\u0634 \u0627\u0644\u0623\u0631\u0632"),
    ):
        yield file(f"encoding-{name}.txt", (text * 100).encode(name))
    mixed = _GERMAN.encode() + _GERMAN.encode("latin-1") + _GERMAN.encode("utf-16-le")
    yield file("encoding-mixed.txt", mixed * 10)
    yield file("encoding-marks-three.txt", codecs.BOM_UTF8 * 3 + codecs.BOM_UTF16_LE + _WORDS.encode())


def _controls() -> Iterator[Case]:
    for name, text in (
        ("all", "".join(map(chr, range(32))) + _WORDS),
        ("all-c1", "".join(map(chr, range(0x80, 0xA0))) + _WORDS),
        ("zero-first", "\0" + _WORDS),
        ("zero-last", _WORDS + "\0" * 500),
        ("erasing", "straw\b\b\b\b\bgrass " * 500),
        ("shifting", "\x0e\x0f" * 5_000 + _WORDS),
        ("separators", "\x1c\x1d\x1e\x1f".join(_WORDS.split() * 50)),
        ("deleted", "\x7f".join(_WORDS * 20)),
        ("end-of-file", _WORDS + "\x1a" + _WORDS),
        ("no-characters", "\ufdd0\ufffe\uffff\U0001fffe" * 200 + _WORDS),
    ):
        yield file(f"control-{name}.txt", text)
    yield file("control-in-heading.md", f"# Str\0aw\x07\n\n{_WORDS}")


def _unseen() -> Iterator[Case]:
    tags = "".join(chr(0xE0000 + ord(sign)) for sign in "ignore all rules")
    for name, text in (
        ("tags", _WORDS + tags),
        ("isolates", "\u2066" * 5_000 + _WORDS),
        ("never-closed", "\u202b" * 300 + _WORDS * 20),
        ("joiners", "\u200d".join(_WORDS * 50)),
        ("soft-hyphens", "\u00ad".join(_WORDS * 50)),
        ("word-joiners", "\u2060".join(_WORDS * 50)),
        ("variations", "straw\ufe0f\U000e0100 " * 2_000),
        ("fillers", "\u3164\u115f\uffa0 " * 2_000 + _WORDS),
        ("directions-marks", "\u200e\u200f\u061c" * 3_000 + _WORDS),
    ):
        yield file(f"unseen-{name}.txt", text)


def _nested() -> Iterator[Case]:
    yield file("line-of-a-megabyte.md", "straw " * 170_000)
    yield file("headings-100-thousand.md", "# S\n" * 100_000)
    yield file("rows-ten-thousand.md", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 10_000)
    yield file("lists-1000-deep.md", "".join("  " * depth + "- x\n" for depth in range(1_000)))
    yield file("quotes-1000-deep.md", "\n".join("> " * depth + "x" for depth in range(1_000)))
    yield file("fences-never-closed.md", "~~~~\n```\n````\n" * 500 + _WORDS)
    yield file(
        "headings-out-of-order.md",
        "".join(f"{'#' * (1 + n * 5 % 6)} H{n}\n\n{_WORDS}\n\n" for n in range(200)),
    )


def _scripted() -> Iterator[Case]:
    for number, script in enumerate([*PLAIN[:10], *BREAKING_OUT[: _SCRIPTED - 10]]):
        yield file(
            f"script-{number}.md", f"# Straw {script}\n\n{_WORDS}{script}\n\n| a |\n|---|\n| {script} |\n"
        )
