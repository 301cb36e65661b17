"""The commands for question sets: `eval import`, `eval export`, `eval questions`."""

from __future__ import annotations

from pathlib import Path

import click

from corpus.cli_output import CommandFailed, json_option, print_json
from corpus.scope import RetrievalScope
from evaluation.actions import importing
from evaluation.actions.questions import QuestionError, Writing, add_set
from evaluation.ground_truth.models import QuestionSet
from evaluation.ground_truth.queries import asked, seed_of
from evaluation.questions import Form, QuestionFileError, read_questions, write_questions


def found_set(name: str) -> QuestionSet:
    """Return the set of that name, or end the command naming those there are."""
    found = QuestionSet.objects.filter(name=name).first()
    if found is None:
        names = list(QuestionSet.objects.order_by("name").values_list("name", flat=True))
        there = f"There are: {', '.join(names)}." if names else "Make one with 'sci-rag eval import'."
        raise CommandFailed(f"There is no question set called {name}. {there}")
    return found


@click.command("import")
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--trust-signatures", is_flag=True, help="Count signatures that the file states; the log says so."
)
@json_option
def import_questions(*, name: str, path: Path, trust_signatures: bool, as_json: bool) -> None:
    """Take the questions of PATH (JSONL or YAML) into the set NAME, which is made if need be.

    Questions come in as drafts. Those that differ are changed, which withdraws their signature and takes
    retired ones up again; those the file does not name stay. With a mistake nothing is taken in.
    """
    try:
        seeds = read_questions(path)
        question_set = QuestionSet.objects.filter(name=name).first() or add_set(name=name, by=None)
        taken = importing.import_questions(
            question_set=question_set,
            seeds=seeds,
            writing=Writing(RetrievalScope(), must_be_found=False),
            origin=path.name,
            trusts_signatures=trust_signatures,
            by=None,
        )
    except QuestionFileError as error:
        raise CommandFailed("\n".join([f"{path.name}:", *map(str, error.problems)])) from None
    except QuestionError as error:
        raise CommandFailed(str(error)) from None
    if as_json:
        missing = [{"question": key, "evidence": evidence} for key, evidence in taken.missing]
        counts = {what: getattr(taken, what) for what in ("added", "changed", "unchanged", "signed")}
        print_json({"question_set": name, **counts, "missing": missing})
        return
    click.echo(f"{name}: {taken.added} added, {taken.changed} changed, {taken.unchanged} as they were.")
    if trust_signatures:
        click.echo(f"{taken.signed} signatures taken over on your word.")
    for key, evidence in taken.missing:
        click.echo(f"{key}: no document holds “{evidence}”.")


@click.command("export")
@click.argument("name")
@click.option("--form", type=click.Choice([form.value for form in Form]), default="jsonl", show_default=True)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file.")
def export_questions(*, name: str, form: str, out: Path | None) -> None:
    """Write the questions of the set NAME as `eval import` reads them."""
    text = write_questions(map(seed_of, asked(found_set(name))), form=Form(form))
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


@click.command("questions")
@click.argument("name", required=False)
@json_option
def list_questions(*, name: str | None, as_json: bool) -> None:
    """Say which sets there are, or which questions the set NAME holds."""
    if name is None:
        sets = [(row, list(asked(row))) for row in QuestionSet.objects.order_by("name", "pk")]
        rows = [
            {"set": row.name, "questions": len(held), "drafted": sum(one.drafted for one in held)}
            for row, held in sets
        ]
        lines = [
            f"{row['set']}: {row['questions']} questions, {row['drafted']} of them drafts" for row in rows
        ]
    else:
        rows = [
            {
                "key": one.key,
                "question": one.question,
                "drafted": one.drafted,
                "signed_by": one.signed_by_name,
            }
            for one in asked(found_set(name))
        ]
        lines = [f"{row['key']}: {row['question']} ({row['signed_by'] or 'draft'})" for row in rows]
    if as_json:
        print_json({"sets" if name is None else "questions": rows})
    else:
        click.echo("\n".join(lines) or "There are no question sets. Make one with 'sci-rag eval import'.")
