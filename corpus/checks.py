"""System checks: what `manage.py check` and every migration refuse to go on without."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004
from django.db import connections

from corpus.gateways.embedding import version_name
from corpus.models import EmbeddingVersion

# Older ones can corrupt an index at vacuum or leak rows of other tables while building one.
OLDEST_PGVECTOR = (0, 8, 4)


@register
def domain_profile_is_valid(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Read the domain folder that the settings name."""
    from corpus.domain_profile import InvalidProfile, active_profile

    try:
        active_profile()
    except (InvalidProfile, OSError) as problem:
        return [
            Error(
                str(problem),
                hint="Correct the file, or name another folder in SCI_RAG_DOMAIN_DIR.",
                id="corpus.E001",
            )
        ]
    return []


@register
def docling_models_are_there(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Refuse a folder of models that is none, or that nothing here can use."""
    folder = settings.DOCLING_ARTIFACTS_PATH
    if not folder:
        return []
    if not Path(folder).is_dir():
        return [
            Error(
                f"DOCLING_ARTIFACTS_PATH names {folder}, which is no folder.",
                hint="Name the folder that holds Docling's models, or leave the setting empty.",
                id="corpus.E004",
            )
        ]
    lacking = [name for name in ("docling", "torch") if find_spec(name) is None]
    return [
        Error(
            f"DOCLING_ARTIFACTS_PATH is set, and {name} is not installed.",
            hint="Install 'sci-rag[docling]' and torch, or leave the setting empty.",
            id="corpus.E005",
        )
        for name in lacking
    ]


@register
def prices_can_be_read(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """Refuse prices and caps that would be found wrong at the first call to a model."""
    from corpus.usage.prices import InvalidPrice, read

    try:
        read(settings.SCI_RAG_MODEL_PRICES)
    except InvalidPrice as problem:
        return [Error(str(problem), hint="Correct SCI_RAG_MODEL_PRICES.", id="corpus.E012")]
    if settings.SCI_RAG_MAX_TOKENS_PER_RUN < 0:
        hint = "Set SCI_RAG_MAX_TOKENS_PER_RUN to a number of tokens, or to 0 for no cap."
        return [Error("SCI_RAG_MAX_TOKENS_PER_RUN is below 0.", hint=hint, id="corpus.E013")]
    return []


@register(Tags.database)
def pgvector_is_recent(
    app_configs: Any, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Refuse a pgvector with known faults. Before the first migration there is none to look at."""
    found: list[CheckMessage] = []
    for alias in databases or ():
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            row = cursor.fetchone()
        if row is not None and version_of(row[0]) < OLDEST_PGVECTOR:
            found.append(
                Error(
                    f"The database has pgvector {row[0]}; 0.8.4 or newer is needed.",
                    hint="Install a newer pgvector on the server, then run ALTER EXTENSION vector UPDATE.",
                    id="corpus.E002",
                )
            )
    return found


@register(Tags.database)
def embedding_version_agrees(
    app_configs: Any, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Say when the settings name other vectors than those the corpus is searched by."""
    found: list[CheckMessage] = []
    for alias in databases or ():
        if EmbeddingVersion._meta.db_table not in connections[alias].introspection.table_names():
            continue
        active = EmbeddingVersion.objects.using(alias).filter(is_active=True).first()
        wanted = version_name(settings.SCI_RAG_EMBEDDING_MODEL, settings.SCI_RAG_EMBEDDING_DIMENSIONS)
        if active is not None and active.name != wanted:
            found.append(
                Warning(
                    f"The corpus is embedded with {active.name}, and the settings name {wanted}: questions "
                    f"and new documents go on with {active.name}.",
                    hint="Run 'sci-rag embed reindex' to move the corpus, or set SCI_RAG_EMBEDDING_MODEL "
                    "and SCI_RAG_EMBEDDING_DIMENSIONS back.",
                    id="corpus.W003",
                )
            )
    return found


def version_of(text: str) -> tuple[int, ...]:
    """Return a version's numbers; what is no number counts as zero."""
    return tuple(int(part) if part.isdecimal() else 0 for part in text.split("."))
