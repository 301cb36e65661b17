"""What the graph speaks of, from `domain/ontology.yaml`: types of things and of what holds between them."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated

from django.conf import settings
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from corpus.domain_profile import InvalidProfile, checked
from retrieval.graph.naming import LONGEST_NAME, key_of

FILE = "ontology.yaml"

_LONGEST_PATTERN = 200
# A repeated group that is repeated itself takes exponential time on some text.
_NESTED_REPETITION = re.compile(r"[+*}]\)[+*{]|\([^()]*[+*][^()]*\)[+*]")


class InvalidOntology(ValueError):
    """An ontology that cannot be used. One line per problem, each with its place in the file."""


def _is_pattern(text: str) -> str:
    if _NESTED_REPETITION.search(text):
        raise ValueError(f"the pattern '{text}' repeats a repetition, which may take for ever")
    try:
        compiled = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"the pattern '{text}' is not a regular expression: {error}") from None
    if compiled.search(""):
        raise ValueError(f"the pattern '{text}' matches nothing at all, so everywhere")
    return text


def _has_key(text: str) -> str:
    if not key_of(text):
        raise ValueError("a name needs a letter or a digit")
    return text


def _at(place: tuple[str, ...], message: str) -> PydanticCustomError:
    return PydanticCustomError("ontology", "{message}", {"place": place, "message": message})


Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
Line = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\n]+$")]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_has_key)]
Pattern = Annotated[str, Field(min_length=1, max_length=_LONGEST_PATTERN), AfterValidator(_is_pattern)]
Phrase = Annotated[str, Field(min_length=2, max_length=80, pattern=r"^[^\W\d_][\w' -]*$")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EntityType(_Model):
    """A type of things. An example may name its other spellings: "anaerobic digestion | AD".

    `patterns` are regular expressions of whole names. The type marked `fallback` takes what a passage
    abbreviates or relates and no other type knows.
    """

    description: Line
    examples: Annotated[tuple[Name, ...], Field(max_length=2000)] = ()
    patterns: Annotated[tuple[Pattern, ...], Field(max_length=50)] = ()
    fallback: bool = False


class RelationType(_Model):
    """What may hold between two things, and the phrases that say so.

    `phrases` stand between source and target, `reversed` between target and source ("is produced by").
    `source` and `target` restrict the types of the ends; None leaves them free.
    """

    description: Line
    phrases: Annotated[tuple[Phrase, ...], Field(max_length=200)] = ()
    reversed: Annotated[tuple[Phrase, ...], Field(max_length=200)] = ()
    source: tuple[Label, ...] | None = None
    target: tuple[Label, ...] | None = None

    def allows(self, source: str, target: str) -> bool:
        """Whether the relation may run from a thing of one type to one of the other."""
        return (self.source is None or source in self.source) and (
            self.target is None or target in self.target
        )


class Ontology(_Model):
    """The types of one library's field."""

    entity_types: Annotated[dict[Label, EntityType], Field(min_length=1, max_length=100)]
    relation_types: Annotated[dict[Label, RelationType], Field(max_length=100)] = {}

    @model_validator(mode="after")
    def _hangs_together(self) -> Ontology:
        for name, relation in self.relation_types.items():
            unknown = {*(relation.source or ()), *(relation.target or ())} - set(self.entity_types)
            if unknown:
                raise _at(
                    ("relation_types", name), f"the ends name unknown types: {', '.join(sorted(unknown))}"
                )
        fallbacks = [name for name, each in self.entity_types.items() if each.fallback]
        if len(fallbacks) > 1:
            raise _at(("entity_types", fallbacks[1], "fallback"), "only one entity type can be the fallback")
        _ = self.examples
        return self

    @cached_property
    def examples(self) -> dict[str, tuple[str, str]]:
        """Type and name of every example, by the key of each of its spellings."""
        found: dict[str, tuple[str, str]] = {}
        for entity_type, described in self.entity_types.items():
            for number, example in enumerate(described.examples):
                spellings = [part.strip() for part in example.split("|") if key_of(part)]
                for spelling in spellings:
                    if key_of(spelling) in found:
                        place = ("entity_types", entity_type, "examples", str(number))
                        raise _at(place, f"the example '{spelling}' stands there twice")
                    found[key_of(spelling)] = (entity_type, spellings[0])
        return found

    @property
    def fallback(self) -> str | None:
        """The type for what no other type knows, or None when there is none."""
        return next((name for name, each in self.entity_types.items() if each.fallback), None)

    def knows(self, name: str, entity_type: str) -> bool:
        """Whether the expert named this thing: then the name may come from here instead of a passage."""
        known = self.examples.get(key_of(name))
        return known is not None and known[0] == entity_type

    def digest(self) -> str:
        """Return the SHA-256 of the values: comments and layout do not change it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def active_ontology() -> Ontology:
    """Return the ontology of this installation, read again when the file has changed.

    Raises `InvalidOntology`.
    """
    path = settings.DOMAIN_DIR / FILE
    try:
        return _load_cached(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise InvalidOntology(
            f"There is no {FILE} in {path.parent}: the knowledge graph needs one."
            " Copy the one that comes with sci-rag and change its types."
        ) from None


@lru_cache(maxsize=4)
def _load_cached(path: Path, _changed: int) -> Ontology:
    return load(path)


def load(path: Path) -> Ontology:
    """Read and check an ontology; raise `InvalidOntology` naming file, line and field of every problem."""
    try:
        return checked(path, Ontology)
    except InvalidProfile as error:
        raise InvalidOntology(str(error)) from None
