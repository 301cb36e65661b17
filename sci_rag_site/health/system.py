"""What an administrator sees of the installation: versions, settings without secrets, work, room.

Facts, not findings: what is wrong with them is for the doctor to say.
"""

from __future__ import annotations

import platform
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _

from corpus import jobs, page_images
from corpus.metrics import catalogue
from corpus.metrics.store import total
from corpus.models import Job
from retrieval import replica
from sci_rag_site.tasks import heartbeat_file

PACKAGES = ("django", "celery", "gunicorn", "uvicorn", "psycopg", "litellm", "onnxruntime", "pypdfium2")
# Settings that do not begin with SCI_RAG_.
OTHERS = (
    "DEBUG", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "DATABASE_URL", "CELERY_BROKER_URL", "SECRET_KEY",
    "VAR_DIR", "DOMAIN_DIR", "STATIC_ROOT", "DOCLING_ARTIFACTS_PATH", "HTTPS",
)  # fmt: skip
_SECRET = re.compile(r"KEY|SECRET|TOKEN|PASS")
SET, UNSET = "set", "not set"


@dataclass(frozen=True, slots=True)
class Part:
    """One table of the page."""

    title: str
    rows: tuple[tuple[str, str], ...]


def parts() -> list[Part]:
    """Return everything, in order."""
    tables: list[tuple[str, Callable[[], Iterator[tuple[str, str]]]]] = [
        (_("Versions"), _versions),
        (_("Queue and workers"), _work),
        (_("Providers that were left alone"), _breakers),
        (_("Disk and caches"), _room),
        (_("Settings"), _settings),
    ]
    return [Part(title, tuple(rows())) for title, rows in tables]


def shown(name: str, value: Any) -> str:
    """Return a setting without what is secret: of a key whether it is set, of an address where it leads."""
    if value in ("", None, [], ()):
        return UNSET
    if _SECRET.search(name):
        return SET
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(name, one) for one in value)
    text = str(value)
    if "://" not in text:
        return text
    try:
        parted = urlsplit(text)
        place = f":{parted.port}" if parted.port else ""
    except ValueError:
        return SET
    return f"{parted.scheme}://{parted.hostname or ''}{place}"


def _versions() -> Iterator[tuple[str, str]]:
    yield "sci-rag", version("sci-rag")
    yield "Python", platform.python_version()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'),"
            " (SELECT extversion FROM pg_extension WHERE extname = 'vector')"
        )
        server, pgvector = cursor.fetchone()
    yield "PostgreSQL", server
    yield "pgvector", pgvector or UNSET
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, _("not installed")


def _work() -> Iterator[tuple[str, str]]:
    backlog = jobs.backlog()
    yield _("Jobs that wait"), f"{backlog.queued:,}"
    yield _("Oldest of them"), _seconds(backlog.oldest_seconds) if backlog.queued else "-"
    yield _("Jobs at work"), f"{backlog.running:,}"
    names = Job.objects.filter(state=Job.State.RUNNING).order_by("worker").values_list("worker", flat=True)
    yield _("Workers with jobs"), ", ".join(names.distinct()) or "-"
    beat = heartbeat_file()
    silent = time.time() - beat.stat().st_mtime if beat.exists() else None
    yield _("Schedule and worker did something"), _("never") if silent is None else _seconds(max(0.0, silent))
    yield _("Broker"), shown("", settings.CELERY_BROKER_URL) if settings.CELERY_BROKER_URL else _("files")
    yield (
        _("Searches read from"),
        _("a replica") if replica.REPLICA in settings.DATABASES else _("the database"),
    )


def _breakers() -> Iterator[tuple[str, str]]:
    if not settings.SCI_RAG_METRICS_TOKEN:
        yield (
            _("Not counted"),
            _("SCI_RAG_METRICS_TOKEN has all processes count, for monitors and for this page."),
        )
        return
    counted = total(catalogue.folder(), catalogue.joined)
    uses = [name for name in counted if name.startswith(f"{catalogue.BREAKER_OPENED.name}{{")]
    if not uses:
        yield _("None"), "-"
    for name in sorted(uses):
        labels = name.partition("{")[2]
        until = counted.get(f"{catalogue.BREAKER_OPEN.name}{{{labels}", 0.0)
        state = _("left alone now") if until > time.time() else _("asked")
        yield labels.partition('"')[2].rstrip('"}'), f"{state}, {counted[name]:,.0f}"


def _room() -> Iterator[tuple[str, str]]:
    usage = shutil.disk_usage(settings.VAR_DIR)
    yield _("Free"), f"{usage.free / 1e9:,.1f} GB, {usage.free / usage.total:.0%}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        (size,) = cursor.fetchone()
    yield _("Database"), f"{size / 1e6:,.0f} MB"
    kept = sum(file.stat().st_size for file in _files(page_images.root()))
    yield _("Pictures of pages"), f"{kept / 1e6:,.0f} MB, {settings.SCI_RAG_PAGE_CACHE_MB:,} MB"


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file())


def _settings() -> Iterator[tuple[str, str]]:
    ours = [name for name in dir(settings) if name.startswith("SCI_RAG_")]
    for name in (*OTHERS, *sorted(ours)):
        yield name, shown(name, getattr(settings, name, ""))


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"
