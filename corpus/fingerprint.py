"""The fingerprint of a corpus: the state that a number or an answer was made from, as one hash."""

from __future__ import annotations

import hashlib

from django.db import connection

from corpus.domain_profile import active_profile
from corpus.models import Document
from corpus.scope import RetrievalScope

# One line a document: its text, its rights, its status, its work's status, how it was cut.
_STATEMENT = """
WITH eligible AS MATERIALIZED ({eligible})
SELECT encode(sha256(convert_to(concat_ws(E'\\n',
    (SELECT string_agg(concat_ws(' ',
            document.content_sha256, document.license_class, document.no_derivatives, document.status,
            coalesce(source.is_retracted, false), coalesce(source.has_concern, false),
            document.extra ->> 'chunking'), E'\\n' ORDER BY document.content_sha256)
        FROM corpus_document document
        JOIN eligible ON eligible.id = document.id
        LEFT JOIN corpus_source source ON source.id = document.source_id),
    coalesce(%s, (SELECT name FROM corpus_embeddingversion WHERE is_active)),
    %s), 'UTF8')), 'hex')
"""


def fingerprint(scope: RetrievalScope, *, embedding: str | None = None) -> str:
    """Return the SHA-256 of the part of the corpus that `scope` allows.

    Documents outside the scope do not enter it: a number that one may see must not depend on what one
    may not. A scope that allows nothing has a fingerprint too, and no query runs for it. `embedding` is
    the version a request is pinned to; without it the active one counts.
    """
    profile = active_profile().digest()
    if scope.denied:
        return hashlib.sha256(f"denied\n{profile}".encode()).hexdigest()
    eligible, parameters = Document.objects.eligible_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(_STATEMENT.format(eligible=eligible), [*parameters, embedding, profile])
        (value,) = cursor.fetchone()
    return str(value)
