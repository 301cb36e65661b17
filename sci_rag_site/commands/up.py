"""`sci-rag up`: the site and its worker."""

from __future__ import annotations

import click

from sci_rag_site.commands import preparation, serving


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on."
)
def up(*, host: str, port: int) -> None:
    """Run the site and its worker until Ctrl-C."""
    bound = serving.listen(host, port)
    with bound:
        if applied := preparation.migrate():
            click.echo(f"Brought the database up to date: {applied} migrations.")
        serving.serve(
            bound, announce=lambda: click.echo(f"The site is at {serving.address(bound)} (Ctrl-C stops it)")
        )
    click.echo("Stopped.")
