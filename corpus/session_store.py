"""Sessions in the database, each with the account it belongs to: listed, ended, never older than a week."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore

# However busy somebody is, after so many seconds they sign in again.
LONGEST = 7 * 24 * 3600
# Who is not signed in has a session for the minutes that a sign-in at a provider takes.
UNSIGNED = 15 * 60
# How often it is noted that a session is in use. Its idle time is exact to that.
NOTED = 5 * 60

BEGUN, SEEN, AGENT, ADDRESS, NUMBER = "begun", "seen", "agent", "address", "number"
PROVIDER = "provider_session"
# Until when the owner of an account, having given its password, may connect it with the provider.
MAY_CONNECT = "may_connect_until"


class SessionStore(DatabaseStore):
    """Django's sessions in the database, with a row that says whose they are."""

    @classmethod
    def get_model_class(cls) -> Any:
        """Return the table of sessions."""
        from corpus.accounts.sessions import PersonSession

        return PersonSession

    def get_session_cookie_age(self) -> int:
        """Return for how many seconds from now the session may be idle."""
        if self.get("_auth_user_id") is None:
            return UNSIGNED
        left = int(self.get(BEGUN, 0)) + LONGEST - int(time.time())
        return max(0, min(int(super().get_session_cookie_age()), left))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        """Return the row for `data`."""
        row: Any = super().create_model_instance(data)
        person = data.get("_auth_user_id")
        if person is not None:
            row.person_id = int(person)
            row.number = uuid.UUID(data[NUMBER]) if NUMBER in data else None
            row.begun_at, row.seen_at = _moment(data.get(BEGUN)), _moment(data.get(SEEN))
            row.agent, row.address = str(data.get(AGENT, ""))[:300], data.get(ADDRESS) or None
            row.provider_session = uuid.UUID(data[PROVIDER]) if PROVIDER in data else None
        return row


def _moment(seconds: Any) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(int(seconds), UTC)
