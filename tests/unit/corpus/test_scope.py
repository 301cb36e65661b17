"""A scope takes names and identifiers that can be, and refuses the others."""

from __future__ import annotations

import pytest

from corpus.identifiers import normalise_doi
from corpus.scope import InvalidScope, scope


@pytest.mark.parametrize("field", ["buckets", "authors", "journals"])
@pytest.mark.parametrize("name", ["a\0b", "\ud800", "caf\udce9"])
def test_a_name_that_no_text_column_holds_is_refused(field: str, name: str) -> None:
    with pytest.raises(InvalidScope, match="zero byte or broken Unicode") as refusal:
        scope(**{field: ["fine", name]})

    # The message goes to terminals and pages, which take no broken text either.
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("name", ["", "%", "Łódź", "א\u202eב", "o'hara; --", "\U0001f33d"])
def test_any_other_name_is_looked_for_as_it_is(name: str) -> None:
    assert scope(buckets=[name]).buckets == (name,)


@pytest.mark.parametrize(
    "doi", ["10.1234/a%00b", "10.1234/a\0b", "10.1234/\ud800", "10.1234/%1b[31m", "10.١٢٣٤/abc", "10.1234/"]
)
def test_what_only_looks_like_a_doi_is_none(doi: str) -> None:
    assert normalise_doi(doi) is None
    with pytest.raises(InvalidScope):
        scope(exclude_dois=[doi])
