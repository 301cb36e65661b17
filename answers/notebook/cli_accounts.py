"""Whose notebook a command writes in and reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import click
from django.contrib.auth.models import User

from answers.notebook import reading
from answers.notebook.models import Observation
from answers.notebook.naming import Named, NotNamed, named
from corpus.cli_output import CommandFailed

user_option = click.option(
    "--user", metavar="NAME", help="Whose notebook, and whose ceiling. The operator's own, without it."
)


def keeper(name: str | None) -> User | None:
    """Return the account that is named; nobody, who is the operator, when none is."""
    if name is None:
        return None
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise CommandFailed(f"There is no active account called {name!r}. 'sci-rag users' makes one.")
    return user


def note_of(rows: Callable[[User | None], Any], user: User | None, note: UUID) -> Observation:
    """Return the note with this id among those that `rows` gives `user`."""
    found: Observation | None = rows(user).filter(pk=note).first()
    if found is None:
        theirs = "the operator's notebook" if user is None else f"what {user.get_username()} may reach"
        raise CommandFailed(f"There is no note {note} in {theirs}. 'sci-rag note list' names them.")
    return found


def own_note(user: User | None, note: UUID) -> Observation:
    """Return a note that `user` keeps."""
    return note_of(reading.own, user, note)


def work_named(text: str, *, kind: str = "", title: str = "") -> Named:
    """Return what is named at the command line."""
    try:
        return named(text, kind=kind, title=title)
    except NotNamed as refusal:
        raise click.UsageError(str(refusal)) from None
