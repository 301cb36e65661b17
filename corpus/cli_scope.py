"""The options by which a command line says what may be seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from uuid import UUID

import click

from corpus.rights import UnknownLicenseClass
from corpus.scope import InvalidScope, RetrievalScope, scope

Command = TypeVar("Command", bound=Callable[..., Any])


def scope_options(*, retracted_by_default: bool, with_as_of: bool = False) -> Callable[[Command], Command]:
    """Add the scope options; the command gets them as one argument, `requested`.

    An option that is not given does not restrict; one that is given empty (`--license ""`) allows nothing.
    `with_as_of` is for commands that rank: a day leaves nothing out, it says which version comes first.
    """
    options = [
        click.option("--license", "license_classes", metavar="CLASSES", help="Licence classes, with commas."),
        click.option("--bucket", "--source", "buckets", multiple=True, help="Only this bucket. Repeatable."),
        click.option("--year-min", type=click.IntRange(0, 9999), help="First year of publication."),
        click.option("--year-max", type=click.IntRange(0, 9999), help="Last year of publication."),
        click.option("--author", "authors", multiple=True, help="Only works by this author. Repeatable."),
        click.option("--journal", "journals", multiple=True, help="Only this journal. Repeatable."),
        click.option("--exclude-doi", "exclude_dois", multiple=True, help="Not this work. Repeatable."),
        click.option(
            "--exclude-document", "exclude_document_ids", multiple=True, type=UUID,
            help="Not the document with this id. Repeatable.",
        ),
        click.option(
            "--include-retracted/--exclude-retracted", default=retracted_by_default, show_default=True,
            help="Whether retracted works may be found.",
        ),
    ]  # fmt: skip
    if with_as_of:
        options.append(
            click.option("--as-of", metavar="DAY", help="Prefer versions in force then: 2019 or 2019-05-31.")
        )

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_scope(**arguments: Any) -> Any:
            return command(requested=_scope(arguments), **arguments)

        decorated: Any = with_scope
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def _scope(arguments: dict[str, Any]) -> RetrievalScope:
    """Take the scope options out of `arguments` and build the scope they mean."""
    licenses: str | None = arguments.pop("license_classes")
    try:
        return scope(
            license_classes=None if licenses is None else _named(licenses.split(",")),
            buckets=_given(arguments.pop("buckets")),
            authors=_given(arguments.pop("authors")),
            journals=_given(arguments.pop("journals")),
            year_min=arguments.pop("year_min"),
            year_max=arguments.pop("year_max"),
            exclude_document_ids=[str(key) for key in arguments.pop("exclude_document_ids")],
            exclude_dois=arguments.pop("exclude_dois"),
            exclude_retracted=not arguments.pop("include_retracted"),
            as_of=arguments.pop("as_of", None),
        )
    except (UnknownLicenseClass, InvalidScope) as error:
        raise click.UsageError(str(error)) from None


def _named(values: list[str] | tuple[str, ...]) -> list[str]:
    return [value.strip() for value in values if value.strip()]


def _given(values: tuple[str, ...]) -> list[str] | None:
    return _named(values) if values else None
