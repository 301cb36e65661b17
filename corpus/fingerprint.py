"""The fingerprint of a corpus: the state that a number or an answer was made from, as one hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from corpus.domain_profile import active_profile
from corpus.fingerprint_form import marked
from corpus.models import Document
from corpus.scope import RetrievalScope

# One line a document: its text, what that was cut into, its rights, its status, its work's status, what took
# its place as far as the scope allows that to be known, and how it was cut.
_STATEMENT = """
WITH eligible AS MATERIALIZED ({eligible}),
version AS (SELECT id, name, dimensions FROM corpus_embeddingversion WHERE is_active),
document AS (
    SELECT count(*) AS documents, coalesce(sum(document.chunk_count), 0) AS passages,
        string_agg(concat_ws(' ',
            document.content_sha256, document.passages_sha256, document.license_class,
            document.no_derivatives, document.status, coalesce(successor.content_sha256, '-'),
            coalesce(source.is_retracted, false), coalesce(source.has_concern, false),
            document.extra ->> 'chunking'), E'\\n' ORDER BY document.content_sha256) AS lines
    FROM corpus_document document
    JOIN eligible ON eligible.id = document.id
    LEFT JOIN corpus_source source ON source.id = document.source_id
    LEFT JOIN corpus_document successor ON successor.id = document.superseded_by_id
        AND successor.id IN (SELECT id FROM eligible)
)
SELECT encode(sha256(convert_to(
        concat_ws(E'\\n', document.lines, coalesce(%s, version.name), %s), 'UTF8'
    )), 'hex'), document.documents, document.passages, version.id, version.name, version.dimensions
FROM document LEFT JOIN version ON true
"""


# What of a passage answers depend on: its place, how it is called, and its words as they are indexed.
_SEAL = """
UPDATE corpus_document SET passages_sha256 = coalesce((
    SELECT encode(sha256(convert_to(string_agg(
        concat_ws(E'\\x1f', ordinal, locator, is_table, content), E'\\x1e' ORDER BY ordinal), 'UTF8')), 'hex')
    FROM corpus_chunk WHERE document_id = corpus_document.id), '')
WHERE id = %s RETURNING passages_sha256
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
        return State(marked(hashlib.sha256(f"denied\n{profile}".encode()).hexdigest()))
    eligible, parameters = Document.objects.eligible_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT.format(eligible=eligible), [*parameters, embedding, profile])
        value, documents, passages, *version = cursor.fetchone()
    key, name, dimensions = version
    return State(marked(value), documents, passages, None if key is None else (key, name, dimensions))


def seal_passages(document_id: UUID) -> str:
    """Keep with a document the hash of the passages it has now, in the caller's transaction; return it."""
    with connection.cursor() as cursor:
        cursor.execute(_SEAL, [document_id])
        return str(cursor.fetchone()[0])


def fingerprint(scope: RetrievalScope, *, embedding: str | None = None) -> str:
    """Return the hash of the part of the corpus that `scope` allows, with its version; see `state`."""
    return state(scope, embedding=embedding).fingerprint
