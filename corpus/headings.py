"""Headings of raw text, where only the words themselves can tell."""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"(?:(?:Section|Chapter)\s+)?(\d{1,2}(?:\.\d{1,2}){0,5})(\.?)\s+(\S.*)")
_ROMAN = re.compile(r"([IVX]{1,5})\.\s+(\S.*)")
_APPENDIX = re.compile(r"(?:Appendix|Annex|Supplement)\s+[A-Z0-9]{1,3}(?:[.:]\s*\S.*)?", re.IGNORECASE)
_CELL_GAP = re.compile(r"\t| {3,}|\s\|\s")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*%?")
_LETTERS = re.compile(r"[^\W\d_]+")

_LONGEST_HEADING = 160
_KNOWN = frozenset(
    {
        "abstract",
        "acknowledgements",
        "acknowledgments",
        "appendix",
        "author contributions",
        "background",
        "bibliography",
        "conclusion",
        "conclusions",
        "data availability",
        "discussion",
        "executive summary",
        "experimental",
        "findings",
        "funding",
        "introduction",
        "keywords",
        "limitations",
        "literature cited",
        "materials and methods",
        "method",
        "methodology",
        "methods",
        "methods and materials",
        "objectives",
        "references",
        "related work",
        "results",
        "results and discussion",
        "summary",
        "supplementary material",
        "theory",
        "works cited",
    }
)
_SMALL_WORDS = frozenset(
    """
    a an and as at between by de for from in into of on or per the through to under using via versus vs
    with
    """.split()
)
_FINITE_VERBS = frozenset(
    """
    am are can cannot could did do does had has have is may might must shall should was were will would
    """.split()
)
_ARTICLES = frozenset(
    """
    a all an any each every it its our that the their them these this those we you your
    """.split()
)
# How a step of a protocol begins. A heading may begin so too ("Dry matter"), hence the further tests.
_IMPERATIVES = frozenset(
    """
    add adjust allow apply attach boil bring calculate calibrate centrifuge check choose clean close
    collect combine connect cool count cover cut decant determine dilute discard dissolve distil distill
    divide do draw dry ensure evaporate extract fill filter find fit freeze grind heat hold homogenise
    homogenize incubate inoculate insert install keep label leave let load make measure mix note open
    perform pipette place plot pour prepare press print put read record reduce remove repeat rinse run
    sample save screen seal select separate set shake sieve soak spread start stir stop store submit
    take tare test transfer turn use wait wash weigh write
    """.split()
)


def heading_level(line: str) -> int | None:
    """Return the level of the heading that `line` is (1 is the highest), or None when it is none.

    A numbered heading has the depth of its number, an ALL CAPS line and a section name every paper has
    are level 1, a short line in Title Case is level 2.

    >>> heading_level("2.1 Feedstock handling")
    2
    >>> heading_level("3. Dry the sample at 105 C") is None
    True
    """
    text = line.strip()
    if not 2 <= len(text) <= _LONGEST_HEADING or _CELL_GAP.search(text):
        return None
    if text.rstrip(":.").lower() in _KNOWN:
        return 1
    numbered = _NUMBERED.fullmatch(text)
    if numbered is not None:
        return numbered[1].count(".") + 1 if _is_numbered_title(numbered[3]) else None
    roman = _ROMAN.fullmatch(text)
    if roman is not None:
        return 1 if _is_numbered_title(roman[2]) else None
    if _APPENDIX.fullmatch(text):
        return 1
    return _level_of_unnumbered(text)


def is_step(line: str) -> bool:
    """Whether `line` reads as an instruction: it begins with an imperative and has an object."""
    words = [word.lower() for word in line.split()]
    if len(words) < 2 or words[0].strip(",") not in _IMPERATIVES:
        return False
    return words[1] in _ARTICLES or any(char.isdigit() for char in line) or len(words) > 6


def _is_numbered_title(title: str) -> bool:
    """Whether what follows the number is a title: not a sentence, a step of a list or a row of figures."""
    words = title.split()
    if not title[0].isalpha() or len(words) > 14 or _ends_like_a_sentence(title) or _is_row(words):
        return False
    # "12 tons were collected", "2.5 kg per hour", "10.5 Mg", but "2.1 pH control"
    if words[0].islower() or max(map(len, words)) < 3:
        return False
    return not _is_sentence(words) and not is_step(title)


def _level_of_unnumbered(text: str) -> int | None:
    words = text.split()
    if _ends_like_a_sentence(text) or not text[0].isalpha() or "," in text or _is_row(words):
        return None
    letters = _LETTERS.findall(text)
    if len(words) <= 10 and text.isupper():
        return 1 if any(len(part) >= 4 for part in letters) else None
    return 2 if 2 <= len(words) <= 12 and _is_title_case(words) else None


def _is_title_case(words: list[str]) -> bool:
    if words[-1].lower() in _SMALL_WORDS or _is_sentence(words):
        return False
    carrying = [word for word in words if word.lower() not in _SMALL_WORDS]
    capitalised = sum(word.lstrip("(\"'\u201c\u2018")[:1].isupper() for word in carrying)
    return len(carrying) >= 2 and capitalised == len(carrying)


def _ends_like_a_sentence(text: str) -> bool:
    return text[-1] in ".;,!" or text.endswith(("...", "\u2026"))


def _is_sentence(words: list[str]) -> bool:
    return not words[0].endswith("?") and any(word.lower() in _FINITE_VERBS for word in words[1:])


def _is_row(words: list[str]) -> bool:
    """Whether two cells or more are bare numbers, or half of all cells."""
    numbers = sum(_NUMBER.fullmatch(word) is not None for word in words)
    return numbers >= 2 or (numbers > 0 and numbers * 2 >= len(words))
