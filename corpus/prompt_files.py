"""Prompts in `domain/prompts/`: a comment, what the model is, `===`, what it is asked."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from corpus.normalise import visible

_COMMENT = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)
_DIVIDER = re.compile(r"^===$", re.MULTILINE)
_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
_FENCE = re.compile(r"<\s*/?\s*[a-z]+\s*-[0-9a-f]{8,}[^<>\n]{0,200}>?", re.IGNORECASE)
_LONG_HEX = re.compile(r"\b[0-9a-f]{32}\b", re.IGNORECASE)


class InvalidPrompt(ValueError):
    """A prompt file without its two parts, or with slots that nobody fills."""


@dataclass(frozen=True, slots=True)
class PromptFile:
    """One prompt. `sha256` names the version of the file."""

    system: str
    user: str
    sha256: str

    def fill(self, values: dict[str, str]) -> tuple[str, str]:
        """Return both parts with their slots filled; raise `InvalidPrompt` for a slot without a value.

        One pass: what looks like a slot inside a value is text like any other.
        """
        return _filled(self.system, values), _filled(self.user, values)


def prompt_file(name: str) -> PromptFile:
    """Return the prompt called `name`, read again when the file has changed."""
    path = settings.DOMAIN_DIR / "prompts" / f"{name}.md"
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise InvalidPrompt(f"There is no prompt file {path.name} in the domain folder.") from None


def quoted(text: str, *, longest: int) -> str:
    """Return a prompt's copy of other people's text, without hidden characters and forged fences."""
    copy = _LONG_HEX.sub("", _FENCE.sub("", visible(text)))
    return copy if len(copy) <= longest else copy[:longest] + " ⟦cut here⟧"


@lru_cache(maxsize=16)
def _read(path: Path, _changed: int) -> PromptFile:
    text = path.read_text(encoding="utf-8")
    parts = [part.strip() for part in _DIVIDER.split(_COMMENT.sub("", text))]
    if len(parts) != 2 or not all(parts):
        raise InvalidPrompt(
            f"The prompt file {path.name} needs two parts divided by a line of three equals signs."
        )
    system, user = parts
    return PromptFile(system, user, hashlib.sha256(text.encode()).hexdigest())


def _filled(part: str, values: dict[str, str]) -> str:
    try:
        return _SLOT.sub(lambda slot: values[slot[1]], part)
    except KeyError as missing:
        raise InvalidPrompt(f"A prompt file has a slot {missing} that nothing fills.") from None
