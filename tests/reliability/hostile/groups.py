"""The groups of bad input that the plan has, and what there is of each."""

from __future__ import annotations

from collections.abc import Sized

from tests.reliability.hostile import (
    cases_of,
    manifests,
    names,
    pdfs,
    places,
    prose,
    questions,
    requests,
    texts,
)


def groups() -> dict[str, tuple[int, Sized]]:
    """Return the groups of the plan: how many it asks for, and the inputs there are."""
    plain = [case for case in cases_of(prose) if not case.name.endswith(".tex")]
    described = [case for case in cases_of(places) if case.name.startswith("manifest-")]
    return {
        "PDFs": (140, list(cases_of(pdfs))),
        "Markdown and text": (110, [*plain, *cases_of(texts)]),
        "manifests": (110, [*described, *cases_of(manifests)]),
        "requests": (requests.COUNT, requests.every_request()),
        "questions": (questions.COUNT, questions.every_question()),
        "names and metadata": (names.COUNT, [*names.file_names(), *cases_of(names)]),
    }
