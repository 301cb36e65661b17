"""What a model says of a file counts when the file says it too, and never about rights."""

import json
from typing import Any

import pytest

from corpus.parsing.blocks import ParsedDocument
from evaluation.drafting.manifest_rows import Said, read, row
from evaluation.drafting.replies import Dropped

BEGINNING = """Journal of Straw 12 (2019) 1-9
Storage losses of corn stover in the open
Zoë Müller, Ann O'Neil
https://doi.org/10.1234/STRAW.9 Received 2018. Licensed to nobody."""


def reply(**values: Any) -> str:
    good = {
        "title": "Storage losses of corn\nstover in the open",
        "authors": ["Zoe Muller", "Ann O'Neil"],
        "year": 2019,
        "doi": "10.1234/straw.9",
        "journal": "Journal of Straw",
    }
    return json.dumps(good | values)


def test_what_stands_in_the_file_is_confirmed_whatever_its_case_and_accents() -> None:
    said = read(reply(), BEGINNING)

    assert said.unconfirmed == {}
    assert said.confirmed["title"] == "Storage losses of corn stover in the open"
    assert said.confirmed["authors"] == ["Zoe Muller", "Ann O'Neil"]
    assert (said.confirmed["year"], said.confirmed["doi"]) == (2019, "10.1234/straw.9")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "Storage losses of wheat straw"),
        ("authors", ["Zoë Müller", "Bob Invented"]),
        ("year", 2020),
        ("year", 201),
        ("doi", "10.1234/straw.99"),
        ("doi", "10.9/x y"),
        ("journal", "Nature"),
        ("journal", "Straw 12 (2019) 1-99"),
    ],
)
def test_what_does_not_is_set_aside_or_left_out(field: str, value: Any) -> None:
    said = read(reply(**{field: value}), BEGINNING)

    assert field not in said.confirmed
    assert said.unconfirmed in ({}, {field: value})


def test_a_year_is_a_number_of_its_own_in_the_text() -> None:
    assert read(reply(year=2019), "pages 12019-20199").confirmed.get("year") is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no", "not_json"),
        ("[]", "wrong_form"),
        ('{"title": 7}', "wrong_form"),
        ('{"authors": "Zoe"}', "wrong_form"),
        ('{"year": "2019"}', "wrong_form"),
        ("[" * 100_000, "too_long"),
        ("{" * 5_000, "not_json"),
    ],
)
def test_anything_else_is_dropped_by_name(text: str, code: str) -> None:
    with pytest.raises(Dropped) as dropped:
        read(text, BEGINNING)
    assert dropped.value.code == code


def test_a_licence_is_never_the_models_to_say() -> None:
    said = read(
        reply(
            license_class="public",
            license="CC BY 4.0",
            license_source="I checked",
            bucket="open",
            embargo_until="",
        ),
        BEGINNING,
    )

    line = row("a.md", None, said)

    assert line["license_class"] == "unknown"
    assert set(line) == {"path", "title", "authors", "year", "doi", "journal", "license_class"}


def test_a_line_holds_what_the_file_states_where_nothing_better_is_confirmed() -> None:
    stated = ParsedDocument((), "p", "text/markdown", title="Stated", year=2001, license_statement="CC0")

    line = row("a.md", stated, Said({"title": "Confirmed"}, {"year": 1999}), note="")

    assert line == {
        "path": "a.md",
        "title": "Confirmed",
        "year": 2001,
        "license_class": "unknown",
        "unconfirmed": {"year": 1999},
    }


def test_hidden_characters_do_not_come_through() -> None:
    said = read(reply(title="Storage\u202e losses of corn stover in the open"), BEGINNING)

    assert "\u202e" not in json.dumps(said.confirmed, ensure_ascii=False)
