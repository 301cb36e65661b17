"""Answers' part of the REST surface: asking for an answer, whole or as it is written, and notes."""
