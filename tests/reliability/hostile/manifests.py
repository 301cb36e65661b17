"""More manifests: YAML in place of JSON lines, paths, addresses, licences and DOIs that are none.

With those of `places` there are a hundred and ten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.reliability.hostile.cases import Case
from tests.reliability.hostile.places import manifest

FIELD, CLASS, NO_JSON, OUTSIDE = "invalid_field", "unknown_license_class", "invalid_json", "outside_folder"
_STRAW = {"path": "straw.txt", "title": "Straw"}


def cases() -> Iterator[Case]:
    """Yield the manifests."""
    yield from _yaml()
    yield from _paths()
    yield from _addresses()
    yield from _licences()
    yield from _dois()
    yield from _shapes()


def _yaml() -> Iterator[Case]:
    """A manifest is JSON lines: what YAML would make of one is never made."""
    bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    bomb += [f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]" for n in range(9)]
    yield manifest("yaml-aliases", *bomb)
    for name, line in (
        ("object", "!!python/object/apply:os.system ['touch evil']"),
        ("name", "!!python/name:os.system"),
        ("self", "&a [*a]"),
        ("merge", "<<: {path: straw.txt, title: Straw}"),
        ("flow", "{path: straw.txt, title: Straw}"),
        ("deep", "[" * 20_000),
        ("binary", "!!binary c3RyYXc="),
        ("set", "!!set {path, title}"),
        ("document", "--- path: straw.txt"),
    ):
        yield manifest(f"yaml-{name}", line, refused=NO_JSON)


def _paths() -> Iterator[Case]:
    for name, path, code in (
        ("up-behind", "straw.txt/../../straw.txt", OUTSIDE),
        ("up-often", "../" * 200 + "etc/hosts.txt", OUTSIDE),
        ("root-twice", "//etc/passwd.txt", OUTSIDE),
        ("process-file", "/proc/self/fd/0.txt", OUTSIDE),
        ("other-separator", "..\\straw.txt", "missing_file"),
        ("overlong", "\u2025/\u2025/straw.txt", "missing_file"),
        ("wide-slash", "..\uff0fstraw.txt", "missing_file"),
        ("home-of-root", "~root/straw.txt", "missing_file"),
        ("variable", "$HOME/straw.txt", "missing_file"),
    ):
        yield manifest(f"way-{name}", {"path": path, "title": "Straw"}, refused=code)


def _addresses() -> Iterator[Case]:
    for name, address in (
        ("script", "javascript:alert(1)"),
        ("script-cased", "JaVaScRiPt://x/%0aalert(1)"),
        ("script-tabbed", "java\tscript:alert(1)"),
        ("data", "data:text/html,<script>alert(1)</script>"),
        ("vbscript", "vbscript:msgbox(1)"),
        ("file", "file:///etc/passwd"),
        ("ftp", "ftp://127.0.0.1/x"),
        ("gopher", "gopher://127.0.0.1:6379/_x"),
        ("dict", "dict://127.0.0.1:11211/stat"),
        ("jar", "jar:http://127.0.0.1/x.jar!/"),
        ("no-scheme", "//evil.example/x"),
        ("no-host", "http:///x"),
        ("backslash", "http://good.example\\@evil.example/"),
        ("bracket", "http://[::1"),
        ("markup", 'https://example.org/"><script>alert(1)</script>'),
    ):
        yield manifest(f"address-{name}", _STRAW | {"url": address}, refused=FIELD)


_SIGNALS = (
    ("spaced", "  C C   B Y  4 . 0 "),
    ("zero-width", "CC\u200b-BY\u200b-4.0"),
    ("alike", "\u0421\u0421-BY-4.0"),
    ("wide", "\uff23\uff23\uff0d\uff22\uff39"),
    ("two", "CC-BY-4.0 and all rights reserved"),
    ("not", "not licensed under CC-BY-4.0"),
    ("nd-hidden", "CC-BY-NC-ND-4.0, see also CC0-1.0"),
    ("expression", "(((((" * 100 + "MIT" + ")))))" * 100),
    ("expression-open", "(CC-BY-4.0 AND"),
    ("expression-long", " OR ".join(["CC-BY-4.0"] * 300)),
    ("spdx-none", "LicenseRef-" + "x" * 500),
    ("address-wrong-host", "https://creativecommons.org.evil.example/licenses/by/4.0/"),
    ("address-user", "https://creativecommons.org@evil.example/licenses/by/4.0/"),
    ("address-path", "https://evil.example/creativecommons.org/licenses/by/4.0/"),
    ("address-up", "https://creativecommons.org/licenses/by/4.0/../../by-nc-nd/4.0/"),
    ("address-version", "https://creativecommons.org/licenses/by/" + "9" * 300),
    ("address-bracket", "https://[creativecommons.org/licenses/by/4.0/"),
    ("from-later", "CC-BY-4.0 (from 9999-12-31)"),
    ("from-no-day", "CC-BY-4.0 (from 2027-13-45)"),
    ("from-often", "CC-BY-4.0 " + "(from 2027-01-01)" * 200),
    ("markup", "<license xlink:href='javascript:alert(1)'>CC0</license>"),
    ("long", "public domain " * 280),
    ("other-digits", "CC-BY-\u0664.\u0660"),
)


def _licences() -> Iterator[Case]:
    for name, signal in _SIGNALS:
        yield manifest(f"licence-{name}", _STRAW | {"license_source": signal})
    for name, declared in (
        ("wildcard", "*"),
        ("everything", "all"),
        ("alike", "publi\u0441"),
        ("spaced", "pub lic"),
        ("markup", "<b>public</b>"),
    ):
        yield manifest(f"class-{name}", _STRAW | {"license_class": declared}, refused=CLASS)


def _dois() -> Iterator[Case]:
    for name, doi in (
        ("words", "none"),
        ("prefix-alone", "10.1234"),
        ("nothing-behind", "10.1234/"),
        ("short-prefix", "10.12/x"),
        ("long-prefix", "10." + "1" * 40 + "/x"),
        ("letters", "10.abcd/x"),
        ("space", "10.1234/a b"),
        ("other-digits", "10.\u0661\u0662\u0663\u0664/x"),
        ("twice", "10.1234/x 10.1234/y"),
        ("line-end", "10.1234/x%0d%0aX-Evil: 1"),
        ("zero", "10.1234/x%00"),
        ("half", "10.1234/%ed%a0%80 x"),
        ("address-other", "https://evil.example/10.1234/x"),
        ("up", "doi:../../10.1234/x"),
        ("brackets", ")" * 400),
        ("long", "10.1234/" + "x" * 500),
        ("number", 10.1234),
        ("list", ["10.1234/x"]),
        ("object", {"doi": "10.1234/x"}),
        ("true", True),
    ):
        yield manifest(f"doi-{name}", _STRAW | {"doi": doi}, refused=FIELD)


def _shapes() -> Iterator[Case]:
    yield manifest("shape-keys", json.dumps(_STRAW | {f"k{n}": 1 for n in range(5_000)}))
    yield manifest(
        "shape-escaped", '{"pa\\u0074h": "straw.txt", "path": "/etc/passwd", "title": "x"}', refused=NO_JSON
    )
    yield manifest("shape-behind", '{"path": "straw.txt", "title": "Straw"} {}', refused=NO_JSON)
    yield manifest("shape-half", '{"path": "straw.txt", "title": "Str', refused=NO_JSON)
    yield manifest(
        "shape-line-long", '{"path": "straw.txt", "title": "' + "x" * 300_000 + '"}', refused="too_large"
    )
    yield manifest("shape-path-list", {"path": ["straw.txt"], "title": "Straw"}, refused=FIELD)
    yield manifest("shape-utf-16", '{"path": "straw.txt", "title": "Straw"}'.encode("utf-16"))
    yield manifest("shape-mark-inside", "\ufeff" + json.dumps(_STRAW))
