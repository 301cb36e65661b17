"""Text hygiene: what may not be stored goes, words cut at line ends are joined, nothing else changes.

Every function is linear in the length of its text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

_LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
}
_REMOVED_CONTROLS = (*range(0x09), 0x0B, *range(0x0E, 0x20), *range(0x7F, 0xA0))
_CLEANING = str.maketrans(
    {
        **{chr(code): "" for code in _REMOVED_CONTROLS},
        **_LIGATURES,
        "\u00ad": "",  # soft hyphen
        "\u200b": "",  # zero-width space
        "\ufeff": "",  # byte order mark
        "\ufffe": "",
        "\uffff": "",
        "\x85": "\n",
        "\u2028": "\n",
        "\u2029": "\n",
    }
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
# Format characters hide text or turn its direction; tag characters spell ASCII nobody sees.
_HIDDEN = {"Cf", "Cc", "Cs", "Co", "Cn"}
_NOT_ASCII_RUN = re.compile(r"[^\x00-\x7f]{31,}")
_MARKS_KEPT = 30
_SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")

_COMBINING = {
    "\u00b4": "\u0301",
    "\u02ca": "\u0301",
    "`": "\u0300",
    "\u02cb": "\u0300",
    "\u02c6": "\u0302",
    "\u00a8": "\u0308",
    "\u02dc": "\u0303",
    "\u02c7": "\u030c",
    "\u00b8": "\u0327",
}
_LONE_ACCENT = re.compile(
    rf"(?P<before>[^\W\d_]?)(?P<accent>[{''.join(_COMBINING)}])(?P<space> ?)(?P<after>(?:[^\W\d_])?)"
)
_HYPHENS = "-\u2010"
_WORD = re.compile(r"[^\W_]+(?:[-\u2010][^\W_]+)*")
_LAST_PART = re.compile(r"[^\W\d_]+\Z")
_FIRST_PART = re.compile(r"[^\W\d_]+")
_LONGEST_WORD = 64
_SOFT_LINE_END = re.compile("\u00ad[ \\t]*\\n[ \\t]*")

# First halves of words that are written as one even where both halves are words of their own.
_JOINING = frozenset(
    "after back down ever every fore here inter over some super there through under what where with".split()
)


def clean(text: str) -> str:
    """Return `text` as it may be stored.

    NUL, controls, lone surrogates, soft hyphens and byte order marks are removed, line ends become LF,
    ligatures are spelled out, and the rest is put into canonical composition (NFC). Form feeds stay:
    they are page breaks.
    """
    text = _SURROGATES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _normal_form(_SOFT_LINE_END.sub("", text).translate(_CLEANING), "NFC")


def matching_form(text: str) -> str:
    """Return the form in which texts are compared: NFKC, hygiene applied, white space runs as one space."""
    return " ".join(_normal_form(clean(text), "NFKC").split())


def letter_count(text: str) -> int:
    """Return how many letters and digits `text` has, however its words are parted and accents written."""
    if text.isascii():
        return sum(map(str.isalnum, text))
    return sum(char.isalnum() and char not in _COMBINING for char in _normal_form(text, "NFKD"))


def one_line(text: str) -> str:
    """Return `text` cleaned and on one line, runs of spaces as one space."""
    return _SPACES.sub(" ", clean(text).replace("\n", " ").replace("\f", " ")).strip()


def legible_name(name: str) -> str:
    """Return the name of a file as it can be stored and shown.

    Names need not be text: what no text column holds, NUL and lone surrogates, becomes U+FFFD.
    """
    return _NO_TEXT.sub("\ufffd", name)


def visible(text: str) -> str:
    """Return `text` without control, format, bidirectional, zero-width and tag characters.

    For text that goes to a terminal, a model or a page. Line ends and tabs stay.
    """
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in _HIDDEN)


def compose_accents(text: str) -> str:
    """Return `text` with accents that stand apart, as old PDFs show them, put on their letters.

    Before a space the accent belongs to the letter before it ("Me\u00b4 diterrane\u00b4 e"), at the beginning
    of a word to the letter behind it; between letters, to the one it can stand on.
    """
    return _LONE_ACCENT.sub(_composed, text) if _LONE_ACCENT.search(text) else text


def _composed(found: re.Match[str]) -> str:
    before, accent, space, after = (
        found["before"],
        _COMBINING[found["accent"]],
        found["space"],
        found["after"],
    )
    on_before = unicodedata.normalize("NFC", before + accent) if before else ""
    on_after = unicodedata.normalize("NFC", after + accent) if after else ""
    if len(on_after) == 1 and not space:
        return before + on_after
    if len(on_before) == 1:
        return on_before + after
    return found[0]


def _normal_form(text: str, form: str) -> str:
    # Reordering a run of combining marks is quadratic in its length; thirty is what Unicode's
    # stream-safe format allows.
    if unicodedata.is_normalized(form, text):  # type: ignore[arg-type]
        return text
    return unicodedata.normalize(form, _NOT_ASCII_RUN.sub(_bound_marks, text))  # type: ignore[arg-type]


def _bound_marks(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= _MARKS_KEPT:
            kept.append(char)
    return "".join(kept)


class WordForms:
    """The words of a document, which decide how a word cut at a line end is written.

    Fragments on either side of a line-end hyphen do not count as words.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        for text in texts:
            self._count(text)

    def _count(self, text: str) -> None:
        is_after_cut = False
        for line in text.lower().split("\n"):
            words = _WORD.findall(line)
            is_cut = line.rstrip().endswith(tuple(_HYPHENS))
            self._counts.update(words[int(is_after_cut) : len(words) - int(is_cut)])
            is_after_cut = is_cut

    def keeps_hyphen(self, first: str, second: str) -> bool:
        """Whether the word cut into `first` and `second` is written with a hyphen in this document.

        `first` may carry more of its line before the last word, `second` more after the first one.
        """
        if not second or not second[0].isalpha() or second[0].isupper():
            return True
        left, right = _LAST_PART.search(first), _FIRST_PART.match(second)
        if left is None or right is None or _is_name_of_something(first):
            return True
        return self._is_compound(
            left[0].lower(),
            right[0].lower(),
            has_hyphen=left.start() > 0 and first[left.start() - 1] in _HYPHENS,
        )

    def _is_compound(self, left: str, right: str, *, has_hyphen: bool) -> bool:
        joined = self._counts[left + right]
        hyphenated = self._counts[f"{left}-{right}"] + self._counts[f"{left}\u2010{right}"]
        if joined or hyphenated:
            return hyphenated > joined
        if len(left) == 1 or has_hyphen:
            return True
        both_are_words = self._counts[left] > 0 and self._counts[right] > 0
        return both_are_words and min(len(left), len(right)) >= 4 and left not in _JOINING


def _is_name_of_something(first: str) -> bool:
    """Whether the last word of `first` belongs to an address, whose hyphens are part of it."""
    word = first[first.rfind(" ") + 1 :]
    return "/" in word or "@" in word


def rejoin(text: str) -> str:
    """Return `text` with words cut at line ends joined; all other line ends stay.

    >>> rejoin("ligno-\\ncellulosic feedstock")
    'lignocellulosic feedstock'
    """
    return _joined(text.split("\n"), WordForms([text]), line_end="\n")


def unwrap(lines: Sequence[str], forms: WordForms) -> str:
    """Return the lines of one paragraph as running text, words cut at line ends joined."""
    return _joined([stripped for line in lines if (stripped := line.strip())], forms, line_end=" ")


def _joined(lines: Sequence[str], forms: WordForms, *, line_end: str) -> str:
    pieces: list[str] = []
    for line, following in pairwise([*lines, ""]):
        if following.strip() and _is_cut(line.rstrip()):
            pieces.append(_glued(line.strip() if pieces else line.rstrip(), following.lstrip(), forms))
        else:
            pieces.append(line + line_end)
    return "".join(pieces).removesuffix(line_end)


def _is_cut(line: str) -> bool:
    if line.endswith("\u00ad"):
        return True
    # A dash at the line end may be the middle of a range.
    return len(line) > 1 and line[-1] in _HYPHENS + "\u2013" and line[-2].isalnum()


def _glued(line: str, following: str, forms: WordForms) -> str:
    """Return `line`, which ends in a hyphen, as it stands before `following`."""
    mark, stem = line[-1], line[:-1]
    if mark == "\u00ad":
        return stem
    if mark == "\u2013":
        return line if following[0].isalnum() else f"{line} "
    if following.startswith(("and ", "or ", "to ")):  # "pre- and post-treatment"
        return f"{line} "
    return line if forms.keeps_hyphen(stem[-_LONGEST_WORD:], following[:_LONGEST_WORD]) else stem
