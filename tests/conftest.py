"""Fixtures shared by all tests: the people, and sockets that reach the loopback range only."""

from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real papers and records; tests that need it skip where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs the shared data folder beside the checkout")
    return SHARED / "data"


def _person(name: str, group: str) -> User:
    user = User.objects.create_user(name, password="correct horse battery")
    user.groups.add(Group.objects.get(name=group))
    return user


@pytest.fixture
def asker(db: None) -> User:
    return _person("asker", "asker")


@pytest.fixture
def librarian(db: None) -> User:
    return _person("librarian", "librarian")


@pytest.fixture
def expert(db: None) -> User:
    return _person("expert", "expert")
