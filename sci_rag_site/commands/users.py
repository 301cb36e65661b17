"""`sci-rag users`: accounts."""

from __future__ import annotations

import sys

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from sci_rag_site import accounts


@click.group()
def users() -> None:
    """Make accounts and put them into groups."""


@users.command()
@click.argument("name")
@click.option(
    "--group",
    "groups",
    multiple=True,
    required=True,
    help="asker, expert, librarian, administrator or your own.",
)
@click.option("--password-stdin", is_flag=True, help="Read the password instead of making one.")
@json_option
def create(*, name: str, groups: tuple[str, ...], password_stdin: bool, as_json: bool) -> None:
    """Make the account NAME. Its password is shown this once, unless it was given."""
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else ""
    if password_stdin and not password:
        raise click.UsageError("There is no password on standard input.")
    shown = {} if password_stdin else {"password": accounts.new_password()}
    try:
        user = accounts.create(name=name, groups=groups, password=password or shown["password"])
    except accounts.AccountError as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        print_json({"name": user.username, "groups": sorted(groups), **shown})
    else:
        click.echo(f"Made the account {user.username} ({', '.join(sorted(groups))}).")
        if shown:
            click.echo(f"Password: {shown['password']}")
