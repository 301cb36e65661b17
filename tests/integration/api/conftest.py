"""The corpus that the tests of answers ask."""

from tests.integration.answers.conftest import small_corpus, straw

__all__ = ["small_corpus", "straw"]
