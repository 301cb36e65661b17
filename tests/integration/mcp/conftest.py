"""A site that is served, and the corpus that tools are asked about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.answers.conftest import small_corpus, straw
from tests.loopback import served
from tests.loopback.fixtures import forget_clients

__all__ = ["small_corpus", "straw"]


@pytest.fixture
def site(transactional_db: None) -> Iterator[str]:
    with served.site() as address:
        yield address


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()
