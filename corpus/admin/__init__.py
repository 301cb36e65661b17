"""The librarian's screens. Importing this package registers them."""

from corpus.admin import accounts, decisions, documents, ingestion, review, sources

__all__ = ["accounts", "decisions", "documents", "ingestion", "review", "sources"]
