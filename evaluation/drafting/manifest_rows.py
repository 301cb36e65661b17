"""A line of a drafted manifest: what a model says, held against the file; never a licence. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from corpus.identifiers import fold, normalise_doi
from corpus.manifest_fields import FIELDS, FieldError
from corpus.normalise import matching_form, visible
from corpus.parsing.blocks import ParsedDocument
from corpus.rights import LicenseClass
from evaluation.drafting.replies import Dropped

_LONGEST_REPLY = 20_000
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
NAMED: Final = ("title", "authors", "year", "doi", "journal")


class _Reply(BaseModel):
    # Whatever else it says, of rights above all, is nothing we asked for.
    model_config = ConfigDict(extra="ignore", strict=True, str_strip_whitespace=True)

    title: Annotated[str, Field(max_length=1_000)] = ""
    authors: Annotated[list[str], Field(max_length=500)] = []
    year: int | None = None
    doi: Annotated[str, Field(max_length=500)] = ""
    journal: Annotated[str, Field(max_length=500)] = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said of a file, divided by whether the file bears it out."""

    confirmed: dict[str, Any] = field(default_factory=dict)
    unconfirmed: dict[str, Any] = field(default_factory=dict)


def read(reply: str, text: str) -> Said:
    """Return what a reply says of the file that begins with `text`; raise `Dropped` for no such reply."""
    if len(reply) > _LONGEST_REPLY:
        raise Dropped("too_long")
    fenced = _FENCE.match(reply)
    try:
        value = json.loads(fenced[1] if fenced else reply)
        found = _Reply.model_validate(value)
    except (ValueError, RecursionError) as error:
        raise Dropped("wrong_form" if isinstance(error, ValidationError) else "not_json") from None
    said = Said()
    form = fold(matching_form(text))
    for name in NAMED:
        given = _admissible(name, getattr(found, name))
        if given is not None:
            side = said.confirmed if _stands(name, given, form) else said.unconfirmed
            side[name] = list(given) if isinstance(given, tuple) else given
    return said


def _admissible(name: str, value: Any) -> Any:
    """Return a value as a manifest may hold it; None for none, and for one that it may not."""
    if value in ("", [], None):
        return None
    cleaned = [visible(each) for each in value] if isinstance(value, list) else value
    cleaned = visible(cleaned) if isinstance(cleaned, str) else cleaned
    try:
        return FIELDS[name](cleaned)
    except FieldError:
        return None


def _stands(name: str, value: Any, text: str) -> bool:
    """Whether the file's beginning says this, whatever its case, accents and line ends."""
    if name == "authors":
        return all(_has(text, each) for each in value)
    if name == "year":
        return re.search(rf"(?<!\d){value}(?!\d)", text) is not None
    if name == "doi":
        return (normalise_doi(value) or "\0") in text
    return _has(text, value)


def _has(text: str, words: str) -> bool:
    wanted = fold(matching_form(words))
    return len(wanted) > 1 and re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text) is not None


def row(name: str, parsed: ParsedDocument | None, said: Said, *, note: str = "") -> dict[str, Any]:
    """Return the line for one file: what the file states of itself, and over it what it bears out.

    The licence is unknown, whoever said what. What is unconfirmed stands beside the fields and not in them:
    nothing takes it in before a person has moved it.
    """
    stated = {} if parsed is None else _stated(parsed)
    line: dict[str, Any] = {"path": name, **stated, **said.confirmed}
    line["license_class"] = LicenseClass.UNKNOWN.value
    unconfirmed = {key: value for key, value in said.unconfirmed.items() if line.get(key) != value}
    if unconfirmed:
        line["unconfirmed"] = unconfirmed
    if note:
        line["not_read"] = note
    return line


def _stated(parsed: ParsedDocument) -> dict[str, Any]:
    values = {
        "title": parsed.title,
        "authors": list(parsed.authors),
        "year": parsed.year,
        "doi": parsed.doi,
        "journal": parsed.journal,
    }
    found = {name: _admissible(name, value) for name, value in values.items()}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in found.items()
        if value is not None
    }
