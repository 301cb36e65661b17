"""The fingerprint of a corpus: the state that a number or an answer was made from, as one hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.db import connection

from corpus.domain_profile import active_profile
from corpus.models import Document
from corpus.scope import RetrievalScope

# One line a document: its text, its rights, its status, its work's status, how it was cut.
_STATEMENT = """
WITH eligible AS MATERIALIZED ({eligible}),
version AS (SELECT id, name, dimensions FROM corpus_embeddingversion WHERE is_active),
document AS (
    SELECT count(*) AS documents, coalesce(sum(document.chunk_count), 0) AS passages,
        string_agg(concat_ws(' ',
            document.content_sha256, document.license_class, document.no_derivatives, document.status,
            coalesce(source.is_retracted, false), coalesce(source.has_concern, false),
            document.extra ->> 'chunking'), E'\\n' ORDER BY document.content_sha256) AS lines
    FROM corpus_document document
    JOIN eligible ON eligible.id = document.id
    LEFT JOIN corpus_source source ON source.id = document.source_id
)
SELECT encode(sha256(convert_to(
        concat_ws(E'\\n', document.lines, coalesce(%s, version.name), %s), 'UTF8'
    )), 'hex'), document.documents, document.passages, version.id, version.name, version.dimensions
FROM document LEFT JOIN version ON true
"""


@dataclass(frozen=True, slots=True)
class State:
    """What a scope lets somebody see at one moment. `version`: id, name and dimensions of the active one."""

    fingerprint: str
    documents: int = 0
    passages: int = 0
    version: tuple[int, str, int] | None = None


def state(scope: RetrievalScope, *, embedding: str | None = None) -> State:
    """Return the state of the part of the corpus that `scope` allows.

    Documents outside the scope do not enter it: a number that one may see must not depend on what one
    may not. A scope that allows nothing has a fingerprint too, and no query runs for it. `embedding` is
    the version to be named in the fingerprint; without it the active one is.
    """
    profile = active_profile().digest()
    if scope.denied:
        return State(hashlib.sha256(f"denied\n{profile}".encode()).hexdigest())
    eligible, parameters = Document.objects.eligible_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT.format(eligible=eligible), [*parameters, embedding, profile])
        value, documents, passages, *version = cursor.fetchone()
    key, name, dimensions = version
    return State(value, documents, passages, None if key is None else (key, name, dimensions))


def fingerprint(scope: RetrievalScope, *, embedding: str | None = None) -> str:
    """Return the SHA-256 of the part of the corpus that `scope` allows; see `state`."""
    return state(scope, embedding=embedding).fingerprint
