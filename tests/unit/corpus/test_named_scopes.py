"""Scopes that the profile names: what a field that is left out means, and which mistakes are refused."""

from pathlib import Path

import pytest

from corpus.domain_profile import DomainProfile, InvalidProfile, load
from corpus.named_scopes import NamedScope
from corpus.roles import CEILINGS
from corpus.scope import Ceiling, RetrievalScope, scope


def _refused(folder: Path, text: str) -> str:
    path = folder / "domain.yaml"
    path.write_text(f"community_scopes:\n{text}", encoding="utf-8")
    with pytest.raises(InvalidProfile) as caught:
        load(path)
    return str(caught.value)


def test_what_is_left_out_restricts_nothing_but_retracted_works() -> None:
    assert NamedScope().scope() == scope(exclude_retracted=True)
    assert NamedScope(exclude_retracted=False).scope() == RetrievalScope()


def test_every_role_finds_its_default_answer_scope_among_the_shipped_ones() -> None:
    named = {one.scope().selection for one in DomainProfile().community_scopes.values()}

    for role, classes in CEILINGS.items():
        asked = scope(exclude_retracted=True).within(Ceiling(classes, None))
        assert asked.selection in named, role


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("  a: {license_classes: []}\n", "line 2: community_scopes.a.license_classes:"),
        ("  a: {buckets: []}\n", "line 2: community_scopes.a.buckets:"),
        ("  a: {license_classes: [free]}\n", "line 2: community_scopes.a.license_classes"),
        ("  a: {year_min: 2020, year_max: 2010}\n", "The first year, 2020, is after the last, 2010."),
        ("  a: {exclude_dois: [nonsense]}\n", "is not a DOI"),
        ("  a: {licence: [public]}\n", "line 2: community_scopes.a.licence: Extra inputs"),
        ("  a: {as_of: 2019}\n", "line 2: community_scopes.a.as_of: Extra inputs"),
        ("  A b: {}\n", "line 2: community_scopes.A b"),
        (
            "  a: {}\n  b: {exclude_retracted: true}\n",
            "line 3: community_scopes.b: it allows the same as 'a'",
        ),
        ("".join(f"  a{n}: {{year_min: {n}}}\n" for n in range(21)), "at most 20 items"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert said in _refused(tmp_path, text)
