"""Text, Markdown and LaTeX: front matter with tricks, encodings that lie, nesting, very long lines."""

from __future__ import annotations

import codecs
import random
from collections.abc import Iterator

from tests.reliability.hostile.cases import Case, file

_WORDS = "Straw was stored for ninety days and lost a tenth of its dry matter. "


def cases() -> Iterator[Case]:
    """Yield the hostile texts."""
    yield from _front_matter()
    yield from _markdown()
    yield from _text()
    yield from _latex()


def _front_matter() -> Iterator[Case]:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
    )
    for name, matter in (
        ("aliases", bomb),
        ("self", "a: &a [*a]\n"),
        ("merge", "a: &a {b: 1}\nc: {<<: *a, <<: *a}\n"),
        ("python-object", "title: !!python/object/apply:os.system ['touch /tmp/evil']\n"),
        ("python-name", "title: !!python/name:os.system\n"),
        ("python-new", "title: !!python/object/new:subprocess.Popen [['id']]\n"),
        ("deep-list", "title: " + "[" * 20_000 + "\n"),
        ("deep-map", "title: " + "{a: " * 20_000 + "\n"),
        ("deep-block", "".join(" " * n + "a:\n" for n in range(1_200))),
        ("number-huge", "year: " + "9" * 100_000 + "\n"),
        ("number-base-60", "year: " + "59:" * 20_000 + "59\n"),
        ("float", "year: .inf\ntitle: .nan\n"),
        ("date", "title: 9999-99-99\nyear: 2020-13-45\n"),
        ("date-real", "title: 2020-01-02\nauthors: 2020-01-02 03:04:05\n"),
        ("binary", "title: !!binary AAAA\nauthors: !!set {a, b}\n"),
        ("keys-odd", "? [a, b]\n: c\n? {d: e}\n: f\n"),
        ("keys-twice", "title: A\ntitle: B\n" * 500),
        ("types", "title: [1, {a: b}]\nauthors: {a: [1]}\nyear: [2020]\ndoi: true\njournal: 5\n"),
        ("licence", "license_class: public\nlicense: CC0\nrights: public domain\n"),
        ("documents", "---\na: 1\n---\nb: 2\n"),
        ("tag-long", "title: !" + "x" * 50_000 + " a\n"),
        ("anchor-long", "title: &" + "x" * 50_000 + " a\n"),
        ("controls", "title: \x00\x07\x1b[31m\n"),
        ("title-long", "title: " + "Straw " * 60_000 + "\n"),
        ("title-markup", "title: <script>alert(1)</script>\njournal: '{{ 7*7 }}'\n"),
        ("tabs", "\ttitle:\t\tx\n"),
    ):
        yield file(f"yaml-{name}.md", f"---\n{matter}---\n\n# Straw\n\n{_WORDS}\n")
    yield file("yaml-open.md", "---\ntitle: x\n" + _WORDS * 50)


def _markdown() -> Iterator[Case]:
    for name, text in (
        ("quotes", ">" * 100_000 + " x"),
        ("lists", "".join(" " * (2 * n) + "- x\n" for n in range(1_500))),
        ("emphasis", "*a_ " * 100_000),
        ("brackets", "[" * 100_000),
        ("links", "[a](" * 60_000),
        ("backticks", "".join("`" * n + " " for n in range(1, 1_500))),
        ("references", "".join(f"[{n}]: /{n}\n" for n in range(60_000))),
        ("footnotes", "x[^a]\n\n[^a]: y[^b]\n[^b]: z[^a]\n" * 2_000),
        ("headings", "# Straw\n" * 80_000),
        ("columns", "|" + "a|" * 20_000 + "\n|" + "-|" * 20_000 + "\n|" + "1|" * 20_000),
        ("rows", "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 60_000),
        ("html", "<div>" * 80_000),
        ("entities", "&#x0;&#xD800;&#1114112; " * 2_000),
        ("fence-open", "```\n" + _WORDS * 2_000),
        ("image-outside", "![x](file:///etc/passwd) " * 500 + _WORDS),
        ("rules", "---\n" * 100_000),
    ):
        yield file(f"{name}.md", text)


def _text() -> Iterator[Case]:
    choose = random.Random(5)  # noqa: S311 - the same every time
    noise = bytes(choose.randrange(256) for _ in range(200_000))
    for name, data in (
        ("utf-16-without-mark", (_WORDS * 20).encode("utf-16-le")),
        ("utf-32", codecs.BOM_UTF32_LE + (_WORDS * 20).encode("utf-32-le")),
        ("utf-16-odd", codecs.BOM_UTF16_LE + (_WORDS * 20).encode("utf-16-le")[:-1]),
        ("utf-16-lies", codecs.BOM_UTF16_BE + _WORDS.encode()),
        ("utf-8-lies", codecs.BOM_UTF8 + _WORDS.encode("latin-1") + b"\xe9\xff" * 50),
        ("utf-8-overlong", b"\xc0\xaf\xe0\x80\xaf" * 500 + _WORDS.encode()),
        ("surrogates", b"\xed\xa0\x80\xed\xb0\x80" * 500 + _WORDS.encode()),
        ("nul-between", b"\0".join(_WORDS.encode().split()) * 20),
        ("ebcdic", (_WORDS * 20).encode("cp500")),
        ("shift-jis", ("\u85c1\u3092\u8caf\u8535" * 200).encode("shift-jis")),
        ("noise", noise),
        ("one-line", (_WORDS * 40_000).encode()),
        ("one-word", b"a" * 2_900_000),
        ("line-ends", b"\n" * 2_900_000),
        ("line-ends-mixed", b"straw\r\rfed\n\r\x0b\x0c\xc2\x85\xe2\x80\xa8" * 20_000),
        ("form-feeds", b"straw was stored\x0c" * 60_000),
        ("right-to-left", ("\u202e" + _WORDS + "\u202c\u2066").encode() * 500),
        ("zero-width", "\u200b\u200d\ufeff".join(_WORDS).encode() * 100),
        ("combining", ("s" + "\u0301" * 2_000 + " ").encode() * 200),
        ("private-signs", "\ue000\uf8ff\U0010ffff".encode() * 20_000),
        ("terminal", b"\x1b]0;evil\x07\x1b[2J" * 2_000 + _WORDS.encode()),
        ("numbers", b"1 2 3 4 5 6 7 8 9 0\n" * 80_000),
        ("dots", b"e.g. et al. Fig. " * 100_000),
        ("hyphens", b"straw-\n" * 200_000),
        ("spaces", b" " * 2_900_000),
        ("normalising", "\ufdfa".encode() * 300_000),
    ):
        yield file(f"{name}.txt", data)
    yield file("empty.txt", b"", refused="empty_file")
    yield file("blank.txt", b"\n \t\n", refused="no_text")
    yield file("too-large.txt", _WORDS * 60_000, refused="too_large")
    yield file("page.txt", b"%PDF-1.7\n" + bytes(60), refused="wrong_signature")


def _latex() -> Iterator[Case]:
    page = "\\documentclass{{article}}\\begin{{document}}{}\nStraw was stored.\\end{{document}}"
    for name, inner in (
        ("input", "\\input{/etc/passwd}\\include{../../etc/passwd}"),
        ("write", "\\immediate\\write18{touch /tmp/evil}"),
        ("loop", "\\def\\a{\\a\\a}\\a"),
        (
            "swelling",
            "\\def\\a{xx}" + "".join(f"\\def\\{chr(97 + n)}{{}}" for n in range(20)) + "\\a" * 9_000,
        ),
        ("braces", "{" * 50_000),
        ("math", "$" * 50_001),
        ("nested", "\\begin{itemize}\\item " * 5_000),
    ):
        yield file(f"{name}.tex", page.format(inner))
