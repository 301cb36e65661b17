"""What counts as relevant to a seed question: its reference documents, and the words of its evidence."""

from __future__ import annotations

import unicodedata

from corpus.identifiers import fold, normalise_doi
from evaluation.questions import SeedQuestion

# Shorter phrases ("5", "pH") stand in almost any passage and would make everything relevant.
SHORTEST_PHRASE = 3

# Characters that typesetting changes without changing what is said.
_TYPOGRAPHY = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u2018\u2019\u201b\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
    "\u00ad": "",
    "\u200b": "",
}
_TABLE = str.maketrans(_TYPOGRAPHY)


def normalise(text: str) -> str:
    """Return `text` without differences of case, white space, Unicode form, dashes and quotation marks."""
    composed = unicodedata.normalize("NFKC", text).translate(_TABLE)
    return " ".join(composed.casefold().split())


def phrases_found(question: SeedQuestion, text: str) -> tuple[str, ...]:
    """Return the evidence phrases of `question` that occur in `text`, in the question's order."""
    haystack = normalise(text)
    return tuple(
        phrase
        for phrase in question.evidence_phrases
        if len(needle := normalise(phrase)) >= SHORTEST_PHRASE and needle in haystack
    )


def from_reference_document(question: SeedQuestion, *, doi: str, title: str) -> bool:
    """Say whether a passage of the document with this DOI and title comes from a reference document."""
    if (normalise_doi(doi) or "") in question.reference_documents:
        return True
    return fold(title) in {fold(reference) for reference in question.reference_titles}


def is_relevant(question: SeedQuestion, *, doi: str, title: str, text: str) -> bool:
    """Say whether a passage is relevant: from a reference document, or with an evidence phrase in it.

    Nothing is relevant to an unanswerable question; leave those out of retrieval metrics.
    """
    return from_reference_document(question, doi=doi, title=title) or bool(phrases_found(question, text))
