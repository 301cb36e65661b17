"""Backups: one file that holds the database and the originals, and proof that it can be restored."""
