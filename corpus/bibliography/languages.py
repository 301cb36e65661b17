"""Codes of the languages that libraries name in words. Pure."""

from __future__ import annotations

from corpus.manifest_fields import FieldError, language

_NAMES = {
    "en": "english american usenglish ukenglish british australian canadian eng",
    "de": "german ngerman deutsch austrian naustrian swissgerman nswissgerman ger deu",
    "fr": "french français francais canadien acadian fre fra",
    "es": "spanish español espanol castellano spa",
    "pt": "portuguese brazilian brazil português portugues por",
    "it": "italian italiano ita",
    "nl": "dutch nederlands dut nld",
    "ru": "russian rus",
    "zh": "chinese chi zho",
    "ja": "japanese jpn",
    "pl": "polish pol",
    "sv": "swedish swe",
    "da": "danish dan",
    "nb": "norwegian norsk nor",
    "fi": "finnish fin",
    "cs": "czech cze ces",
    "tr": "turkish tur",
    "el": "greek gre ell",
    "ar": "arabic ara",
    "ko": "korean kor",
}
_CODES = {name: code for code, names in _NAMES.items() for name in names.split()}


def language_code(name: str) -> str:
    """Return the code of a language given by name or code, or nothing for one that is not known."""
    word = name.strip().lower()
    if word in _CODES:
        return _CODES[word]
    try:
        return str(language(word))
    except FieldError:
        return ""
