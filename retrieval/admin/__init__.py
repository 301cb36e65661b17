"""The librarian's screens of the knowledge graph. Importing this package registers them."""

from retrieval.admin import audits, entities, proposals

__all__ = ["audits", "entities", "proposals"]
