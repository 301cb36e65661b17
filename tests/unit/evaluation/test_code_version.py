"""The commit is read where there is a repository, however it keeps its references."""

from pathlib import Path

import pytest

from evaluation.runs.conditions import _commit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def git(tmp_path: Path) -> Path:
    folder = tmp_path / ".git"
    (folder / "refs/heads").mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def test_a_loose_reference_is_read(git: Path) -> None:
    (git / "refs/heads/main").write_text(COMMIT + "\n")

    assert _commit(git) == COMMIT


def test_a_packed_reference_is_read(git: Path) -> None:
    (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{COMMIT} refs/heads/main\n")

    assert _commit(git) == COMMIT


def test_a_detached_head_is_read(git: Path) -> None:
    (git / "HEAD").write_text(COMMIT)

    assert _commit(git) == COMMIT


def test_a_worktree_is_followed_to_its_repository(git: Path, tmp_path: Path) -> None:
    (git / "refs/heads/main").write_text(COMMIT)
    inner = git / "worktrees/other"
    inner.mkdir(parents=True)
    (inner / "HEAD").write_text("ref: refs/heads/main")
    (inner / "commondir").write_text("../..")
    pointer = tmp_path / "other.git"
    pointer.write_text(f"gitdir: {inner}")

    assert _commit(pointer) == COMMIT


def test_without_a_repository_there_is_no_commit(tmp_path: Path) -> None:
    assert _commit(tmp_path / "absent") == ""
