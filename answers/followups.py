"""From a follow-up question to one that can be searched by itself. Pure.

Without a model by a rule that anybody can predict: a follow-up that leans on what went before gets the
topic words of the earlier question put in front. With one, its rewriting is checked against the words of
the conversation before it is used.
"""

from __future__ import annotations

import re

from answers.terms import terms

LONGEST_REWRITING = 400
_MOST_TOPIC_WORDS = 12
_FEWEST_TERMS = 3
# Of a rewriting's content words, how many must have been said by the asker.
_SAID = 0.6
_WORD = re.compile(r"[^\W_]+(?:[-.'’/][^\W_]+)*")
_LEANS = frozenset(
    """
    it its itself they them their theirs themselves this that these those there one ones he him his she her
    hers former latter same such else instead both either neither
    """.split()
)
_OPENERS = re.compile(
    r"^\W*(?:and|but|or|so|then|also|why|how come|how so|what about|how about|what if|what else|which ones?|"
    r"for what|since when|compared (?:to|with)|in contrast|more|else)\b",
    re.IGNORECASE,
)
_ASKING = frozenset(
    """
    what which who whom whose when where why how does do did is are was were can could should would will may
    tell show give explain describe list name compare please me about
    """.split()
)
_MARKS = re.compile(r"^[\s\"“”'*>\-]+|[\s\"“”'*]+$")
_LABEL = re.compile(r"^(?:standalone |rewritten )?question\s*:\s*", re.IGNORECASE)


def leans_on_the_last(question: str) -> bool:
    """Say whether `question` cannot be understood, or hardly searched, without the one before it."""
    words = [word.casefold() for word in _WORD.findall(question)]
    if _OPENERS.match(question) or _LEANS & set(words):
        return True
    return len(set(terms(question)) - _ASKING) < _FEWEST_TERMS


def with_topic(question: str, earlier: str, *, longest: int) -> str:
    """Return `question` with the topic words of `earlier` in front, or as it is when none are missing.

    >>> with_topic("And of corn stover?", "What is the methane yield of rice straw?", longest=100)
    'methane yield rice straw: And of corn stover?'
    """
    said = set(terms(question))
    chosen: list[str] = []
    for word in _WORD.findall(earlier):
        own = terms(word)
        if not own or said >= set(own) or word.casefold() in _ASKING:
            continue
        said |= set(own)
        chosen.append(word)
    chosen = chosen[:_MOST_TOPIC_WORDS]
    while chosen and len(" ".join(chosen)) + 2 + len(question) > longest:
        chosen.pop()
    return f"{' '.join(chosen)}: {question}" if chosen else question


def checked_rewriting(reply: str, *, said: list[str]) -> str | None:
    """Return the question a model's reply holds, or None when the reply is anything else.

    A rewriting is one line, ends where a question may end, and is made of the asker's own words for the
    most part: what they never said was taken from nowhere.
    """
    lines = [line for line in reply.strip().splitlines() if line.strip()]
    if len(lines) != 1:
        return None
    question = _LABEL.sub("", _MARKS.sub("", lines[0])).strip()
    own = set(terms(question))
    known = {term for text in said for term in terms(text)}
    if not own or len(question) > LONGEST_REWRITING or len(own & known) < _SAID * len(own):
        return None
    return question
