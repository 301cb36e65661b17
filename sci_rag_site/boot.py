"""Settings that a site does not start with: each is refused with what is wrong and what to do about it.

What could never work is refused everywhere, and what would leave a site open where others reach it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

Values = Mapping[str, Any]
# What is wrong, and what to do.
Refusal = tuple[str, str]

SHORTEST_KEY, FEWEST_LETTERS = 50, 5
_NEW_KEY = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(64))'"
_EXAMPLE = re.compile(r"django-insecure|change.?me|example|secret.?key|password|12345", re.IGNORECASE)
_HOST = re.compile(r"\.?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)
_HOST_AND_PORT = re.compile(
    r"(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.IGNORECASE
)
_LOCAL = {"127.0.0.1", "localhost", "[::1]", "::1", ""}
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_FORMS = ("auto", "json", "console")
_BROKERS = ("redis", "rediss", "amqp", "amqps", "filesystem", "memory")
_WIDTHS: dict[str, tuple[int, int]] = {
    "SCI_RAG_MAX_UPLOAD_MB": (1, 2_000),
    "SCI_RAG_UPLOAD_MB_PER_DAY": (1, 10_000_000),
    "SCI_RAG_PAGE_CACHE_MB": (0, 10_000_000),
    "SCI_RAG_LEASE_SECONDS": (1, 3_600),
    "SCI_RAG_EMBEDDING_DIMENSIONS": (2, 4_000),
}
_ADDRESSES = (
    "SCI_RAG_LLM_API_BASE", "SCI_RAG_EMBEDDING_API_BASE", "SCI_RAG_CROSSREF_URL", "SCI_RAG_OPENALEX_URL",
    "SCI_RAG_UNPAYWALL_URL",
)  # fmt: skip


class Environment(environ.Env):  # type: ignore[misc]
    """The environment, which names the setting that is no number."""

    def int(self, var: str, default: Any = environ.Env.NOTSET) -> Any:
        """Return a whole number."""
        try:
            return super().int(var, default=default)
        except ValueError:
            raise ImproperlyConfigured(
                f"{var} is no whole number. Write digits alone, or remove it."
            ) from None


def refuse(values: Values) -> None:
    """Raise `ImproperlyConfigured` with all that is wrong with `values`, in one line; else do nothing."""
    found = [f"{wrong} {fix}" for wrong, fix in refusals(values)]
    if found:
        raise ImproperlyConfigured(" ".join(found))


def refusals(values: Values) -> Iterator[Refusal]:
    """Yield what is wrong with the settings `values`, by name."""
    for check in (*_ALWAYS, *(_WHERE_OTHERS_REACH_IT if is_public(values) else ())):
        yield from check(values)


def is_public(values: Values) -> bool:
    """Return whether others than this machine may reach the site."""
    return bool(values["HTTPS"]) or any(str(host) not in _LOCAL for host in values["ALLOWED_HOSTS"])


def _parts(text: str) -> SplitResult:
    """Return the parts of an address; none of one that has none."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def _hosts(values: Values) -> Iterator[Refusal]:
    for host in values["ALLOWED_HOSTS"]:
        if host != "*" and not _HOST.fullmatch(host):
            yield f"ALLOWED_HOSTS has {host[:80]!r}.", "Write names alone, without https://, port or path."


def _origins(values: Values) -> Iterator[Refusal]:
    for origin in values["CSRF_TRUSTED_ORIGINS"]:
        parts = _parts(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            yield f"CSRF_TRUSTED_ORIGINS has {origin[:80]!r}.", "Write each as https://name, without a path."


def _outbound(values: Values) -> Iterator[Refusal]:
    for name in ("SCI_RAG_OUTBOUND_HOSTS", "SCI_RAG_OIDC_HOSTS"):
        for host in values[name]:
            if not _HOST_AND_PORT.fullmatch(host):
                yield f"{name} has {host[:80]!r}.", "Write name or name:port, one by one: there is no star."


def _addresses(values: Values) -> Iterator[Refusal]:
    for name in _ADDRESSES:
        text = values[name]
        parts = _parts(text)
        if text and (parts.scheme not in ("http", "https") or not parts.hostname):
            yield f"{name} is no address.", "Write it as https://name/path."
        elif "@" in parts.netloc:
            yield f"{name} holds a user or a password.", "Put the key into the setting that is for it."


def _numbers(values: Values) -> Iterator[Refusal]:
    for name, (least, most) in _WIDTHS.items():
        if not least <= values[name] <= most:
            yield f"{name} is {values[name]}.", f"Choose from {least:,} to {most:,}."


def _words(values: Values) -> Iterator[Refusal]:
    if values["SCI_RAG_CONTACT_EMAIL"] and not re.fullmatch(
        r"[^@\s]+@[^@\s]+", values["SCI_RAG_CONTACT_EMAIL"]
    ):
        yield "SCI_RAG_CONTACT_EMAIL is no address of e-mail.", "Write one that somebody reads, or nothing."
    broker = _parts(values["CELERY_BROKER_URL"]).scheme
    if values["CELERY_BROKER_URL"] and broker not in _BROKERS:
        yield f"CELERY_BROKER_URL begins with {broker[:20]!r}.", "Use redis:// or amqp://, or leave it empty."
    if values["SCI_RAG_LOG_LEVEL"].upper() not in _LEVELS:
        yield "SCI_RAG_LOG_LEVEL is none.", f"Use one of: {', '.join(_LEVELS)}."
    if values["SCI_RAG_LOG_FORMAT"] not in _FORMS:
        yield "SCI_RAG_LOG_FORMAT is none.", f"Use one of: {', '.join(_FORMS)}."


def _database(values: Values) -> Iterator[Refusal]:
    url = values["DATABASE_URL"]
    if url and _parts(url).scheme not in ("postgres", "postgresql"):
        yield "DATABASE_URL is not of PostgreSQL.", "Write it as postgres://user:password@host:port/name."


def _keys(values: Values) -> Iterator[Refusal]:
    before = values["SECRET_KEY_FALLBACKS"]
    for name, keys in (("SECRET_KEY", [values["SECRET_KEY"]]), ("SECRET_KEY_FALLBACKS", before)):
        for key in keys:
            if len(key) < SHORTEST_KEY:
                yield f"{name} is shorter than {SHORTEST_KEY} characters.", f"{_NEW_KEY}."
            elif len(set(key)) < FEWEST_LETTERS or _EXAMPLE.search(key):
                yield f"{name} is an example that anybody could guess.", f"{_NEW_KEY}."
    if values["SECRET_KEY"] in before:
        yield (
            "SECRET_KEY_FALLBACKS holds the SECRET_KEY itself.",
            "Put there the keys of before, and no other.",
        )


def _openness(values: Values) -> Iterator[Refusal]:
    if values["DEBUG"]:
        yield "DEBUG is on where others reach the site: error pages show code.", "Remove DEBUG."
    if "*" in values["ALLOWED_HOSTS"]:
        yield "ALLOWED_HOSTS has '*': the site would answer to any name.", "Name the hosts it is reached by."
    for origin in values["CSRF_TRUSTED_ORIGINS"]:
        if values["HTTPS"] and origin.startswith("http://"):
            yield f"CSRF_TRUSTED_ORIGINS trusts {origin[:80]!r} without TLS.", "Write it with https://."
        if "*" in origin:
            yield f"CSRF_TRUSTED_ORIGINS has {origin[:80]!r}.", "Name each host."


def _credentials(values: Values) -> Iterator[Refusal]:
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        parts = _parts(values[name])
        user, password = parts.username or "", parts.password or ""
        is_default = (user, password) in (("guest", "guest"), ("admin", "admin"), ("root", "root"))
        if password and (password == user or is_default or password in ("postgres", "password", "changeme")):
            yield f"{name} has a password that everybody tries first.", "Give that account one of its own."


Check = Callable[[Values], Iterable[Refusal]]
_ALWAYS: tuple[Check, ...] = (_hosts, _origins, _outbound, _addresses, _numbers, _words, _database)
_WHERE_OTHERS_REACH_IT: tuple[Check, ...] = (_keys, _openness, _credentials)
