"""Drafting a manifest for a folder: by a model, by replies that somebody brings, by what files state."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog

from corpus.connections import release
from corpus.egress import classes_of
from corpus.gateways.llm import ChatModel, ModelError, complete
from corpus.prompt_files import prompt_file, quoted
from corpus.rights import LicenseClass
from corpus.usage import accounts, estimating
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose
from evaluation.drafting import manifest_rows
from evaluation.drafting.first_pages import LONGEST_BEGINNING, Beginning
from evaluation.drafting.manifest_rows import Said
from evaluation.drafting.replies import Dropped

logger = structlog.get_logger(__name__)

PROMPT: Final = "draft_manifest"
_SECONDS = 60.0
# From the beginning of a file to what a model replied about it; raises `Dropped`.
Ask = Callable[[Beginning], str]


@dataclass(slots=True)
class Drafted:
    """The lines of a manifest; how many fields nothing confirmed, and why replies or files could not be read.

    `stopped` says what of a cap was in the way of the others.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    unconfirmed: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    stopped: str = ""


def prompt_of(beginning: Beginning) -> tuple[str, str]:
    """Return both parts of what a model is asked about a file."""
    return prompt_file(PROMPT).fill(
        {"nonce": secrets.token_hex(16), "beginning": quoted(beginning.text, longest=LONGEST_BEGINNING)}
    )


def by_model(model: ChatModel) -> Ask:
    """Return what asks `model`. Nobody has decided on the rights of a new file: it is sent as unknown."""

    def ask(beginning: Beginning) -> str:
        system, user = prompt_of(beginning)
        release()
        try:
            reply, _ = complete(
                model,
                system=system,
                user=user,
                purpose=Purpose.DRAFTING,
                carries=classes_of([LicenseClass.UNKNOWN]),
                timeout=_SECONDS,
            )
        except ModelError as error:
            raise Dropped(error.code) from None
        return reply

    return ask


def by_replies(given: Mapping[str, str]) -> Ask:
    """Return what takes replies by the path of their file."""

    def ask(beginning: Beginning) -> str:
        if beginning.name not in given:
            raise Dropped("no_reply")
        return given[beginning.name]

    return ask


def by_nobody(_: Beginning) -> str:
    """Ask nobody: what the file states is all there is."""
    return "{}"


def draft(
    beginnings: Iterable[Beginning], *, ask: Ask, advance: Callable[[int], None] = lambda _: None
) -> Drafted:
    """Return a line for each file, as far as the cap allows. Nobody has checked any of them."""
    drafted = Drafted()
    budget = accounts.current().budget
    for beginning in beginnings:
        drafted.stopped = "" if budget is None else budget.reached
        if drafted.stopped:
            break
        drafted.rows.append(_row(beginning, ask, drafted))
        advance(1)
    logger.info("draft.manifest_ended", rows=len(drafted.rows), dropped=sum(drafted.dropped.values()))
    return drafted


def _row(beginning: Beginning, ask: Ask, drafted: Drafted) -> dict[str, Any]:
    said, note = Said(), beginning.failure
    if not beginning.failure:
        try:
            said = manifest_rows.read(ask(beginning), beginning.text)
        except Dropped as dropped:
            note = dropped.code
    if note:
        drafted.dropped[note] += 1
    drafted.unconfirmed.update(said.unconfirmed)
    return manifest_rows.row(beginning.name, beginning.parsed, said, note=note)


def estimate(model: ChatModel, beginnings: list[Beginning], *, files: int) -> Estimate:
    """Return what asking about `files` files comes to, `beginnings` being those of some of them."""
    readable = [each for each in beginnings if not each.failure]
    calls = round(files * len(readable) / len(beginnings)) if beginnings else 0
    prompts = [prompt_of(each) for each in readable]
    # A line of a reference and the names of the fields.
    line = estimating.line(
        purpose=Purpose.DRAFTING, model=model.name, calls=calls, prompts=prompts, reply_tokens=90
    )
    return Estimate((line,))


def prompts_written(beginnings: Iterable[Beginning]) -> Iterator[str]:
    """Yield what a model would be asked as lines of JSONL, each with the path of its file."""
    for beginning in beginnings:
        if not beginning.failure:
            system, user = prompt_of(beginning)
            asked = {"file": beginning.name, "system": system, "user": user}
            yield json.dumps(asked, ensure_ascii=False) + "\n"


def written(drafted: Drafted, *, author: str, with_heading: bool) -> str:
    """Return the manifest as JSONL, under words that say what it is."""
    heading = (
        f"# A draft by {' '.join(author.split())}: nobody has checked it.\n"
        "# Licences are unknown until somebody decides.\n"
        '# What stands under "unconfirmed" was not found in the file and is not taken in.\n'
    )
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in drafted.rows)
    return heading + lines if with_heading else lines


def named_in(path: Path) -> set[str]:
    """Return the files that an earlier draft names already. Raises `OSError` and `ValueError`."""
    names = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            names.add(str(json.loads(line)["path"]))
    return names
