"""The scientific search form of text: the same normaliser for what is stored and what is asked."""

from __future__ import annotations

import unicodedata

from django.contrib.postgres.search import SearchVectorField
from django.db.models import F, Func

# PostgreSQL text search configurations by language code; others use `simple`.
CONFIGURATIONS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip


def configuration(language: str) -> str:
    """Return the name of the text search configuration for a language code."""
    return CONFIGURATIONS.get(language, "simple")


def search_form(text: str) -> str:
    """Return `text` as it is indexed and asked for."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _weighted(configuration_name: str) -> str:
    return (
        f"setweight(to_tsvector('{configuration_name}', search_heading), 'A')"
        f" || setweight(to_tsvector('{configuration_name}', search_body), 'D')"
    )


# A generated column needs immutable functions, hence the configuration's name as a constant per branch.
_BRANCHES = " ".join(f"WHEN '{code}' THEN {_weighted(name)}" for code, name in CONFIGURATIONS.items())
TSVECTOR_EXPRESSION = Func(
    F("language"),
    template=f"CASE %(expressions)s {_BRANCHES} ELSE {_weighted('simple')} END",
    output_field=SearchVectorField(),
)
