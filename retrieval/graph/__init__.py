"""The knowledge graph: entities and relationships, each standing on words of a passage."""
