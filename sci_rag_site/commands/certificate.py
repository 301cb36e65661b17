"""`sci-rag rights certificate`: look everywhere, as a member of a role, for what the role may not see."""

from __future__ import annotations

import sys
from typing import Any

import click

from corpus.actions import certificates
from corpus.certificates import Certificate
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_rights import rights
from sci_rag_site import certificate as checks


@rights.command("certificate")
@click.option("--role", required=True, metavar="NAME", help="The role whose members' view is checked.")
@json_option
def certificate(*, role: str, as_json: bool) -> None:
    """Check that no layer, page, export or count lets through what a role may not see; keep the result.

    The words that are looked for are those of documents the role may not see. Exit code 1 when one showed.
    """
    try:
        asked = certificates.ask(role=checks.role_named(role), by=None)
    except checks.NoSuchRole as error:
        raise CommandFailed(str(error)) from None
    begun = certificates.begin(key=asked.pk)
    if begun is None:
        raise CommandFailed("A worker is at it already: see the list of certificates in the admin.")
    done = checks.certify(begun)
    if as_json:
        print_json(as_dict(done))
    else:
        for row in done.surfaces:
            verdict = "passed" if row["passed"] else f"FAILED: {len(row['leaked'])} documents, {row['wrong']}"
            click.echo(f"{row['surface']:24}{row['asked']:>6} asked  {verdict}")
        click.echo(
            f"{done.role}: {done.state}, {done.canaries} of {done.hidden} hidden documents looked for "
            f"in {done.seconds:.1f} s."
        )
    if done.state != Certificate.State.PASSED:
        sys.exit(1)


def as_dict(row: Certificate) -> dict[str, Any]:
    """Return a certificate as JSON values."""
    return {
        "certificate": row.pk,
        "role": row.role,
        "license_classes": row.license_classes,
        "buckets": row.buckets,
        "state": row.state,
        "surfaces": row.surfaces,
        "canaries": row.canaries,
        "hidden": row.hidden,
        "fingerprint": row.fingerprint,
        "by": row.asked_by_name,
        "asked_at": row.asked_at,
        "seconds": row.seconds,
    }


__all__ = ["rights"]
