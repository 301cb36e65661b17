"""`sci-rag keys`: keys by which programs use the corpus."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import click
from django.contrib.auth.models import User
from django.utils import timezone

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.days import InvalidDay, last_day_of
from corpus.keys import actions
from corpus.keys.actions import KeyActionRefused, Wanted
from corpus.keys.models import MOST_REQUESTS_PER_MINUTE, ApiKey
from corpus.keys.permissions import ALL_PERMISSIONS, parse_permission
from corpus.normalise import visible
from corpus.rights import ALL_CLASSES, UnknownLicenseClass, parse_class
from corpus.scope import Ceiling


@click.group()
def keys() -> None:
    """Make, list and revoke the keys by which programs use the corpus."""


@keys.command()
@click.argument("name")
@click.option("--owner", metavar="ACCOUNT", required=True, help="Whom it acts for, and never beyond.")
@click.option(
    "--permission",
    "permissions",
    multiple=True,
    type=click.Choice([str(item) for item in ALL_PERMISSIONS]),
    help="What it may do. Repeatable; without any, nothing.",
)
@click.option("--license", "classes", metavar="CLASSES", help="Classes it may see, with commas.  [all]")
@click.option("--bucket", "buckets", multiple=True, help="A bucket it may see. Repeatable.  [all]")
@click.option(
    "--per-minute",
    default=60,
    show_default=True,
    type=click.IntRange(1, MOST_REQUESTS_PER_MINUTE),
    help="How often it may be used.",
)
@click.option("--valid-through", metavar="DAY", help="The last day it counts: 2027-06-30, or 2027.")
@json_option
def create(
    *,
    name: str,
    owner: str,
    permissions: tuple[str, ...],
    classes: str | None,
    buckets: tuple[str, ...],
    per_minute: int,
    valid_through: str | None,
    as_json: bool,
) -> None:
    """Make a key called NAME. Its secret is shown this once; what is kept cannot be turned back into it."""
    wanted = Wanted(
        name=name,
        permissions=[parse_permission(item) for item in permissions],
        ceiling=Ceiling(_classes(classes), tuple(buckets) if buckets else None),
        requests_per_minute=per_minute,
        expires_at=_end_of(valid_through),
    )
    try:
        made = actions.create(owner=_account(owner), wanted=wanted, by=None)
    except KeyActionRefused as refusal:
        raise CommandFailed(str(refusal)) from None
    if as_json:
        print_json(_as_dict(made.key) | {"secret": made.secret.reveal()})
        return
    click.echo(f"Made the key {made.key.pk} for {owner}.", err=True)
    click.echo("Copy the secret now: it is shown this once.", err=True)
    click.echo(made.secret.reveal())


@keys.command("list")
@click.option("--owner", metavar="ACCOUNT", help="Only keys of this account.")
@json_option
def list_keys(*, owner: str | None, as_json: bool) -> None:
    """List every key: whose it is, what it allows, when it was last used."""
    rows = ApiKey.objects.select_related("owner").order_by("-created_at", "id")
    found = [_as_dict(row) for row in (rows if owner is None else rows.filter(owner=_account(owner)))]
    if as_json:
        print_json({"keys": found})
        return
    if not found:
        click.echo("There are no keys. 'sci-rag keys create' makes one.")
    for one in found:
        used = f"last used {one['last_used_at']:%Y-%m-%d}" if one["last_used_at"] else "never used"
        click.echo(
            f"{one['id']}  {one['prefix']}  {one['owner']}  {one['state']}, {used}  {visible(one['name'])}"
        )
        seen = ", ".join(one["license_classes"]) or "nothing"
        buckets = "all buckets" if one["buckets"] is None else ", ".join(map(visible, one["buckets"]))
        click.echo(f"    may {', '.join(one['permissions']) or 'nothing'}; sees {seen} in {buckets}")


@keys.command()
@click.argument("key", metavar="KEY")
@json_option
def revoke(*, key: str, as_json: bool) -> None:
    """End KEY, named by its id or its prefix, from the next request on. It cannot be taken back."""
    row = _key(key)
    ended = actions.revoke(key=row, by=None)
    if as_json:
        print_json({"id": row.pk, "revoked": ended})
    else:
        click.echo(f"Revoked: {row.pk}" if ended else f"Was revoked already: {row.pk}")


def _key(named: str) -> ApiKey:
    try:
        found = list(ApiKey.objects.filter(pk=UUID(named)))
    except ValueError:
        found = list(ApiKey.objects.filter(prefix=visible(named)[:20]).order_by("created_at", "id"))
    if not found:
        raise CommandFailed(f"There is no key {named[:60]!a}. 'sci-rag keys list' names them.")
    if len(found) > 1:
        ids = ", ".join(str(row.pk) for row in found)
        raise CommandFailed(f"More than one key has this prefix. Give the id of one: {ids}.")
    return found[0]


def _account(name: str) -> User:
    user = User.objects.filter(username=visible(name), is_active=True).first()
    if user is None:
        raise CommandFailed(f"There is no active account called {name!a}. 'sci-rag users' makes one.")
    return user


def _classes(given: str | None) -> tuple[Any, ...]:
    if given is None:
        return ALL_CLASSES
    try:
        named = {parse_class(part.strip()) for part in given.split(",") if part.strip()}
    except UnknownLicenseClass as error:
        raise click.UsageError(str(error)) from None
    return tuple(item for item in ALL_CLASSES if item in named)


def _end_of(day: str | None) -> datetime | None:
    try:
        return actions.end_of(None if day is None else last_day_of(day))
    except InvalidDay as error:
        raise click.UsageError(str(error)) from None


def _as_dict(row: ApiKey) -> dict[str, Any]:
    return {
        "id": row.pk,
        "name": row.name,
        "prefix": row.prefix,
        "owner": row.owner.get_username(),
        "permissions": row.permissions,
        "license_classes": row.license_classes,
        "buckets": None if row.all_buckets else row.buckets,
        "requests_per_minute": row.requests_per_minute,
        "state": _state(row),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
    }


def _state(row: ApiKey) -> str:
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at is not None and row.expires_at <= timezone.now() else "active"
