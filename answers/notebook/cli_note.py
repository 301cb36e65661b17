"""The commands of the notebook."""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import UUID

import click
from django.contrib.auth.models import User

from answers.models import Answer
from answers.notebook import actions, exports, legacy_import, reading, saving
from answers.notebook.actions import Words
from answers.notebook.cli_accounts import keeper, note_of, own_note, user_option, work_named
from answers.notebook.legacy import UnreadableBase
from answers.notebook.models import LONGEST_TEXT, LONGEST_TITLE, Observation, ObservationSource
from answers.notebook.reading import ShownNote, ShownSource
from answers.reading import readable
from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.cli_progress import bar_with_time_left
from corpus.normalise import visible

Relationship = ObservationSource.Relationship
_KIND = click.Choice([str(kind) for kind in Observation.Kind.values])
_SHOWN = 70


@click.group()
def note() -> None:
    """Keep notes with the sources behind them."""


@note.command()
@click.argument("text")
@click.option("--kind", type=_KIND, default="finding", show_default=True, help="What kind of note it is.")
@click.option("--title", default="", help="A title, where the first words are not to stand for it.")
@click.option("--cite", "cited", metavar="WORK", multiple=True, help="A work it cites. Repeatable.")
@click.option("--from-answer", type=UUID, help="Link what was retrieved for the answer with this id.")
@click.option("--share", is_flag=True, help="Let everyone who signs in read it.")
@user_option
@json_option
def add(
    *,
    text: str,
    kind: str,
    title: str,
    cited: tuple[str, ...],
    from_answer: UUID | None,
    share: bool,
    user: str | None,
    as_json: bool,
) -> None:
    """Keep TEXT as a note; `-` reads it from the input.

    WORK is a DOI, an arXiv number, an ISBN, a PubMed number, an address or a title.
    """
    by = keeper(user)
    words = Words(_text(text), kind, _title(title), share)
    works = [work_named(work) for work in cited]
    answer, met = (None, []) if from_answer is None else _retrieved(from_answer, by)
    try:
        kept = actions.add(words=words, by=by, answer=answer, met=met, named=works)
    except actions.TooManySources as refusal:
        raise CommandFailed(str(refusal)) from None
    _report(reading.shown([kept], by)[0], as_json=as_json)


def _text(given: str) -> str:
    text = visible(sys.stdin.read(LONGEST_TEXT + 1) if given == "-" else given).strip()
    if not text:
        raise click.UsageError("A note says something: TEXT is empty.")
    if len(text) > LONGEST_TEXT:
        raise click.UsageError(f"A note may have {LONGEST_TEXT:,} characters.")
    return text


def _title(given: str) -> str:
    title = " ".join(visible(given).split())
    if len(title) > LONGEST_TITLE:
        raise click.UsageError(f"A title may have {LONGEST_TITLE} characters; this one has {len(title):,}.")
    return title


def _retrieved(answer_id: UUID, by: User | None) -> tuple[Answer, list[actions.Met]]:
    """Return an answer of one's own and the works that were retrieved for it."""
    answer = Answer.objects.filter(pk=answer_id, asked_by=by).first()
    if answer is None:
        raise CommandFailed(f"There is no answer {answer_id} of yours. Say with --user whose it is.")
    if by is None:
        return answer, saving.met_for_the_operator(answer)
    shown = readable(answer, by)
    return answer, [work.met for work in saving.works(shown)] if shown is not None else []


@note.command()
@click.argument("note_id", metavar="NOTE", type=UUID)
@click.argument("works", metavar="WORK...", nargs=-1, required=True)
@click.option(
    "--relationship",
    type=click.Choice([Relationship.CITED.value, Relationship.INFERRED.value]),
    default=Relationship.CITED.value,
    show_default=True,
    help="How the note relates to them.",
)
@user_option
@json_option
def cite(
    *, note_id: UUID, works: tuple[str, ...], relationship: str, user: str | None, as_json: bool
) -> None:
    """Link works to NOTE: each WORK is a DOI, an arXiv number, an ISBN, an address or a title."""
    by = keeper(user)
    kept = own_note(by, note_id)
    try:
        actions.cite(note=kept, named=[work_named(work) for work in works], by=by, relationship=relationship)
    except actions.TooManySources as refusal:
        raise CommandFailed(str(refusal)) from None
    _report(reading.shown([kept], by)[0], as_json=as_json)


@note.command()
@click.argument("note_id", metavar="NOTE", type=UUID)
@user_option
@json_option
def show(*, note_id: UUID, user: str | None, as_json: bool) -> None:
    """Show a note with its numbered sources, and what is to be known of them."""
    by = keeper(user)
    _report(reading.shown([note_of(reading.readable_by, by, note_id)], by)[0], as_json=as_json)


@note.command("list")
@click.option("--search", "text", default="", help="Only notes that hold these words.")
@click.option("--kind", type=_KIND, help="Only notes of this kind.")
@click.option("--mine", is_flag=True, help="Without what others share.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Notes at most.")
@user_option
@json_option
def list_notes(
    *, text: str, kind: str | None, mine: bool, limit: int, user: str | None, as_json: bool
) -> None:
    """List one's own notes and what others share, the last changed first."""
    by = keeper(user)
    rows = reading.found(by, text=text.strip(), kind=kind or "", whose=reading.MINE if mine else "")
    total, notes = rows.count(), reading.shown(rows[:limit], by)
    if as_json:
        print_json({"total": total, "notes": [exports.as_dict(shown) for shown in notes]})
        return
    for shown in notes:
        warned = "  NOT TO BE RELIED ON" if shown.warned else ""
        title = visible(shown.title).replace("\n", " ")[:_SHOWN]
        count = len(shown.sources)
        facts = (
            f"{shown.note.changed_at:%Y-%m-%d}\t{shown.note.kind}\t{count} source{'' if count == 1 else 's'}"
        )
        click.echo(f"{shown.note.pk}\t{facts}\t{title}{warned}")
    more = f", {total - len(notes):,} more than shown" if total > len(notes) else ""
    click.echo(f"{total:,} notes{more}.")


@note.command()
@click.argument("note_id", metavar="NOTE", type=UUID)
@click.option("--yes", is_flag=True, help="Do not ask.")
@user_option
@json_option
def delete(*, note_id: UUID, yes: bool, user: str | None, as_json: bool) -> None:
    """Delete a note with its links. The works stay."""
    by = keeper(user)
    kept = own_note(by, note_id)
    if not yes:
        click.confirm(f"Delete the note {str(kept)[:_SHOWN]!r}?", abort=True, err=True)
    count = actions.delete(note=kept, by=by)
    if as_json:
        print_json({"note": note_id, "links": count})
    else:
        click.echo(f"Deleted, with {count:,} links.")


@note.command("import-legacy")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--table", default="", help="The table to read, where more than one has a source_doi column.")
@click.option("--text-column", default="", help="The column that holds the words of a note.")
@click.option("--kind", type=_KIND, default="finding", show_default=True, help="What kind the notes become.")
@click.option("--share", is_flag=True, help="Let everyone who signs in read them.")
@click.option("--dry-run", is_flag=True, help="Say what would be imported; write nothing.")
@user_option
@json_option
def import_legacy(
    *,
    file: Path,
    table: str,
    text_column: str,
    kind: str,
    share: bool,
    dry_run: bool,
    user: str | None,
    as_json: bool,
) -> None:
    """Import the notes of a SQLite knowledge base that names a source by DOI in a `source_doi` column.

    Importing the same file again changes nothing. The exit code is 1 when a row could not be imported.
    """
    by = keeper(user)
    bar = bar_with_time_left()
    task = bar.add_task("Importing", total=None)
    try:
        with bar:
            report = legacy_import.import_file(
                file,
                table=table,
                text_column=text_column,
                kind=kind,
                share=share,
                by=by,
                dry_run=dry_run,
                watch=lambda done, total: bar.update(task, completed=done, total=total),
            )
    except UnreadableBase as error:
        raise CommandFailed(f"{file}: {error}") from None
    if as_json:
        print_json({"dry_run": dry_run, **report.as_dict()})
    else:
        verb = "would be imported" if dry_run else "imported"
        click.echo(
            f"Table {visible(report.table)}, words from {visible(report.text_column)}: {report.rows:,} rows, "
            f"{report.imported:,} {verb}, {report.known:,} known already, {report.works:,} with a DOI."
        )
        for reason, count in sorted(report.left_out.items()):
            click.echo(f"{count:,} {legacy_import.REASONS[reason]}", err=True)
    if report.lost:
        sys.exit(1)


def _report(shown: ShownNote, *, as_json: bool) -> None:
    if as_json:
        print_json(exports.as_dict(shown))
        return
    click.secho(visible(shown.title).replace("\n", " "), bold=True)
    shared = ", shared" if shown.note.is_shared else ""
    click.echo(f"{shown.note.pk} · {shown.note.kind}{shared} · {shown.note.changed_at:%Y-%m-%d}")
    if shown.warned:
        numbers = ", ".join(f"[{source.number}]" for source in shown.warned)
        click.secho(f"Not to be relied on any more: {numbers}.", fg="red", bold=True)
    click.echo(visible(shown.note.text))
    for source in shown.sources:
        click.echo(f"  [{source.number}] {source.relationship_label}: {described(source)}")


def described(source: ShownSource) -> str:
    """Return one line about a source: what it is called, its identifier and its standing."""
    if not source.available:
        return "not available to this account"
    known = f"{source.kind_label} {source.value}" if source.identifier else ""
    status = ", ".join(badge.upper() for badge in source.badges)
    withdrawn = "the document was deleted" if source.withdrawn else ""
    facts = [source.title, str(source.year or ""), known, status, withdrawn]
    return visible(" · ".join(fact for fact in facts if fact)).replace("\n", " ")
