"""Ten thousand ways to misspell an open licence: none is read as open unless it is another known form."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

import pytest

from corpus.licensing import normalise, tables
from corpus.licensing.readings import OPEN
from corpus.rights import LicenseClass

CONDITIONS = ("", "nc", "nd", "sa", "nc-nd", "nd-nc", "nc-sa", "sa-nc")
VERSIONS = ("", "1.0", "2.0", "2.1", "2.5", "3.0", "4.0")
PAGES = ("deed", "legalcode", "rdf")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 -_/.,;:+()%#?@&=\u0430\u0441\u200b\u2010\u00a0"
MUTATIONS = 10_000


def _places() -> Iterator[tuple[str, str]]:
    """Yield every version, as it may be written, with every port it was issued for."""
    for version in VERSIONS:
        flavours = ("", "international", "unported", "generic", "universal")
        ports = tables.jurisdictions() if version not in {"", "4.0"} else ()
        for number in {version, version.removesuffix(".0")}:
            yield from ((number, port) for port in (*flavours, *ports))


def _cc() -> Iterator[tuple[str, LicenseClass]]:
    """Yield every code and address of Creative Commons, with its class, by counting instead of by grammar."""
    for conditions, (version, port) in itertools.product(CONDITIONS, _places()):
        kind = LicenseClass.OPEN_NONCOMMERCIAL if "nc" in conditions else LicenseClass.OPEN_COMMERCIAL
        for start, v, end in itertools.product(("", "creative commons "), ("", "v"), ("", " license")):
            yield f"{start}cc by {conditions} {v if version else ''}{version} {port}{end}", kind
        for word, cc, page in itertools.product(("license", "licence"), ("", "cc"), ("", *PAGES)):
            for plural in ("", "s"):
                address = f"creativecommons.org/{word}{plural}/{cc}/by-{conditions}/{version}/{port}/{page}"
                yield address, kind


def _public() -> Iterator[tuple[str, LicenseClass]]:
    starts = ("cc0", "cc zero", "creative commons zero", "pdm", "cc pdm", "public domain mark")
    for start, version in itertools.product(starts, ("", "1", "1.0", "v1", "v1.0")):
        yield f"{start} {version}", LicenseClass.PUBLIC
    paths = ("zero/1.0", "mark/1.0", "certification/1.0/us")
    for path, page in itertools.product(paths, ("", *PAGES)):
        yield f"creativecommons.org/publicdomain/{path}/{page}", LicenseClass.PUBLIC


def squashed(text: str) -> str:
    """Return `text` without what may differ between spellings of one form."""
    marks = "/.,;:()[]<>\"' #?"
    plain = re.sub("[\u2010\u00a0]", "-", text.strip()).lower().strip(marks)
    plain = re.sub(r"^(?:https?:/{1,3})+", "", plain).removeprefix("www.")
    return re.sub(r"[ _/-]+", "", plain.strip(marks))


@pytest.fixture(scope="module")
def known() -> dict[str, LicenseClass]:
    """Every form that may be read as open, squashed."""
    rows = [*tables.addresses().values(), *tables.names().values(), *tables.spdx_ids().values()]
    forms = [*((row.form, row.license_class) for row in rows), *_cc(), *_public()]
    forms += [(name, row.license_class) for name, row in tables.spdx_names().items()]
    for row in tables.spdx_ids().values():
        for page in ("spdx.org/licenses/", "opensource.org/licenses/", "opensource.org/license/"):
            forms += [(f"{page}{row.form}{end}", row.license_class) for end in ("", ".html", ".txt", ".json")]
    return {squashed(form): kind for form, kind in forms if kind in OPEN}


def _mutated(text: str, chance: random.Random) -> str:
    place, letter = chance.randrange(len(text) + 1), chance.choice(LETTERS)
    other = chance.randrange(len(text) + 1)
    return chance.choice(
        [
            text[:place] + letter + text[place:],
            text[:place] + text[place + 1 :],
            text[:place] + letter + text[place + 1 :],
            text[:place] + text[place : place + 2][::-1] + text[place + 2 :],
            text[: min(place, other)] + text[max(place, other) :],
            text + chance.choice([" ", "-", "/", ""]) + letter * chance.randrange(1, 4),
            letter * chance.randrange(1, 4) + chance.choice([" ", "-", "/", ""]) + text,
        ]
    )


def test_no_misspelt_open_form_is_read_as_open(known: dict[str, LicenseClass]) -> None:
    chance = random.Random(4)  # noqa: S311 the same ones each time
    forms = sorted(known)
    spelt = [
        *(row.form for row in tables.names().values() if row.license_class in OPEN),
        *(
            f"https://{row.form}"
            for row in tables.addresses().values()
            if row.license_class in OPEN and not row.covers_below
        ),
        *(row.form for row in tables.spdx_ids().values() if row.license_class in OPEN),
        *(f"https://creativecommons.org/licenses/by{c and '-' + c}/4.0/" for c in CONDITIONS),
        *(f"CC BY{c and '-' + c.upper()} {v}".strip() for c in CONDITIONS for v in VERSIONS),
        "https://creativecommons.org/licenses/by-nc-nd/3.0/igo/",
        "https://creativecommons.org/publicdomain/zero/1.0/",
        "CC0 1.0",
    ]
    wrong = []
    for _ in range(MUTATIONS):
        text = _mutated(chance.choice(spelt), chance)
        reading = normalise(text)
        if reading.is_open and known.get(squashed(text)) is not reading.license_class:
            wrong.append((text, reading.license_class.value, reading.matched_form))

    assert len(forms) > 5_000
    assert not wrong, "\n".join(map(str, wrong))
