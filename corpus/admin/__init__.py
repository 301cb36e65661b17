"""The librarian's screens. Importing this package registers them."""

from corpus.admin import (
    access_requests,
    accounts,
    certificates,
    decisions,
    documents,
    ingestion,
    keys,
    review,
    sources,
    webhooks,
)

__all__ = [
    "access_requests",
    "accounts",
    "certificates",
    "decisions",
    "documents",
    "ingestion",
    "keys",
    "review",
    "sources",
    "webhooks",
]
