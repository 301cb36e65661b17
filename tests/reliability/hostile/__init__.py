"""Three hundred hostile inputs, the same ones every time: `every_case()`. Nothing of them is kept on disk."""

from __future__ import annotations

from functools import cache

from tests.reliability.hostile import archives, markup, pdfs, places, prose
from tests.reliability.hostile.cases import Case

COUNT = 300


@cache
def every_case() -> list[Case]:
    """Return all hostile inputs in a fixed order, each with a name of its own."""
    cases = [*pdfs.cases(), *markup.cases(), *archives.cases(), *prose.cases(), *places.cases()]
    return [Case(f"{number:03}-{case.name}", case.make, case.refused) for number, case in enumerate(cases)]
