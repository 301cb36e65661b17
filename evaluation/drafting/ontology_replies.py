"""A reply that proposes types, held against the passages it was made from. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpus.identifiers import fold
from corpus.normalise import matching_form, one_line, visible
from evaluation.drafting.replies import Dropped
from retrieval.graph.naming import key_of

_LONGEST_REPLY = 60_000
_LABEL = re.compile(r"[a-z][a-z0-9_]{0,59}")
_PHRASE = re.compile(r"[^\W\d_][\w' -]*")
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
_LONGEST_LINE, _LONGEST_EXAMPLE, _LONGEST_PHRASE = 300, 200, 80
_Words = Annotated[list[str], Field(max_length=200)]


class _Thing(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    description: str = ""
    examples: _Words = []


class _Relation(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    description: str = ""
    phrases: _Words = []
    source: _Words = []
    target: _Words = []


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    entity_types: Annotated[dict[str, _Thing], Field(min_length=1, max_length=60)]
    relation_types: Annotated[dict[str, _Relation], Field(max_length=60)] = {}


@dataclass(slots=True)
class Proposal:
    """An ontology as its file holds it, and how much of the reply was left out, by reason."""

    entity_types: dict[str, dict[str, Any]] = field(default_factory=dict)
    relation_types: dict[str, dict[str, Any]] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)

    def as_yaml(self, heading: str) -> str:
        """Return the file."""
        value = {"entity_types": self.entity_types, "relation_types": self.relation_types}
        return heading + yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=110)


def read(reply: str, passages: Sequence[str]) -> Proposal:
    """Return what a reply proposes, as far as `passages` bear it out; raise `Dropped`.

    An example or phrase that no passage spells is left out, and so is a type that has lost all of them.
    """
    found = _parsed(reply)
    text = "\n".join(fold(matching_form(each)) for each in passages)
    proposal = Proposal()
    taken: set[str] = set()
    for name, thing in found.entity_types.items():
        examples = _standing(thing.examples, text, _LONGEST_EXAMPLE, taken, proposal.dropped)
        if _is_named(name, thing.description, proposal.dropped) and _has_some(examples, proposal.dropped):
            described = {"description": _line(thing.description), "examples": examples}
            proposal.entity_types[name] = described
    if not proposal.entity_types:
        raise Dropped("nothing_stands")
    for name, relation in found.relation_types.items():
        _relate(name, relation, text, proposal)
    return proposal


def _parsed(reply: str) -> _Reply:
    if len(reply) > _LONGEST_REPLY:
        raise Dropped("too_long")
    fenced = _FENCE.match(reply)
    try:
        return _Reply.model_validate(json.loads(fenced[1] if fenced else reply))
    except (ValueError, RecursionError) as error:
        raise Dropped("wrong_form" if isinstance(error, ValidationError) else "not_json") from None


def _relate(name: str, relation: _Relation, text: str, proposal: Proposal) -> None:
    """Add a relation whose phrases stand in the passages and whose ends are types of the proposal."""
    phrases = _standing(relation.phrases, text, _LONGEST_PHRASE, set(), proposal.dropped)
    usable = [phrase for phrase in phrases if len(phrase) > 1 and _PHRASE.fullmatch(phrase)]
    if not _is_named(name, relation.description, proposal.dropped):
        return
    if not _has_some(usable, proposal.dropped):
        return
    described: dict[str, Any] = {"description": _line(relation.description), "phrases": usable}
    for end, types in (("source", relation.source), ("target", relation.target)):
        known = [each for each in dict.fromkeys(types) if each in proposal.entity_types]
        proposal.dropped["unknown_end"] += len(set(types)) - len(known)
        if known:
            described[end] = known
    proposal.relation_types[name] = described


def _standing(
    words: Sequence[str], text: str, longest: int, taken: set[str], dropped: Counter[str]
) -> list[str]:
    """Return the words that stand in the passages, each once in the whole proposal."""
    kept = []
    for given in words:
        word = one_line(visible(given))
        form, key = fold(matching_form(word)), key_of(word)
        if len(form) < 2 or len(word) > longest or "|" in word or not key:
            dropped["malformed"] += 1
        elif key in taken:
            dropped["twice"] += 1
        elif not re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text):
            dropped["not_in_the_passages"] += 1
        else:
            taken.add(key)
            kept.append(word)
    return kept


def _is_named(name: str, description: str, dropped: Counter[str]) -> bool:
    is_named = _LABEL.fullmatch(name) is not None and bool(_line(description))
    dropped["type_malformed"] += not is_named
    return is_named


def _has_some(words: Sequence[str], dropped: Counter[str]) -> bool:
    dropped["type_without_evidence"] += not words
    return bool(words)


def _line(description: str) -> str:
    return one_line(visible(description))[:_LONGEST_LINE].strip()
