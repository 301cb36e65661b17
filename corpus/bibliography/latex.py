r"""LaTeX of bibliographies as Unicode: `M{\"u}ller` is Müller. One pass, no recursion, linear. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_TOKEN = re.compile(
    r"\\([A-Za-z]+)\*?[ \t\r\n]*|\\(.)|([{}$~^_])|(---?|``|'')|([^\\{}$~^_`'-]+|.)", re.DOTALL
)
_SPECIAL = re.compile(r"[\\{}$~`]|''|--")

# More than any text needs, so that none costs more than its length.
_DEEPEST_SCRIPT = 4
_MOST_ACCENTS = 4

# By the accent's macro: what it puts on the letter that follows.
_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307", '"': "\u0308",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "d": "\u0323", "b": "\u0331", "r": "\u030a",
    "k": "\u0328", "t": "\u0361", "G": "\u030f", "bar": "\u0304", "overline": "\u0304", "hat": "\u0302",
    "tilde": "\u0303", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7", "acute": "\u0301",
    "grave": "\u0300", "check": "\u030c", "breve": "\u0306", "underline": "", "mathring": "\u030a",
}  # fmt: skip
_LETTER_ACCENTS_NEED_NO_BRACE = frozenset("`'^~=.\"")
_ALONE = {"`": "`", "^": "^", "~": "~", '"': '"', "'": "'", "=": "\u00af", ".": "\u02d9"}
_UNDOTTED = {"\u0131": "i", "\u0237": "j"}
_ESCAPED = {
    "\\": " ", " ": " ", "\n": " ", "\t": " ", ",": " ", ";": " ", ":": " ", "-": "", "/": "", "!": "",
    "@": "", "(": "", ")": "", "[": "", "]": "", ">": " ",
}  # fmt: skip
_PUNCTUATION = {"---": "\u2014", "--": "\u2013", "``": "\u201c", "''": "\u201d"}
_SPACES = frozenset("quad qquad space enspace thinspace newline par linebreak".split())
_SYMBOLS = {
    "textless": "<", "textgreater": ">", "textunderscore": "_", "textasciitilde": "~", "textasciicircum": "^",
    "textdollar": "$", "textpercent": "%", "textbar": "|", "BibTeX": "BibTeX", "LaTeX": "LaTeX", "TeX": "TeX",
    "euro": "\u20ac", "S": "\u00a7", "P": "\u00b6", "textquotesingle": "'", "textquotedbl": '"',
    "textsubscript": "", "lbrace": "{", "rbrace": "}", "slash": "/", "textmu": "\u00b5", "mu": "\u03bc",
    "degree": "\u00b0", "circ": "\u00b0", "sim": "~", "cdot": "\u00b7", "-": "",
}  # fmt: skip
# Macros whose first argument says how or where, not what.
_SILENT_ARGUMENT = frozenset(
    "href textcolor color vspace hspace label cite citep citet footnote hyperlink hypertarget fontsize"
    " foreignlanguage selectlanguage bibinfo".split()
)
# The journals of astronomy, as its database exports them.
_JOURNALS = {
    "aap": "Astronomy and Astrophysics", "aapr": "Astronomy and Astrophysics Reviews",
    "aaps": "Astronomy and Astrophysics Supplement", "aj": "Astronomical Journal",
    "apj": "Astrophysical Journal", "apjl": "Astrophysical Journal Letters",
    "apjs": "Astrophysical Journal Supplement", "apss": "Astrophysics and Space Science",
    "araa": "Annual Review of Astronomy and Astrophysics", "icarus": "Icarus",
    "jcap": "Journal of Cosmology and Astroparticle Physics", "jgr": "Journal of Geophysical Research",
    "mnras": "Monthly Notices of the Royal Astronomical Society", "nat": "Nature",
    "pasa": "Publications of the Astronomical Society of Australia",
    "pasj": "Publications of the Astronomical Society of Japan",
    "pasp": "Publications of the Astronomical Society of the Pacific", "physrep": "Physics Reports",
    "prd": "Physical Review D", "prl": "Physical Review Letters", "solphys": "Solar Physics",
    "ssr": "Space Science Reviews",
}  # fmt: skip
_RAISED = dict(zip("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ", strict=True))
_LOWERED = dict(zip("0123456789+-\u2212=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def to_text(value: str, *, verbatim: bool = False) -> str:
    """Return `value` as it reads when typeset; macros nobody knows go, what they are applied to stays.

    `verbatim` is for addresses and paths: dashes, quotes, `~`, `^` and `_` are what they are.
    """
    if not _SPECIAL.search(value):
        return value
    return _Reader(verbatim=verbatim).read(value)


class _Reader:
    def __init__(self, *, verbatim: bool) -> None:
        self.verbatim = verbatim
        self.out: list[str] = []
        self.depth = 0
        self.accents: list[str] = []
        self.silent_above: int | None = None
        self.expects_silent = False
        self.in_math = False
        # Open scripts: the depth they end at, where they began in `out`, and their letters.
        self.scripts: list[tuple[int, int, bool]] = []
        self.script_next: bool | None = None

    def read(self, value: str) -> str:
        for macro, escaped, mark, punctuation, other in _TOKEN.findall(value):
            if mark in ("{", "}"):
                self._brace(mark)
            elif self.silent_above is not None:
                continue
            elif macro:
                self._macro(macro)
            elif escaped:
                self._escaped(escaped)
            elif mark:
                self._mark(mark)
            elif punctuation:
                self._emit(punctuation if self.verbatim else _PUNCTUATION[punctuation])
            else:
                self._words(other)
        self._flush()
        text = unicodedata.normalize("NFC", "".join(self.out))
        return text if text.strip() or not value.strip("{}\\ ").isalpha() else value.strip("{}\\ ")

    def _brace(self, mark: str) -> None:
        if mark == "{":
            self.depth += 1
            if self.expects_silent and self.silent_above is None:
                self.silent_above = self.depth - 1
            elif self.script_next is not None:
                if len(self.scripts) < _DEEPEST_SCRIPT:
                    self.scripts.append((self.depth - 1, len(self.out), self.script_next))
                self.script_next = None
            self.expects_silent = False
            return
        self.depth = max(0, self.depth - 1)
        if self.silent_above is not None:
            if self.depth <= self.silent_above:
                self.silent_above = None
            return
        self._flush()
        while self.scripts and self.depth <= self.scripts[-1][0]:
            _, start, is_raised = self.scripts.pop()
            inner = "".join(self.out[start:])
            self.out[start:] = [_script(inner, is_raised=is_raised, is_math=self.in_math)]

    def _macro(self, name: str) -> None:
        self.expects_silent = False
        if name in _ACCENTS:
            self._accent(name)
        elif name in _SILENT_ARGUMENT:
            self.expects_silent = True
        elif name in ("textsuperscript", "textsubscript"):
            self.script_next = name == "textsuperscript"
        elif name in _SPACES:
            self._emit(" ")
        else:
            symbol = _symbol(name)
            if symbol:
                self._emit(symbol)

    def _accent(self, name: str) -> None:
        if len(self.accents) < _MOST_ACCENTS:
            self.accents.append(name)

    def _escaped(self, char: str) -> None:
        self.expects_silent = False
        if char in _LETTER_ACCENTS_NEED_NO_BRACE and not self.verbatim:
            self._accent(char)
        elif self.verbatim:
            self._emit(char if char in "_%&#$~{}^ ,;:()[]-/" else f"\\{char}")
        else:
            self._emit(_ESCAPED.get(char, char))

    def _mark(self, mark: str) -> None:
        if mark == "$":
            self.in_math = not self.in_math
            self.script_next = None
        elif mark == "~":
            self._emit("~" if self.verbatim else " ")
        elif self.in_math:
            self.script_next = mark == "^"
        else:
            self._emit(mark)

    def _words(self, text: str) -> None:
        if not (self.accents or self.script_next is not None or self.expects_silent):
            self.out.append(text)
            return
        text = text.lstrip() if self.accents or self.script_next is not None else text
        self.expects_silent = self.expects_silent and not text.strip()
        if text:
            self._emit(text[0])
            self.out.append(text[1:])

    def _emit(self, text: str) -> None:
        if self.script_next is not None:
            text = _script(text, is_raised=self.script_next, is_math=self.in_math)
            self.script_next = None
        if self.accents:
            marks = "".join(_ACCENTS[name] for name in reversed(self.accents))
            self.accents.clear()
            text = _UNDOTTED.get(text[0], text[0]) + marks + text[1:]
        self.out.append(text)

    def _flush(self) -> None:
        """Write accents that stand on nothing, as in `\\~{}`."""
        for name in self.accents:
            self.out.append(_ALONE.get(name, ""))
        self.accents.clear()


def _script(text: str, *, is_raised: bool, is_math: bool) -> str:
    """Return `text` raised or lowered where Unicode has all of it; marked, in formulas, where it has not."""
    table = _RAISED if is_raised else _LOWERED
    if all(char in table for char in text):
        return "".join(table[char] for char in text)
    return f"{'^' if is_raised else '_'}{text}" if is_math else text


@cache
def _symbol(name: str) -> str:
    """Return the characters a macro without arguments stands for, nothing where it is only about looks."""
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name in _JOURNALS:
        return _JOURNALS[name]
    spec = _symbols().get_macro_spec(name)
    known = getattr(spec, "simplify_repl", None)
    return known if isinstance(known, str) and "%" not in known else ""


@cache
def _symbols():  # type: ignore[no-untyped-def]  # the library has no types
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db()
