"""The world that every test of leaks looks at."""

import pytest

from tests.leaks.world import World, build


@pytest.fixture
def world() -> World:
    return build()
