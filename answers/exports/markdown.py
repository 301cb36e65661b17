"""An answer as Markdown: the text, its sources, what was checked, and how it came about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from answers import differing, wording
from answers.differing import Difference
from answers.exports.record import shared_parameters
from answers.exports.references import UNAVAILABLE
from answers.models import Answer
from answers.reading import DRIFT_LABELS, ReadableAnswer, ReadableSource
from corpus.citation_units import pages_label

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$^])")


def markdown(answers: Iterable[ReadableAnswer], *, title: str = "") -> str:
    """Return `answers` one after the other. Titles and questions are text; the answer is Markdown already."""
    parts = [f"# {_plain(title)}\n"] if title else []
    level = "##" if title else "#"
    parts += ["\n".join(_answer(shown, level)) for shown in answers]
    return "\n".join(parts)


def _answer(shown: ReadableAnswer, level: str) -> Iterator[str]:
    answer = shown.answer
    yield f"{level} {_plain(answer.question)}\n"
    if answer.searched != answer.question:
        yield f"Searched as: {_plain(answer.searched)}\n"
    if (notice := wording.notice(shown)) is not None:
        yield f"> **{_plain(notice.title)}.** {_plain(notice.text)}\n"
    if shown.text:
        yield f"{shown.text.strip()}\n"
    if shown.sources:
        yield f"{level}# Sources\n"
        yield from (_source(source) for source in shown.sources)
        yield ""
    if found := differing.differences(shown):
        yield f"{level}# Where the sources differ\n"
        yield from _differences(found)
    if shown.findings:
        yield f"{level}# Check of the citations\n"
        yield from _findings(shown)
        yield ""
    yield from _making(answer, level)


def _findings(shown: ReadableAnswer) -> Iterator[str]:
    for finding in shown.findings:
        detail = f" ({_plain(finding.detail)})" if finding.detail else ""
        sentence = _plain(shown.text[finding.start : finding.end])
        yield f"- {_plain(finding.label)}{detail}: {sentence}"


def _differences(found: Iterable[Difference]) -> Iterator[str]:
    for difference in found:
        yield f"{difference.label}:\n"
        for side in difference.sides:
            facts = ", ".join(filter(None, [str(side.year or ""), side.status]))
            told = f"- \\[{side.number}\\] {_plain(side.says)}{f' ({_plain(facts)})' if facts else ''}"
            yield f"{told}: {_plain(side.sentence)}"
        yield ""


def _making(answer: Answer, level: str) -> Iterator[str]:
    yield f"{level}# How it was made\n"
    found = wording.searched(answer)
    yield from (f"- {_plain(name)}: {_plain(value)}" for name, value in found.facts)
    yield f"- Parameters: `{json.dumps(shared_parameters(answer), sort_keys=True).replace('`', '')}`"
    yield f"- Scope digest: {answer.scope_digest}"
    yield f"- Answer: {answer.pk}\n"
    yield f"{_plain(found.methods)}\n"


def _source(source: ReadableSource) -> str:
    cited = "" if source.cited else " (retrieved, not cited)"
    if not source.available:
        return f"- \\[{source.number}\\]{cited} {UNAVAILABLE}"
    doi = f"https://doi.org/{source.doi}" if source.doi else ""
    facts = [
        source.citation or source.title,
        source.locator,
        pages_label(source.page_start, source.page_end),
        f"licence: {source.license_label}",
        "not read by the model" if source.set_aside else "",
        ", ".join(badge.upper() for badge in source.badges),
        ", ".join(DRIFT_LABELS[mark].lower() for mark in source.drift),
        f"SHA-256 {source.content_sha256}",
    ]
    told = "; ".join(_plain(fact) for fact in dict.fromkeys(filter(None, facts)))
    return f"- \\[{source.number}\\]{cited} {told}{f'; <{_address(doi)}>' if doi else ''}"


def _address(text: str) -> str:
    return re.sub(r"[<>\s\\]", "", text)


def _plain(text: str) -> str:
    return _SIGNS.sub(r"\\\1", " ".join(text.split()))
