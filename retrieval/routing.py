"""Which profile and layers a question calls for, by rules a reader can check. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from corpus.domain_profile import QueryClasses
from corpus.identifiers import fold
from retrieval.profiles import LAYERS

# English and German; the domain profile adds those of a field.
CUES = {
    "comparison": (
        "compare", "compared with", "compared to", "comparison", "versus", "vs", "difference between",
        "differences between", "differ from", "better than", "worse than", "higher than", "lower than",
        "more than", "less than", "rather than", "outperform", "outperforms", "relative to",
        "verglichen mit", "im vergleich", "unterschied zwischen", "besser als",
    ),
    "causal": (
        "why", "because of", "cause", "causes", "caused by", "effect of", "effects of", "affect", "affects",
        "influence", "influences", "impact of", "impacts of", "due to", "lead to", "leads to", "result in",
        "results in", "mechanism", "how does", "how do", "depend on", "depends on", "warum", "weshalb",
        "wirkung von", "einfluss von", "ursache", "beeinflusst",
    ),
    "overview": (
        "overview", "summarise", "summarize", "summary of", "review of", "state of the art",
        "what is known about", "main findings", "main themes", "approaches to", "trends in", "landscape",
        "überblick", "stand der forschung", "was ist bekannt über", "zusammenfassung",
    ),
    "lookup": (
        "what is", "what was", "what are", "which", "when", "who", "where", "how much", "how many",
        "how long", "how high", "how often", "at which", "at what", "up to which", "by how much", "in which",
        "define", "wie viel", "wie viele", "wie hoch", "wann", "welche", "welcher", "welches", "wer", "wo",
        "was ist",
    ),
}  # fmt: skip
# A question for one fact is short; a longer one that opens alike mostly asks for an account.
_LOOKUP_WORDS = 14
_WORDS = re.compile(r"\w+")
_QUOTED = re.compile(r"[\"“„«][^\"”“»]{3,}[\"”“»]")
_IDENTIFIER = re.compile(r"\b10\.\d{4,9}/\S+|\bdoi:|\barxiv:|\bpmid:?\s*\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a question goes. `reasons` may name words of the question: for the asker, never for a log."""

    query_class: str
    profile: str
    layers: tuple[str, ...]
    reasons: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the route as JSON values."""
        return {
            "query_class": self.query_class,
            "profile": self.profile,
            "layers": list(self.layers),
            "reasons": list(self.reasons),
        }


_FAST = ("vector", "keyword")
_LAYERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "lookup": ("interactive", _FAST),
    "comparison": ("deep", (*_FAST, "graph", "hyde")),
    "causal": ("deep", (*_FAST, "graph", "hyde")),
    "overview": ("deep", (*_FAST, "graph", "community")),
    "ambiguous": ("deep", LAYERS),
}


def route(question: str, classes: QueryClasses) -> Route:
    """Return the route of `question`: comparison, causal, overview, lookup, and ambiguous for the rest.

    The first class with a cue in the question wins. A question for one fact opens with a cue of lookup
    and is short, or names a work by quotation or identifier.
    """
    if _IDENTIFIER.search(question) or _QUOTED.search(question):
        return _to("lookup", "it names a work or quotes words")
    plain = fold(question)
    for name in ("comparison", "causal", "overview"):
        if cue := _cue(plain, CUES[name] + getattr(classes, name).cues):
            return _to(name, f"it says “{cue}”")
    words = len(_WORDS.findall(plain))
    opening = _cue(plain, CUES["lookup"] + classes.lookup.cues, opening=True)
    if opening and words <= _LOOKUP_WORDS:
        return _to("lookup", f"it opens with “{opening}” and has {words} words")
    return _to("ambiguous", "no rule fits, so everything is searched")


def _to(query_class: str, reason: str) -> Route:
    profile, layers = _LAYERS[query_class]
    return Route(
        query_class, profile, layers, (f"{query_class}: {reason}", f"{query_class} goes to {profile}")
    )


def _cue(plain: str, cues: tuple[str, ...], *, opening: bool = False) -> str:
    found = _pattern(cues, opening).search(plain)
    return found.group(0).strip() if found else ""


@lru_cache(maxsize=64)
def _pattern(cues: tuple[str, ...], opening: bool) -> re.Pattern[str]:  # noqa: FBT001 a key of the cache
    phrases = "|".join(re.escape(fold(cue)) for cue in sorted(cues, key=len, reverse=True))
    start = r"\A\W*" if opening else r"\b"
    return re.compile(rf"{start}(?:{phrases})\b")
