"""`sci-rag demo`: from nothing to a cited answer and a running site."""

from __future__ import annotations

import textwrap
from time import monotonic

import click
from django.contrib.auth.models import User
from django.urls import reverse

from answers.models import Answer
from corpus.cli_output import CommandFailed
from corpus.cli_progress import TerminalProgress
from sci_rag_site.commands import demo_corpus, preparation, serving

DEFAULT_PORT = 8000


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help=f"Port to listen on.  [default: {DEFAULT_PORT}]")
@click.option("--no-serve", is_flag=True, help="Answer and end, without serving the site.")
def demo(*, port: int | None, no_serve: bool) -> None:
    """Set everything up, load the demo corpus, answer a question, and serve the site.

    Running it again takes in only what is missing.
    """
    started = monotonic()
    if applied := preparation.migrate():
        click.echo(f"Set the database up ({monotonic() - started:.1f} s, {applied} migrations).")
    try:
        with TerminalProgress() as progress:
            loaded = demo_corpus.load(progress)
        read = demo_corpus.read_graph()
        communities = demo_corpus.build_communities()
        questions = demo_corpus.load_questions()
        passwords = demo_corpus.ensure_accounts()
    except demo_corpus.DemoIncomplete as error:
        raise CommandFailed(f"The demo corpus is not complete: {error}") from None
    click.echo(f"The demo corpus holds {loaded.documents} documents, {loaded.new} of them new.")
    if read:
        click.echo(f"Read {read} of its passages into the knowledge graph.")
    if communities:
        click.echo(f"Grouped the graph into {communities} communities, for each scope that has a name.")
    if questions:
        click.echo(f"Took {questions} questions with known evidence in: drafts until an expert signs them.")
    answer = _ask(demo_corpus.question())
    _show(answer)
    click.echo(f"Ready after {monotonic() - started:.1f} s.")
    if not no_serve:
        _serve(port, answer, passwords)


def _ask(question: str) -> Answer:
    from answers import engine
    from corpus.scope import scope

    asker = User.objects.get(username="demo-asker")
    return engine.answer(question=question, requested=scope(exclude_retracted=True), by=asker)


def _show(answer: Answer) -> None:
    click.echo()
    click.secho(f"Question: {answer.question}", bold=True)
    click.echo(_wrapped(answer.text))
    click.echo()
    for source in answer.sources.filter(is_cited=True).order_by("number"):
        place = ", ".join(part for part in (source.locator, source.license_class) if part)
        click.echo(f"  [{source.number}] {source.citation or source.title} ({place})")
    click.echo()


def _wrapped(text: str) -> str:
    """Return the text in lines of readable length; tables and lists keep theirs."""
    lines = (textwrap.fill(line, width=100) if line[:1] not in "|-*" else line for line in text.splitlines())
    return "\n".join(lines)


def _serve(port: int | None, answer: Answer, passwords: dict[str, str]) -> None:
    # Without a port asked for, the next free one will do.
    bound = serving.listen("127.0.0.1", port or DEFAULT_PORT, others=0 if port else 20)

    def announce() -> None:
        site = serving.address(bound)
        click.echo(f"The site is at {site} (Ctrl-C stops it).")
        click.echo(f"This answer: {site}{reverse('answer', args=[answer.pk])[1:]}")
        click.echo(f"Sign in with one of these accounts, kept in {demo_corpus.passwords_file()}:")
        for name, password in passwords.items():
            click.echo(f"  {name:16} {password}")

    serving.serve(bound, announce=announce)
