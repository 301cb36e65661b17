"""`sci-rag init`: a settings file to fill in."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import click
from django.conf import settings

from corpus.cli_output import CommandFailed


@click.command()
@click.option(
    "--production", is_flag=True, help="Make a SECRET_KEY, which a site with a database of its own needs."
)
def init(*, production: bool) -> None:
    """Write .env with every setting explained. An existing one is left alone."""
    base = Path(settings.BASE_DIR)
    text = (base / ".env.example").read_text()
    if production:
        text = text.replace("#SECRET_KEY=", f"SECRET_KEY={secrets.token_urlsafe(64)}", 1)
    target = base / ".env"
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise CommandFailed(f"{target} exists already and is left as it is.") from None
    except OSError as error:
        raise CommandFailed(f"{target} could not be written: {error.strerror}.") from None
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    click.echo(f"Wrote {target}. Every line in it is optional; docs/operating.md, section 4, explains them.")
