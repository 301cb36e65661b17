"""How an answer's outcome and the search behind it are put into words. No queries here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from answers.models import EXTRACTIVE, Answer
from answers.reading import ReadableAnswer
from corpus.rights import LABELS, LicenseClass
from retrieval.layers.registered import REGISTERED
from retrieval.types import DEGRADED

LAYERS = {
    **{layer.name: layer.words for layer in REGISTERED},
    "fusion": gettext_lazy("rank fusion"),
    "rerank": gettext_lazy("reranking"),
    "scope": gettext_lazy("scope"),
    "history": gettext_lazy("versions of a work"),
    "other_versions": gettext_lazy("other versions"),
}
STATUSES = {
    "ok": gettext_lazy("done"),
    "empty": gettext_lazy("found nothing"),
    "timeout": gettext_lazy("timed out"),
    "error": gettext_lazy("failed"),
    "skipped": gettext_lazy("skipped"),
    "disabled": gettext_lazy("switched off"),
    "denied": gettext_lazy("not allowed"),
}


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing the reader must know before reading the text. `kind` is a style of notice."""

    kind: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the search, without anything of its content."""

    name: str
    status: str
    status_code: str
    candidates: int
    milliseconds: float
    note: str


@dataclass(frozen=True, slots=True)
class Searched:
    """What was searched, how and when."""

    facts: tuple[tuple[str, str], ...]
    stages: tuple[Stage, ...]
    troubles: tuple[str, ...]
    methods: str


def notice(shown: ReadableAnswer) -> Notice | None:
    """Return what has to be said about how the answer ended; None when it simply is one."""
    if shown.text_withheld:
        return Notice(
            "warning",
            _("The text is not shown"),
            _(
                "It was written from a passage that has been removed or that your account may no longer "
                "see. Ask the question again to get an answer from what you may see today."
            ),
        )
    answer = shown.answer
    finish = Answer.Finish(answer.finish)
    if finish == Answer.Finish.PENDING:
        return Notice("info", _("Still being written"), _("Reload the page in a moment."))
    return _ENDINGS[finish](answer) if finish in _ENDINGS else None


def _no_sources(answer: Answer) -> Notice:
    if not answer.eligible_documents:
        text = _("The scope leaves no document to search. Widen it and ask again.")
    else:
        text = _("No passage in scope speaks of this. Try other words, or widen the scope.")
    return Notice("info", _("Nothing found under this scope"), text)


def _not_covered(answer: Answer) -> Notice:
    return Notice(
        "info",
        _("The corpus does not cover this under the present scope"),
        _("The nearest passages are listed as sources, so that you can judge for yourself."),
    )


def _model_failed(answer: Answer) -> Notice:
    if answer.text:
        return Notice(
            "error",
            _("The model stopped before it was done"),
            _("What it had written is kept below and marked partial. The passages are complete."),
        )
    return Notice(
        "error",
        _("The model did not answer"),
        _("Nothing is lost: the question, its scope and the passages that were found are all here."),
    )


def _retrieval_timeout(answer: Answer) -> Notice:
    layers = ", ".join(str(LAYERS.get(name, name)) for name in answer.degraded)
    return Notice(
        "error",
        _("The search took too long"),
        _("No layer answered in time: {layers}. Ask again, or narrow the scope.").format(layers=layers),
    )


def _retrieval_failed(answer: Answer) -> Notice:
    return Notice("error", _("The search failed"), _("Nothing was written. Ask again in a moment."))


def _cancelled(answer: Answer) -> Notice:
    return Notice("warning", _("Stopped"), _("You stopped this answer. What had been written is kept."))


def _abandoned(answer: Answer) -> Notice:
    return Notice("warning", _("Broken off"), _("The answer was interrupted. What had been written is kept."))


def _uncited(answer: Answer) -> Notice:
    return Notice(
        "warning",
        _("No supported answer"),
        _("The model wrote a text that names none of the sources. Do not rely on it."),
    )


_ENDINGS = {
    Answer.Finish.NO_SOURCES: _no_sources,
    Answer.Finish.NOT_COVERED: _not_covered,
    Answer.Finish.MODEL_FAILED: _model_failed,
    Answer.Finish.RETRIEVAL_TIMEOUT: _retrieval_timeout,
    Answer.Finish.RETRIEVAL_FAILED: _retrieval_failed,
    Answer.Finish.CANCELLED: _cancelled,
    Answer.Finish.ABANDONED: _abandoned,
    Answer.Finish.UNCITED: _uncited,
}


def engine_name(answer: Answer) -> str:
    """Name what wrote the text."""
    if answer.engine == EXTRACTIVE:
        return _("the built-in extractive engine, which quotes passages word for word")
    return answer.model or answer.engine


def searched(answer: Answer) -> Searched:
    """Return what the box 'What was searched' says."""
    facts = [
        (_("Asked"), date_format(answer.created_at, "j F Y, H:i e")),
        (_("Documents in scope"), str(answer.eligible_documents)),
        (_("Passages in scope"), str(answer.eligible_passages)),
        (_("Scope"), _scope_words(answer.effective_scope)),
        (_("Profile"), answer.profile),
        (_("Embedding"), answer.embedding_version),
        (_("Corpus fingerprint"), answer.fingerprint),
        (_("Written by"), engine_name(answer)),
        (_("Prompt"), answer.prompt_sha256[:16]),
    ]
    stages = tuple(_stage(trace) for trace in answer.traces)
    return Searched(
        facts=tuple((name, value) for name, value in facts if value),
        stages=stages,
        troubles=tuple(f"{s.name}: {s.status}" for s in stages if s.status_code in DEGRADED),
        methods=_methods(answer),
    )


def _stage(trace: dict[str, Any]) -> Stage:
    name, status = str(trace.get("stage", "")), str(trace.get("status", ""))
    note = " · ".join(part for part in (trace.get("mode"), trace.get("reason")) if part)
    return Stage(
        name=str(LAYERS.get(name, name)),
        status=str(STATUSES.get(status, status)),
        status_code=status,
        candidates=int(trace.get("candidates", 0)),
        milliseconds=float(trace.get("milliseconds", 0)),
        note=note,
    )


def _scope_words(effective: dict[str, Any]) -> str:
    classes = effective.get("license_classes")
    words = [_("rights: {names}").format(names=_class_names(classes))]
    if (buckets := effective.get("buckets")) is not None:
        words.append(_("collections: {names}").format(names=", ".join(buckets) or _("none")))
    first, last = effective.get("year_min"), effective.get("year_max")
    if first is not None or last is not None:
        words.append(_("years: {first}–{last}").format(first=first or "", last=last or ""))
    for key, name in (("authors", _("authors")), ("journals", _("journals"))):
        if (values := effective.get(key)) is not None:
            words.append(f"{name}: {', '.join(values)}")
    if as_of := effective.get("as_of"):
        words.append(_("versions in force on {day}").format(day=as_of))
    retracted = effective.get("exclude_retracted")
    words.append(_("retracted work left out") if retracted else _("retracted work included"))
    return "; ".join(words)


def _class_names(classes: Sequence[str] | None) -> str:
    if classes is None or set(classes) == set(LABELS):
        return _("all classes")
    return " · ".join(LABELS[LicenseClass(name)] for name in classes) or _("none")


def _methods(answer: Answer) -> str:
    ran = [t for t in answer.traces if t.get("status") in {"ok", "empty"} and t.get("stage") in _GENERATORS]
    layers = _(" and ").join(str(LAYERS[t["stage"]]) for t in ran)
    documents = ngettext("%(n)s document", "%(n)s documents", answer.eligible_documents)
    passages = ngettext("%(n)s passage", "%(n)s passages", answer.eligible_passages)
    return _(
        "On {date} a corpus of {documents} ({passages}; fingerprint {fingerprint}) was searched with sci-rag "
        "by {layers}, scope: {scope}. Embedding: {embedding}. The answer was written by {engine}."
    ).format(
        date=date_format(answer.created_at, "j F Y"),
        documents=documents % {"n": answer.eligible_documents},
        passages=passages % {"n": answer.eligible_passages},
        fingerprint=answer.fingerprint[:16] or _("not recorded"),
        layers=layers or _("no layer"),
        scope=_scope_words(answer.effective_scope),
        embedding=answer.embedding_version or _("none"),
        engine=engine_name(answer),
    )


_GENERATORS = frozenset(layer.name for layer in REGISTERED)
