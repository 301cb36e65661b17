"""The librarian's screens. Importing this package registers them."""

from corpus.admin import (
    access_requests,
    accounts,
    backups,
    campaigns,
    certificates,
    decisions,
    documents,
    group_mappings,
    ingestion,
    keys,
    review,
    sources,
    webhooks,
)

__all__ = [
    "access_requests",
    "accounts",
    "backups",
    "campaigns",
    "certificates",
    "decisions",
    "documents",
    "group_mappings",
    "ingestion",
    "keys",
    "review",
    "sources",
    "webhooks",
]
