"""Retrieval's part of the REST surface: searching, and the entities of the graph."""
