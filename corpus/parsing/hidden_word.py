"""Hidden words of a Word document: marked as hidden, white on white, or too small to be seen.

Looks come from the run, then from its styles. A shade behind a run, its paragraph or its cell is a ground
that is not guessed at.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from corpus.parsing.hidden import Hidden, How
from corpus.parsing.hidden_styles import are_same, colour
from corpus.parsing.markup import local_name

_PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_STYLES = "word/styles.xml"
_OFF = frozenset({"0", "false", "off", "none"})
_WHITE = (255, 255, 255)
# In half points: nobody reads letters of a point.
_SMALL_SIZES = frozenset({"0", "1", "2"})
_DEEPEST = 10


@dataclass(frozen=True, slots=True)
class _Looks:
    vanish: bool | None = None
    ink: str | None = None
    size: str | None = None
    shaded: bool = False

    def over(self, below: _Looks) -> _Looks:
        """Return these looks, what they leave open from `below`."""
        return _Looks(
            below.vanish if self.vanish is None else self.vanish,
            below.ink if self.ink is None else self.ink,
            below.size if self.size is None else self.size,
            self.shaded or below.shaded,
        )

    def how(self) -> How | None:
        """Return how a run of these looks is hidden."""
        if self.vanish:
            return How.MARKED
        if self.size in _SMALL_SIZES:
            return How.TINY
        ink = colour(f"#{self.ink}") if self.ink and self.ink != "auto" else None
        return How.SAME_COLOUR if ink and not self.shaded and are_same(ink, _WHITE) else None


_PLAIN = _Looks()


def in_docx(path: Path) -> Iterator[Hidden]:
    """Yield the hidden words of an inspected Word document, those of a part and kind together."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        styles = _styles(_root(archive.read(_STYLES))) if _STYLES in names else {}
        for part in _PARTS:
            if part in names:
                yield from _in_part(_root(archive.read(part)), styles)


def _root(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    return etree.fromstring(data, parser)


def _in_part(root: Any, styles: dict[str, _Looks]) -> Iterator[Hidden]:
    found: dict[How, list[str]] = {}
    for run in root.iter("{*}r"):
        words = "".join(text.text or "" for text in run.iterchildren("{*}t"))
        if words.strip():
            hidden = _looks_of(run, styles).how()
            if hidden is not None:
                found.setdefault(hidden, []).append(words)
    for how, parts in found.items():
        yield Hidden(how, " ".join(parts))


def _looks_of(run: Any, styles: dict[str, _Looks]) -> _Looks:
    own = _properties(run, "rpr")
    looks = _read(own)
    looks = looks.over(styles.get(_named(own, "rstyle"), _PLAIN))
    for above in run.iterancestors():
        name = local_name(above)
        if name == "p":
            of_paragraph = _properties(above, "ppr")
            looks = looks.over(styles.get(_named(of_paragraph, "pstyle"), _PLAIN))
            looks = looks.over(_Looks(shaded=_is_shaded(of_paragraph)))
        elif name == "tc":
            looks = looks.over(_Looks(shaded=_is_shaded(_properties(above, "tcpr"))))
        elif name == "txbxcontent":
            # A box may be filled by a drawing around it.
            looks = looks.over(_Looks(shaded=True))
    return looks


def _styles(root: Any) -> dict[str, _Looks]:
    told = {_attribute(style, "styleId"): style for style in root.iter("{*}style")}

    def looks(name: str, depth: int) -> _Looks:
        style = told.get(name)
        if style is None or depth > _DEEPEST:
            return _PLAIN
        own = _read(_properties(style, "rpr"))
        own = own.over(_Looks(shaded=_is_shaded(_properties(style, "ppr")) or _is_of_tables(style)))
        return own.over(looks(_named(style, "basedon"), depth + 1))

    return {name: looks(name, 0) for name in told}


def _is_of_tables(style: Any) -> bool:
    # Its cells may be shaded by conditions that are not followed here.
    return _attribute(style, "type") == "table"


def _read(properties: Any) -> _Looks:
    if properties is None:
        return _PLAIN
    marks = {local_name(mark): mark for mark in properties}
    vanish = marks.get("vanish")
    ink, size = marks.get("color"), marks.get("sz")
    return _Looks(
        None if vanish is None else _attribute(vanish, "val").lower() not in _OFF,
        None if ink is None else _attribute(ink, "val").lower(),
        None if size is None else _attribute(size, "val"),
        "highlight" in marks or _is_shaded(properties),
    )


def _is_shaded(properties: Any) -> bool:
    if properties is None:
        return False
    shade = next((mark for mark in properties if local_name(mark) == "shd"), None)
    return shade is not None and _attribute(shade, "fill").lower() not in ("", "auto", "ffffff")


def _properties(element: Any, name: str) -> Any:
    return next((child for child in element if local_name(child) == name), None)


def _named(properties: Any, name: str) -> str:
    if properties is None:
        return ""
    mark = _properties(properties, name)
    return "" if mark is None else _attribute(mark, "val")


def _attribute(element: Any, name: str) -> str:
    return next((str(v) for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")
