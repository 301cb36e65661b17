"""The command that says why somebody does not find a document."""

from __future__ import annotations

from typing import Any

import click
from django.contrib.auth.models import User

from corpus import explaining
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_scope import scope_options
from corpus.models import Document
from corpus.normalise import visible
from corpus.scope import RetrievalScope


@click.command()
@click.argument("wanted", metavar="ID-OR-DOI")
@click.option("--user", metavar="NAME", help="For whom. Without it for nobody in particular: no ceiling.")
@scope_options(retracted_by_default=False)
@json_option
def explain(*, wanted: str, user: str | None, requested: RetrievalScope, as_json: bool) -> None:
    """Say which rules keep a document from somebody: ID-OR-DOI is an id, a DOI or a title."""
    documents = Document.objects.all()
    person = explaining.OPERATOR if user is None else _person(user)
    found = explaining.explain(
        wanted, documents=documents, person=person, requested=requested, with_files=True
    )
    if not found:
        rule = explaining.not_held(wanted, documents=documents, knows_all=True)
        found = [explaining.Explained(wanted, (rule,))]
    if as_json:
        print_json({"wanted": wanted, "user": user, "matches": [_as_dict(one) for one in found]})
        return
    for one in found:
        key = f" ({one.document.pk})" if one.document else ""
        click.secho(visible(f"{one.title}{key}"), bold=True)
        for rule in one.rules:
            click.echo(f"  {rule.code}: {visible(rule.words)}")
        if not one.is_hidden:
            click.echo("  Nothing keeps it out: it is found when a question speaks to it.")


def _person(name: str) -> explaining.Person:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandFailed(f"There is no account called {name!r}. 'sci-rag users' makes one.")
    return explaining.of(user)


def _as_dict(one: explaining.Explained) -> dict[str, Any]:
    return {
        "document": None if one.document is None else str(one.document.pk),
        "title": one.title,
        "hidden": one.is_hidden,
        "rules": [{"code": rule.code, "words": rule.words, "hides": rule.hides} for rule in one.rules],
    }
