"""The chain over the append-only tables: every record sealed with the hash of all before it."""
