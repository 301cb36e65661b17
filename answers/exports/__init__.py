"""Stored answers as other programs read them. Everything starts from what the reader may see today."""
