"""Inputs that no honest person sends, the same ones every time. Nothing of them is kept on disk.

Files and manifests are `every_case()`; requests, questions and names of files have modules of their own, and
`groups` counts all of them.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from tests.reliability.hostile import archives, manifests, markup, names, pdfs, places, prose, texts
from tests.reliability.hostile.cases import Case

COUNT = 300


@cache
def cases_of(module: ModuleType) -> tuple[Case, ...]:
    """Return the cases of one module: some take a while to make."""
    return tuple(module.cases())


@cache
def every_case() -> list[Case]:
    """Return all hostile files and manifests in a fixed order, each with a name of its own."""
    modules = (pdfs, markup, archives, prose, places, texts, manifests, names)
    cases = [case for module in modules for case in cases_of(module)]
    return [Case(f"{number:03}-{case.name}", case.make, case.refused) for number, case in enumerate(cases)]
