"""Measures of rankings and of agreement, and what differences are worth. Pure."""
