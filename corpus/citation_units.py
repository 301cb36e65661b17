"""How passages are named and what they point at: locators, citable units, forward references. Pure."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence

MAX_LOCATOR = 200
MAX_UNIT = 200
_MAX_REFERENCES = 100
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_MAX_RANGE = 30

_NUMBER = r"(?:[A-Z]\.?)?\d{1,4}(?:[.\-\u2010\u2011]\d{1,4}){0,4}[a-z]?"
_ROMAN = r"[IVXLC]{1,7}"
_TABLE_LABEL = re.compile(
    rf"\s*(?:table|tab\.|tabelle|tableau|tabla|tabella)\s+({_NUMBER}|{_ROMAN}\b|[A-Z]\b)", re.IGNORECASE
)
_NUMBERED_HEADING = re.compile(
    r"\s*(?:(?:section|chapter|§)\s+)?(\d{1,3}(?:\.\d{1,3}){0,5})\.?(?=\s|$)", re.IGNORECASE
)
_NAMED_HEADING = re.compile(
    rf"\s*(annex|appendix|article|clause|schedule|part)\s+({_NUMBER}|{_ROMAN}\b|[A-Z]\b)", re.IGNORECASE
)

_KINDS = {
    "table": "Table", "tab": "Table", "figure": "Figure", "fig": "Figure", "section": "Section",
    "sect": "Section", "sec": "Section", "annex": "Annex", "appendix": "Appendix", "article": "Article",
    "equation": "Equation", "eq": "Equation", "chapter": "Chapter", "box": "Box", "scheme": "Scheme",
}  # fmt: skip
_POINTER = re.compile(
    r"\b(Tables?|Tabs?\.|Figures?|Figs?\.?|Sections?|Sects?\.|Secs?\.|Annex(?:es)?|Appendix|Appendices|Articles?"
    r"|Equations?|Eqs?\.|Chapters?|Box(?:es)?|Schemes?|TABLE|FIGURE|FIG\.|ANNEX|APPENDIX)[ \u00a0]?\(?"
    rf"({_NUMBER}|{_ROMAN}\b|[A-Z]\b)"
)
# "Figures 6\u20138" names its ends; a hyphen belongs to a number, as in "Table 4-1".
_MORE = re.compile(rf"\)?(?:,? and |,? or | ?& ?|, ?|\u2013)\(?({_NUMBER}|{_ROMAN}\b)(?![\w%])")
_BIBLIOGRAPHY = re.compile(r"\[(\d{1,4}(?:\s?[,;\u2010-\u2015-]\s?\d{1,4}){0,40})\]")


def table_label(caption: str) -> str:
    """Return "Table 3" when a caption starts so, else nothing."""
    match = _TABLE_LABEL.match(caption)
    return f"Table {match[1]}" if match else ""


def pages_label(first: int | None, last: int | None) -> str:
    """Return "p. 7" or "pp. 7–8", or nothing without pages."""
    if first is None:
        return ""
    return f"p. {first}" if last in (None, first) else f"pp. {first}\u2013{last}"


def slides_label(first: int | None, last: int | None) -> str:
    """Return "slide 7" or "slides 7–8", or nothing without slides."""
    if first is None:
        return ""
    return f"slide {first}" if last in (None, first) else f"slides {first}\u2013{last}"


def on_slide(locator: str, slides: str) -> str:
    """Return a locator with the slide behind it, which readers of a presentation look for first."""
    return locator if not slides or locator.endswith(slides) else _shortened(locator, f", {slides}")


def text_locator(section_path: Sequence[str], pages: str, ordinal: int) -> str:
    """Return the place a reader looks for: the section, else the page, else the running number."""
    return _shortened(section_path[-1] if section_path else pages or f"Passage {ordinal + 1}")


def table_locator(label: str, section_path: Sequence[str], pages: str, part: tuple[int, int]) -> str:
    """Return "Table 3", or where an unnumbered table stands, with "part 2 of 3" when it is cut."""
    place = f" in {section_path[-1]}" if section_path else f" on {pages}" if pages else ""
    name = label or f"Table{place}"
    number, parts = part
    return _shortened(name, f", part {number} of {parts}" if parts > 1 else "")


def section_unit(
    section_path: Sequence[str], first_page: int | None, ordinal: int, *, kind: str = "page"
) -> str:
    """Return the canonical name of the smallest citable part a text passage belongs to.

    `kind` is what the document is made of: pages, or slides.
    """
    if not section_path:
        return f"{kind}:{first_page}" if first_page is not None else f"passage:{ordinal}"
    heading = section_path[-1]
    named, numbered = _NAMED_HEADING.match(heading), _NUMBERED_HEADING.match(heading)
    if named:
        return f"{named[1].lower()}:{named[2].lower()}"
    if numbered:
        return f"section:{numbered[1]}"
    return _bounded("section:" + "/".join(_slug(name) for name in section_path))


def table_unit(label: str, running_number: int) -> str:
    """Return the canonical name of a table; unnumbered ones are told apart by their order."""
    return f"table:{_slug(label.removeprefix('Table '))}" if label else f"table:unnumbered-{running_number}"


def forward_references(text: str, *, own_label: str = "") -> tuple[str, ...]:
    """Return what a passage points at, in order of first mention: "Table 3", "Section 2.1", "[12]"."""
    found: dict[str, None] = {}
    for name in _mentions(text):
        if len(found) >= _MAX_REFERENCES:
            break
        if name != own_label:
            found[name] = None
    return tuple(found)


def _mentions(text: str) -> Iterator[str]:
    for match in _POINTER.finditer(text):
        kind = _kind(match[1])
        if match[2] in _LETTERS and kind not in ("Annex", "Appendix"):
            continue
        yield f"{kind} {match[2]}"
        more = _MORE.match(text, match.end())
        while more:
            yield f"{kind} {more[1]}"
            more = _MORE.match(text, more.end())
    for match in _BIBLIOGRAPHY.finditer(text):
        yield from (f"[{number}]" for number in _numbers(match[1]))


def _kind(word: str) -> str:
    lower = word.lower().rstrip(".")
    for form in (lower, lower.removesuffix("s"), lower.removesuffix("es"), lower.replace("ices", "ix")):
        if form in _KINDS:
            return _KINDS[form]
    return word


def _numbers(inside: str) -> Iterator[int]:
    for part in re.split(r"[,;]", inside):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        if len(ends) == 2 and 0 < ends[1] - ends[0] <= _MAX_RANGE:
            yield from range(ends[0], ends[1] + 1)
        else:
            yield from ends


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "-", plain).strip("-")


def _bounded(unit: str) -> str:
    if len(unit) <= MAX_UNIT:
        return unit
    return f"{unit[: MAX_UNIT - 17]}-{hashlib.sha256(unit.encode()).hexdigest()[:16]}"


def _shortened(name: str, suffix: str = "") -> str:
    room = MAX_LOCATOR - len(suffix)
    return (name if len(name) <= room else name[: room - 1].rstrip() + "\u2026") + suffix
