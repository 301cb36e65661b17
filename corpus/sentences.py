"""Where sentences of scientific prose end. Pure: text in, spans out."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nupunkt import PunktSentenceTokenizer

Span = tuple[int, int]

# Never the end of a sentence, whatever follows.
_ABBREVIATION_WORDS = (
    "al approx ca cf ch chap col cols dr ed eds eq eqs e.g et fig figs i.e no nos n.b p pp para paras prof"
    " ref refs resp sec sect sects sp spp subsp suppl tab tabs var viz vol vols vs"
)
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
# A sentence may end in these after a number: "5.2 mg. The rest was lost."
_UNITS = (
    "g kg mg ug µg μg t l L ml mL µl μl μL ha m cm mm km nm µm μm s min h hr hrs d wk mo yr y mol mmol"
    " M mM K C F Pa kPa MPa bar J kJ MJ GJ W kW MW V A Hz kHz MHz rpm ppm ppb wt vol"
)
_UNIT_END = re.compile(rf"(?<=\d)[ \u00a0\u202f]?(?:{'|'.join(_UNITS.split())})\.(?=\s+[A-Z\u00c0-\u00de])")
_LAST_WORD = re.compile(r"([\w.]{1,12})\.[\"')\]]*$")
_CITATIONS = re.compile(r"(?:\[\d[\d,;\s\u2010-\u2015-]{0,60}\]\s*)+")
_LOOK_BACK = 24


@cache
def _tokenizer() -> PunktSentenceTokenizer:
    import nupunkt

    return nupunkt.load("default")


def sentence_spans(text: str) -> list[Span]:
    """Return where the sentences of `text` start and end, in order, without the space between them.

    Line breaks inside a sentence are kept. Everything that is not white space lies in a span.
    """
    bounds = _boundaries(text)
    spans = []
    for start, end in zip([0, *bounds], [*bounds, len(text)], strict=True):
        trimmed = _trimmed(text, start, end)
        if trimmed[0] < trimmed[1]:
            spans.append(trimmed)
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _boundaries(text: str) -> list[int]:
    """Return the offsets at which a sentence may be cut, between the first character and the last."""
    found = {end for _, end in _tokenizer().span_tokenize(text)}
    found |= {match.end() for match in _UNIT_END.finditer(text)}
    kept = {_after_citations(text, end) for end in found if not _abbreviated(text, end)}
    return sorted(end for end in kept if 0 < end < len(text))


def _abbreviated(text: str, end: int) -> bool:
    tail = text[max(0, end - _LOOK_BACK) : end].rstrip()
    match = _LAST_WORD.search(tail)
    if match is None or match[1].lower() not in _ABBREVIATIONS:
        return False
    # "no." asks for its number; on its own it is the answer "no".
    return match[1].lower() != "no" or text[end : end + 8].lstrip()[:1].isdigit()


def _after_citations(text: str, end: int) -> int:
    """Leave "[12]" with the sentence it follows."""
    start = end
    while start < len(text) and start - end < 4 and text[start].isspace():
        start += 1
    match = _CITATIONS.match(text, start)
    return match.end() if match else end


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
