"""What happens to a session when somebody signs in: it says since when, from where and with what."""

from __future__ import annotations

import ipaddress
import time
import uuid
from typing import Any

import structlog
from django.contrib.auth.models import User
from django.http import HttpRequest

from corpus import session_store
from corpus.accounts import backends
from corpus.audit.recording import Kind, record

logger = structlog.get_logger(__name__)


def note(sender: object, request: HttpRequest, user: User, **_: Any) -> None:
    """Begin the session's own life. Its key was changed just before, or it was made anew."""
    session, now = request.session, int(time.time())
    session.pop(session_store.PROVIDER, None)
    session[session_store.NUMBER] = str(uuid.uuid4())
    session[session_store.BEGUN] = session[session_store.SEEN] = now
    session[session_store.AGENT] = str(request.META.get("HTTP_USER_AGENT", ""))[:300].replace("\0", "")
    session[session_store.ADDRESS] = _address(request)
    way = "provider" if session.get("_auth_user_backend") == backends.BY_PROVIDER else "password"
    record(Kind.SIGNED_IN, by=user, about={"way": way}, request=request)
    logger.info("sign_in.succeeded", user=user.pk, by=way)


def _address(request: HttpRequest) -> str:
    try:
        return str(ipaddress.ip_address(str(request.META.get("REMOTE_ADDR", "")).partition("%")[0]))
    except ValueError:
        return ""
