"""The forms of question sets, questions and runs. What was typed is kept."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from answers.models import EXTRACTIVE, MODEL
from corpus.gateways.judge_model import judge_model
from corpus.usage.budget import Cap
from evaluation.ground_truth.models import NAME, Question, QuestionSet
from evaluation.questions import SeedQuestion
from evaluation.runs.ablations import CONFIGURATIONS, Configuration, chosen, of_profile
from evaluation.runs.models import EvaluationRun
from retrieval.profiles import INTERACTIVE, NAMES, PROFILES
from retrieval.request import MAX_LIMIT, MAX_QUESTION

# A list with one entry on each line.
_LINES = ("reference_documents", "reference_titles", "evidence_phrases")
ABLATE = "ablate"


class AsksASet(forms.Form):
    """A form in which one of `sets` is chosen."""

    def __init__(self, *arguments: Any, sets: list[QuestionSet], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sets = {str(one.pk): one for one in sets}
        self.fields["question_set"] = forms.ChoiceField(
            choices=[(key, one.name) for key, one in self.sets.items()],
            error_messages=dict.fromkeys(("required", "invalid_choice"), _("Choose a set of questions.")),
        )

    def question_set(self) -> QuestionSet:
        """Return the chosen set of a valid form."""
        return self.sets[self.cleaned_data["question_set"]]


class SetForm(forms.Form):
    """The name of a new set."""

    name = forms.RegexField(
        NAME,
        max_length=80,
        error_messages={"invalid": _("Use a-z, 0-9, '.', '_' and '-', a letter or digit first.")},
    )
    description = forms.CharField(max_length=1_000, required=False)


class QuestionForm(forms.Form):
    """A question with its evidence, in the words of its author."""

    key = forms.RegexField(
        NAME,
        max_length=80,
        error_messages={"invalid": _("Use a-z, 0-9, '.', '_' and '-', a letter or digit first.")},
    )
    question = forms.CharField(max_length=MAX_QUESTION)
    reference_answer = forms.CharField(max_length=8_000)
    reference_documents = forms.CharField(required=False, max_length=8_000)
    reference_titles = forms.CharField(required=False, max_length=8_000)
    evidence_phrases = forms.CharField(required=False, max_length=20_000)
    kind = forms.ChoiceField(required=False, choices=Question.Kind.choices)
    split = forms.ChoiceField(required=False, choices=Question.Split.choices)
    tags = forms.CharField(required=False, max_length=1_000)
    unanswerable = forms.BooleanField(required=False)
    seen = forms.CharField(required=False, max_length=64)

    def seed(self, *, author: str) -> SeedQuestion | None:
        """Return the question of a valid form; None, with errors added, when it contradicts itself."""
        data = self.cleaned_data
        values: dict[str, Any] = {name: _lines(data[name]) for name in _LINES}
        try:
            return SeedQuestion(
                id=data["key"],
                question=data["question"],
                reference_answer=data["reference_answer"],
                tags=tuple(tag.strip() for tag in data["tags"].split(",") if tag.strip()),
                kind=data["kind"],
                split=data["split"],
                unanswerable=data["unanswerable"],
                author=author,
                **values,
            )
        except ValidationError as error:
            for item in error.errors(include_url=False):
                field = str(item["loc"][0]) if item["loc"] else None
                said = str(item["msg"]).removeprefix("Value error, ")
                self.add_error(field if field in self.fields else None, f"{said[:1].upper()}{said[1:]}.")
            return None

    @staticmethod
    def initial_of(seed: SeedQuestion, seen: str) -> dict[str, Any]:
        """Return what the form of an existing question begins with."""
        return {
            "key": seed.id,
            "question": seed.question,
            "reference_answer": seed.reference_answer,
            **{name: "\n".join(getattr(seed, name)) for name in _LINES},
            "kind": seed.kind,
            "split": seed.split,
            "tags": ", ".join(seed.tags),
            "unanswerable": seed.unanswerable,
            "seen": seen,
        }


class ReportedForm(QuestionForm, AsksASet):
    """A question about an answer that was reported as wrong, and the set it goes into."""


class RunForm(AsksASet):
    """Which questions are asked, and which ways of searching are compared."""

    how = forms.ChoiceField(
        choices=[
            *((name, name) for name in PROFILES),
            (ABLATE, _("Compare every configuration")),
        ],
        initial=ABLATE,
    )
    split = forms.ChoiceField(required=False, choices=Question.Split.choices)
    include_retracted = forms.BooleanField(required=False, initial=True)

    def configurations(self) -> tuple[Configuration, ...]:
        """Return the chosen configurations of a valid form."""
        how = self.cleaned_data["how"]
        return chosen(CONFIGURATIONS) if how == ABLATE else of_profile(how)


class AnswerRunForm(AsksASet):
    """Which questions are answered, by whom, and from what."""

    profile = forms.ChoiceField(choices=[(name, name) for name in NAMES], initial=INTERACTIVE)
    engine = forms.ChoiceField(
        required=False,
        choices=[
            ("", _("As anybody gets it: the model, if there is one")),
            (MODEL, _("The language model")),
            (EXTRACTIVE, _("Quotations, without a model")),
        ],
    )
    limit = forms.IntegerField(min_value=1, max_value=MAX_LIMIT, initial=8)
    sources = forms.ChoiceField(
        required=False,
        choices=[
            ("", _("As the domain profile says")),
            ("whole", _("Whole")),
            ("condensed", _("Condensed by the fast model")),
        ],
    )
    include_retracted = forms.BooleanField(required=False)
    max_tokens = forms.IntegerField(required=False, min_value=1, max_value=10**12)

    def chosen(self) -> str:
        """Return a digest of all choices of a valid form: what was estimated is what is begun."""
        values = {name: str(value) for name, value in sorted(self.cleaned_data.items())}
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()

    def how(self) -> dict[str, Any]:
        """Return what a valid form asks for."""
        data = self.cleaned_data
        return {
            "profile": data["profile"],
            "engine": data["engine"] or None,
            "limit": data["limit"],
            "compressed": {"": None, "whole": False, "condensed": True}[data["sources"]],
            "cap": Cap(max_tokens=data["max_tokens"]),
        }

    def models(self) -> dict[str, str]:
        """Return who writes and who grades, for whoever is about to start; empty where nobody is set."""
        judge = judge_model()
        return {"judge": "" if judge is None else judge.name, "writer": settings.SCI_RAG_LLM_MODEL}


class CapForm(forms.Form):
    """The cap under which a run goes on; empty is none."""

    max_tokens = forms.IntegerField(required=False, min_value=1, max_value=10**12)


class DecisionForm(forms.Form):
    """The two runs that decide about condensed sources."""

    def __init__(self, *arguments: Any, runs: list[EvaluationRun], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.runs = {str(one.pk): one for one in runs}
        for name in ("whole", "condensed"):
            self.fields[name] = forms.ChoiceField(
                choices=[(key, _told_apart(one)) for key, one in self.runs.items()],
                error_messages=dict.fromkeys(("required", "invalid_choice"), _("Choose a run.")),
            )

    def sides(self) -> dict[str, EvaluationRun]:
        """Return the chosen runs of a valid form."""
        return {name: self.runs[self.cleaned_data[name]] for name in ("whole", "condensed")}


def _told_apart(run: EvaluationRun) -> str:
    """Name a run among others of the same set: by what its model read, and by the beginning of its id."""
    condensed = run.summary.get("compression", {}).get("answers", 0)
    return f"{run}, {_('condensed') if condensed else _('whole')} ({str(run.pk)[:8]})"


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
