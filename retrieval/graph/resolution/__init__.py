"""Finding entities that might be one. What is found are proposals; a person decides."""
