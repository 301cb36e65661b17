"""Which declarations of a style keep words from a reader. Pure, linear in the length of the style."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from corpus.parsing.hidden import How

_DECLARATION = re.compile(r"([a-z-]{1,40})\s{0,9}:\s{0,9}([^;]{1,200})", re.IGNORECASE)
_LENGTH = re.compile(r"(-?\d{0,9}(?:\.\d{1,9})?)(px|pt|em|rem|%|in|cm|mm|vw|vh)?")
_NUMBERS = re.compile(r"\d{1,3}(?:\.\d{1,6})?%?")
# What is so far off is put there to be off.
_FARTHEST = -900.0
_FAINTEST = 0.03
_SMALLEST = {"px": 1.0, "pt": 1.0, "em": 0.1, "rem": 0.1, "%": 10.0, "": 0.0}
_SAME = 10
_PLACES = ("left", "top", "margin-left", "text-indent")
_COLOURS = frozenset({"color", "background", "background-color"})
_NAMED = {"white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "black": (0, 0, 0)}
_WHITE = (255, 255, 255)

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Ground:
    """What words inherit: their colour, and the colour behind them; None where that is not known."""

    ink: Colour | None = (0, 0, 0)
    paper: Colour | None = _WHITE


def declarations(style: str) -> dict[str, str]:
    """Return the declarations of a style, the last of a name."""
    return {name.lower(): value.strip().lower() for name, value in _DECLARATION.findall(style[:4_000])}


def upon(ground: Ground, said: Mapping[str, str]) -> Ground:
    """Return what words stand on inside an element that declares `said`."""
    ink, paper = ground.ink, ground.paper
    if "color" in said:
        ink = colour(said["color"])
    behind = said.get("background-color") or said.get("background")
    if behind:
        paper = None if "url(" in behind or "gradient" in behind else colour(behind)
    return Ground(ink, paper)


def how(said: Mapping[str, str], ground: Ground) -> How | None:
    """Return how an element that declares `said`, upon `ground`, is hidden; None when it is seen."""
    is_declared = {
        How.NOT_DISPLAYED: _is_put_away(said),
        How.NO_INK: said.get("color") == "transparent" or _is_below(said.get("opacity", ""), _FAINTEST),
        How.TINY: _is_tiny(said.get("font-size", "")),
        How.SAME_COLOUR: not _COLOURS.isdisjoint(said) and _is_lost(ground),
    }
    return next((one for one, applies in is_declared.items() if applies), None)


def _is_put_away(said: Mapping[str, str]) -> bool:
    is_off = said.get("display") == "none" or said.get("visibility") in ("hidden", "collapse")
    return is_off or any(_is_far_off(said.get(name, "")) for name in _PLACES)


def _is_lost(ground: Ground) -> bool:
    return ground.ink is not None and ground.paper is not None and are_same(ground.ink, ground.paper)


def are_same(one: Colour, other: Colour) -> bool:
    """Whether nobody tells letters of one colour from a ground of the other."""
    return all(abs(a - b) <= _SAME for a, b in zip(one, other, strict=True))


def colour(value: str) -> Colour | None:
    """Return the colour that a value names; None for one that is not known here."""
    word = value if "(" in value else value.partition(" ")[0]
    if word in _NAMED:
        return _NAMED[word]
    if word.startswith("#"):
        return _of_hex(word[1:])
    if word.startswith("rgb"):
        numbers = [float(one.rstrip("%")) for one in _NUMBERS.findall(word[:80])]
        return (int(numbers[0]), int(numbers[1]), int(numbers[2])) if len(numbers) >= 3 else None
    return None


def _of_hex(digits: str) -> Colour | None:
    if len(digits) in (3, 4):
        digits = "".join(digit * 2 for digit in digits)
    try:
        return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    except ValueError:
        return None


def _is_below(value: str, limit: float) -> bool:
    try:
        return float(value.rstrip("%")) / (100 if value.endswith("%") else 1) < limit
    except ValueError:
        return False


def _is_tiny(value: str) -> bool:
    found = _LENGTH.fullmatch(value.strip())
    if found is None or not found[1] or found[1] in ("-", "."):
        return False
    limit = _SMALLEST.get(found[2] or "")
    return limit is not None and float(found[1]) <= limit


def _is_far_off(value: str) -> bool:
    found = _LENGTH.fullmatch(value.strip())
    return found is not None and found[1] not in ("", "-", ".") and float(found[1]) <= _FARTHEST


_RULE = re.compile(r"([^{}]{1,400})\{([^{}]{0,4000})\}")
_SELECTOR = re.compile(r"([a-z][\w-]{0,60})?(?:\.([\w-]{1,80})|#([\w-]{1,80}))?", re.IGNORECASE)
_MOST_RULES = 2_000


def rules(sheets: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return what style sheets declare for simple selectors: `.class`, `#id`, `name` and `name.class`."""
    found: dict[str, dict[str, str]] = {}
    for sheet in sheets:
        for number, (selectors, body) in enumerate(_RULE.findall(sheet[:400_000])):
            if number == _MOST_RULES:
                break
            for selector in selectors.split(","):
                simple = _SELECTOR.fullmatch(selector.strip())
                if simple is not None and selector.strip():
                    found.setdefault(selector.strip().lower(), {}).update(declarations(body))
    return found


def of_element(
    name: str, identifier: str, classes: Iterable[str], sheet: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Return what a sheet declares for an element."""
    said: dict[str, str] = dict(sheet.get(name, {}))
    for one in classes:
        said.update(sheet.get(f".{one}", {}))
        said.update(sheet.get(f"{name}.{one}", {}))
    if identifier:
        said.update(sheet.get(f"#{identifier}", {}))
    return said
