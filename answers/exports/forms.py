"""The forms an answer or a conversation can be taken away in."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from answers.exports import bibliography, fountain, markdown, provenance, record, references, table
from answers.reading import ReadableAnswer

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Answers = Sequence[ReadableAnswer]


@dataclass(frozen=True, slots=True)
class Form:
    """One form: its name in addresses, how files of it end, and what writes it."""

    name: str
    label: StrOrPromise
    ending: str
    media_type: str
    write: Callable[[Answers, str], str]


def _cited(answers: Answers) -> list[references.Reference]:
    return references.references(source for shown in answers for source in shown.cited)


def _json(answers: Answers, title: str) -> str:
    kept = [record.record(shown) for shown in answers]
    whole = {"format": "sci-rag conversation, version 1", "title": title, "answers": kept}
    return json.dumps(whole if title else kept[0], ensure_ascii=False, indent=1) + "\n"


def _json_ld(answers: Answers, _title: str) -> str:
    return json.dumps(provenance.provenance(answers), ensure_ascii=False, indent=1) + "\n"


def _transcript(answers: Answers, title: str) -> str:
    return fountain.fountain(answers, title=title or answers[0].answer.question)


FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form(
            "markdown",
            _("Markdown"),
            "md",
            "text/markdown",
            lambda answers, title: markdown.markdown(answers, title=title),
        ),
        Form("json", _("JSON, the whole record"), "json", "application/json", _json),
        Form("json-ld", _("JSON-LD (PROV-O)"), "jsonld", "application/ld+json", _json_ld),
        Form(
            "bibtex",
            _("BibTeX"),
            "bib",
            "application/x-bibtex",
            lambda answers, _title: bibliography.bibtex(_cited(answers)),
        ),
        Form(
            "ris",
            _("RIS"),
            "ris",
            "application/x-research-info-systems",
            lambda answers, _title: bibliography.ris(_cited(answers)),
        ),
        Form(
            "csl-json",
            _("CSL-JSON"),
            "csl.json",
            "application/vnd.citationstyles.csl+json",
            lambda answers, _title: bibliography.csl(_cited(answers)),
        ),
        Form(
            "csv", _("CSV, the sources"), "csv", "text/csv", lambda answers, _title: table.csv_table(answers)
        ),
        Form("fountain", _("Fountain, the session"), "fountain", "text/plain", _transcript),
    )
}
