"""The tables of known forms: each row has its source, and no form that opens is wider than it says."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from corpus.licensing import creative_commons, normalise, tables
from corpus.licensing.readings import OPEN
from corpus.licensing.tables import KnownForm


def _rows() -> Iterable[KnownForm]:
    yield from tables.addresses().values()
    yield from tables.names().values()
    yield from tables.spdx_ids().values()


def test_every_row_names_the_public_address_it_was_read_from() -> None:
    assert all(urlsplit(row.source).scheme == "https" and urlsplit(row.source).hostname for row in _rows())
    assert all(row.reason for row in _rows())


def test_an_address_in_the_table_is_read_by_the_table() -> None:
    for form, row in tables.addresses().items():
        assert normalise(f"https://www.{form}").license_class is row.license_class, form


def test_a_row_that_covers_pages_below_it_never_gives_more_than_noncommercial_use() -> None:
    wide = [row for row in tables.addresses().values() if row.covers_below and row.license_class in OPEN]
    assert {row.license_class.value for row in wide} <= {"open_noncommercial"}


def test_a_name_in_the_table_is_not_also_a_code_of_another_class() -> None:
    for form, row in tables.names().items():
        coded = creative_commons.from_code(form)
        assert coded is None or coded.license_class is row.license_class, form


def test_an_identifier_that_is_a_name_of_something_else_says_nothing_alone() -> None:
    assert not normalise("Nokia").is_known
    assert normalise("Nokia Open Source License").is_known
