"""What the tests of retrieval look at: every statement that reaches the database, from any thread."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.backends.utils import CursorWrapper


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the SQL of all threads."""
    seen: list[str] = []
    execute = CursorWrapper.execute

    def remembering(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
        seen.append(str(sql))
        return execute(self, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", remembering)
    return seen
