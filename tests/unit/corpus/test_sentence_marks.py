"""Sentences marked by offsets in a link."""

import pytest

from corpus import sentence_marks
from corpus.sentence_marks import Part
from corpus.sentences import sentence_spans

TEXT = "Straw was cut in May. Ash rose to 5.2 %. Nothing else changed over the year."
FIRST, SECOND, THIRD = sentence_spans(TEXT)


def test_what_is_written_is_read_back() -> None:
    assert sentence_marks.read(sentence_marks.write([FIRST, THIRD]), TEXT) == (FIRST, THIRD)


@pytest.mark.parametrize(
    "written",
    ["", "0-5", "3-21", "0-9999999", "21-0", "a-b", "-", "0-", "9" * 9_000, "0-0", "١-٢", "0-21\x00", "<b>"],
)
def test_only_whole_sentences_of_the_passage_are_marked(written: str) -> None:
    assert sentence_marks.read(written, TEXT) in ((), (FIRST,) if written.startswith("0-21") else ())


def test_a_sentence_named_twice_is_marked_once() -> None:
    assert sentence_marks.read(sentence_marks.write([SECOND, SECOND]), TEXT) == (SECOND,)


def test_the_parts_are_the_text() -> None:
    parts = sentence_marks.parts(TEXT, (FIRST, THIRD))

    assert "".join(part.text for part in parts) == TEXT
    assert [part for part in parts if part.is_marked] == [
        Part("Straw was cut in May.", is_marked=True),
        Part("Nothing else changed over the year.", is_marked=True),
    ]


def test_text_without_marks_is_one_part() -> None:
    assert sentence_marks.parts(TEXT, ()) == [Part(TEXT, is_marked=False)]
