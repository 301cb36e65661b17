"""The tables of known licence forms: data beside the code, each row with the address it was read from."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from corpus.licensing.readings import LicenseReading
from corpus.rights import LicenseClass, parse_class


@dataclass(frozen=True, slots=True)
class KnownForm:
    """One row of a table: a form, what it stands for, and the public page that says so."""

    form: str
    license_class: LicenseClass
    no_derivatives: bool
    reason: str
    source: str
    covers_below: bool = False

    def reading(self) -> LicenseReading:
        """Return the reading of a signal in this form."""
        return LicenseReading(self.license_class, self.no_derivatives, self.reason, self.form)


@cache
def addresses() -> dict[str, KnownForm]:
    """Return the known addresses by host and path, in lower case, without scheme and "www."."""
    return _forms("addresses.tsv")


@cache
def names() -> dict[str, KnownForm]:
    """Return the known codes and names, in lower case."""
    return _forms("names.tsv")


@cache
def spdx_ids() -> dict[str, KnownForm]:
    """Return the known SPDX identifiers, as SPDX writes them."""
    return _forms("spdx.tsv")


@cache
def spdx_names() -> dict[str, KnownForm]:
    """Return the forms by the full name SPDX gives them, in lower case."""
    return {row["name"].lower(): _form(row) for row in _rows("spdx.tsv")}


@cache
def jurisdictions() -> dict[str, str]:
    """Return the name of each port of the Creative Commons licences, in lower case, by its code."""
    return {row["code"]: row["name"].lower() for row in _rows("cc_jurisdictions.tsv")}


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def _forms(name: str) -> dict[str, KnownForm]:
    return {row["form"]: _form(row) for row in _rows(name)}


def _form(row: dict[str, str]) -> KnownForm:
    return KnownForm(
        form=row["form"],
        license_class=parse_class(row["license_class"]),
        no_derivatives=row.get("no_derivatives") == "yes",
        reason=row["reason"],
        source=row["source"],
        covers_below=row.get("match") == "below",
    )
