"""Units of measure as they are written in science, in one normal form. Pure; nothing is converted."""

from __future__ import annotations

import re

_PREFIXABLE = "g m s L l mol M J cal W Wh V A Hz Pa K N bar eV Da Bq Ci Gy Sv T F S Ω b B U eq t".split()
_PREFIXES = ("", "k", "M", "G", "T", "m", "μ", "n", "p", "f", "c", "d", "h")
_WORDS = {
    "gram": "g", "grams": "g", "kilogram": "kg", "kilograms": "kg", "milligram": "mg", "milligrams": "mg",
    "microgram": "μg", "micrograms": "μg", "tonne": "t", "tonnes": "t", "litre": "L", "litres": "L",
    "liter": "L", "liters": "L", "millilitre": "mL", "millilitres": "mL", "milliliter": "mL",
    "milliliters": "mL", "meter": "m", "meters": "m", "metre": "m", "metres": "m", "kilometer": "km",
    "kilometers": "km", "kilometre": "km", "kilometres": "km", "centimeter": "cm", "centimeters": "cm",
    "centimetre": "cm", "centimetres": "cm", "millimeter": "mm", "millimeters": "mm", "millimetre": "mm",
    "millimetres": "mm", "nanometer": "nm", "nanometers": "nm", "nanometre": "nm", "nanometres": "nm",
    "hectare": "ha", "hectares": "ha", "second": "s", "seconds": "s", "sec": "s", "secs": "s",
    "minute": "min", "minutes": "min", "mins": "min", "hour": "h", "hours": "h", "hr": "h", "hrs": "h",
    "day": "d", "days": "d", "week": "wk", "weeks": "wk", "month": "mo", "months": "mo", "year": "yr",
    "years": "yr", "y": "yr", "percent": "%", "celsius": "°C", "fahrenheit": "°F", "degrees": "°",
    "degree": "°", "acres": "acre", "tons": "ton", "pounds": "lb", "pound": "lb", "lbs": "lb", "feet": "ft",
    "foot": "ft", "inches": "in", "miles": "mile", "gallons": "gal", "gallon": "gal", "bushels": "bu",
    "bushel": "bu", "calories": "cal", "joules": "J", "joule": "J", "watts": "W", "watt": "W",
    "volts": "V", "volt": "V", "ug": "μg", "ul": "μL", "uL": "μL", "um": "μm", "uM": "μM", "umol": "μmol",
    "ml": "mL", "μl": "μL", "l": "L", "dl": "dL", "nl": "nL", "euro": "€", "euros": "€", "dollars": "$",
    "usd": "$", "hpa": "hPa", "moles": "mol", "mole": "mol",
}  # fmt: skip
_PLAIN = (
    "% ‰ ° °C °F min h d wk mo yr ha acre ton lb ft in mile gal bu oz psi atm mmHg ppm ppb ppt rpm bp IU"
    " cfu CFU pfu dB rad sr cd lx mph dpm cpm kn Ha $ € £ wt% vol% mol% at% pH"
)
_UNITS = {prefix + unit for prefix in _PREFIXES for unit in _PREFIXABLE} | set(_PLAIN.split())

_SYMBOL = r"(?:[^\W\d_]+%?|[°%‰$€£][CF]?)"
_POWER = r"(?:\^?\(?[+-]?\d\)?(?![\d.]))?"
_PART = re.compile(rf"(?P<join>\s?[·*]\s?|\s?/\s?|\s?\bper\b\s|\s)?(?P<symbol>{_SYMBOL})(?P<power>{_POWER})")
_LONGEST = 5
# Letters that prose uses for other things: after another unit they count only with an exponent.
_AMBIGUOUS = frozenset("A B F K L M N S T U V W b d g h m s t in at".split())

Unit = tuple[tuple[str, int], ...]


def unit_at(plain: str, start: int) -> tuple[Unit, int]:
    """Return the unit that begins at `start` of normalised text, as far as it is known, and its end."""
    parts: list[tuple[str, int]] = []
    end = start
    inverse = False
    while len(parts) < _LONGEST and (match := _PART.match(plain, end)):
        join = match["join"] or ""
        symbol = _symbol(match["symbol"])
        if symbol is None or _is_word(plain, match) or (parts and not _belongs(match, symbol)):
            break
        inverse = inverse or "/" in join or "per" in join
        exponent = int(re.sub(r"[^\d+-]", "", match["power"]) or 1)
        parts.append((symbol, -exponent if inverse else exponent))
        end = match.end()
    return combined(parts), end


def combined(parts: list[tuple[str, int]]) -> Unit:
    """Return the product of `parts` as sorted pairs of symbol and exponent."""
    exponents: dict[str, int] = {}
    for symbol, exponent in parts:
        exponents[symbol] = exponents.get(symbol, 0) + exponent
    return tuple(sorted((symbol, exponent) for symbol, exponent in exponents.items() if exponent))


def _belongs(match: re.Match[str], symbol: str) -> bool:
    join = match["join"] or ""
    return bool(join) and bool(join.strip() or match["power"] or symbol not in _AMBIGUOUS)


def _is_word(plain: str, match: re.Match[str]) -> bool:
    """Say whether what looks like a unit goes on as a word, or is one: "5 in total", "type 3 A"."""
    after = plain[match.end() : match.end() + 1]
    return after.isalnum() or after == "_" or (match["symbol"] in {"in", "A", "a"} and not match["power"])


def _symbol(text: str) -> str | None:
    if text in _UNITS:
        return _WORDS.get(text, text)
    return _WORDS.get(text) or _WORDS.get(text.lower())
