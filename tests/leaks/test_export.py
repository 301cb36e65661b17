"""An export holds no word of what its scope leaves out."""

from pathlib import Path

import pytest

from corpus import ceilings
from corpus.export.files import Form
from corpus.export.writing import ExportRefused, export
from corpus.rights import ALL_CLASSES
from corpus.scope import RetrievalScope, scope
from tests.leaks.world import CASES, READABLE, World, allowed, canary

pytestmark = pytest.mark.django_db(transaction=True)


def written(folder: Path) -> str:
    return "".join(path.read_bytes().decode("utf-8", "replace") for path in folder.iterdir())


@pytest.mark.parametrize("actor", ["narrow", "branch", "asker", "librarian"])
def test_what_somebody_may_not_see_is_in_no_file(world: World, actor: str, tmp_path: Path) -> None:
    person = world.people[actor]
    assert person is not None

    export(target=tmp_path / "out", scope=ceilings.effective_scope(person, RetrievalScope()), form=Form.JSONL)

    text = written(tmp_path / "out")
    assert [word for word in world.hidden_words(actor) if word in text] == []
    assert all(canary(case) in text for case in allowed(actor) if case in READABLE)


@pytest.mark.parametrize("item", ALL_CLASSES)
def test_one_class_asked_for_is_one_class_exported(world: World, item: str, tmp_path: Path) -> None:
    export(target=tmp_path / "out", scope=scope(license_classes=[item]), form=Form.JSONL)

    text = written(tmp_path / "out")
    assert [case for case in READABLE if canary(case) in text] == [
        case for case in READABLE if CASES[case].license_class == item
    ]


def test_who_may_see_nothing_gets_nothing(world: World, tmp_path: Path) -> None:
    person = world.people["without_role"]
    assert person is not None

    with pytest.raises(ExportRefused):
        export(
            target=tmp_path / "out", scope=ceilings.effective_scope(person, RetrievalScope()), form=Form.JSONL
        )

    assert list(tmp_path.iterdir()) == []
