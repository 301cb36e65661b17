"""The command: grouped help at once, one readable line when something fails."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from time import perf_counter

import click
import pytest
from click.testing import CliRunner, Result
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, ProgrammingError

from sci_rag_site import cli
from sci_rag_site.embedded_postgres import EmbeddedPostgresError

HEAVY = ("litellm", "docling", "torch", "onnxruntime", "lxml", "nupunkt", "tokenizers", "pypdfium2", "numpy")


def imported_by(code: str) -> set[str]:
    """Return the top-level packages a fresh interpreter has loaded after `code`."""
    report = "import json, sys; print(json.dumps(list({name.partition('.')[0] for name in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_help_loads_neither_django_nor_anything_heavy() -> None:
    loaded = imported_by(
        "from sci_rag_site.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit as end: assert end.code == 0"
    )

    assert not loaded & {*HEAVY, "django", "celery", "uvicorn", "psycopg"}


def test_django_starts_without_models_parsers_and_numbers() -> None:
    loaded = imported_by(
        "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup()"
    )

    assert not loaded & (set(HEAVY) - {"numpy"})


def test_the_package_itself_is_empty() -> None:
    assert not imported_by("import sci_rag_site") & {"django", "celery", "structlog"}


def test_help_takes_less_than_half_a_second() -> None:
    took = []
    for _ in range(3):
        started = perf_counter()
        subprocess.run([sys.executable, "-m", "sci_rag_site", "--help"], capture_output=True, check=True)
        took.append(perf_counter() - started)

    assert min(took) < 0.5


def test_help_lists_every_command_under_its_group() -> None:
    shown = CliRunner().invoke(cli.main, ["--help"]).output

    places = [shown.index(f"\n{group}:") for group in cli.GROUPS]
    assert places == sorted(places)
    for name, (_, text) in cli.COMMANDS.items():
        assert f"  {name} " in shown
        assert text in shown


@pytest.mark.parametrize("name", [*cli.COMMANDS, *cli.ALIASES])
def test_every_listed_command_exists_and_says_what_it_does(name: str) -> None:
    module, attribute = cli.COMMANDS[cli.ALIASES.get(name, name)][0].split(":")
    assert isinstance(getattr(import_module(module), attribute), click.Command)

    assert CliRunner().invoke(cli.main, [name, "--help"]).exit_code == 0


def test_an_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(cli.main, ["nonsense"])

    assert result.exit_code == 2
    assert "No such command 'nonsense'" in result.output


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Run a command that raises what it is given."""

    def run(error: BaseException) -> Result:
        @click.command()
        def broken() -> None:
            raise error

        monkeypatch.setattr(cli.LazyGroup, "get_command", lambda _self, _ctx, _name: broken)
        return CliRunner().invoke(cli.main, ["broken"])

    return run


def _caused(error: Exception, sqlstate: str) -> Exception:
    cause = Exception()
    cause.sqlstate = sqlstate  # type: ignore[attr-defined]
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            EmbeddedPostgresError("There is no space left in X. Free some."),
            "There is no space left in X. Free some.",
        ),
        (ImproperlyConfigured("SECRET_KEY is not set."), "SECRET_KEY is not set."),
        (OperationalError("connection refused\nIs it running?"), "connection refused. Check DATABASE_URL"),
        (
            _caused(ProgrammingError('relation "x" does not exist\nLINE 1: secret'), "42P01"),
            "manage.py migrate",
        ),
        (_caused(OperationalError("could not extend file"), "53100"), "run out of space"),
        (_caused(OperationalError("deadlock detected"), "40P01"), "sci-rag doctor"),
        (
            RuntimeError("boom"),
            "Unexpected error, RuntimeError: boom. (set SCI_RAG_TRACEBACK=1 to see where)",
        ),
        (RuntimeError(), "Unexpected error, RuntimeError: no message."),
    ],
)
def test_a_failure_is_one_line_with_advice(failing, error: Exception, said: str) -> None:
    result = failing(error)

    assert result.exit_code == 1
    assert said in result.output
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1
    assert "Traceback" not in result.output
    assert "secret" not in result.output


def test_the_traceback_is_there_for_those_who_ask(failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCI_RAG_TRACEBACK", "1")

    assert isinstance(failing(RuntimeError("boom")).exception, RuntimeError)


def test_ctrl_c_ends_a_command_without_a_traceback(failing) -> None:
    result = failing(KeyboardInterrupt())

    assert result.exit_code == 130
    assert result.output == "Stopped.\n"


def test_a_reader_that_goes_away_is_no_error_to_show() -> None:
    code = (
        "import click; from sci_rag_site import cli\n"
        "@click.command()\ndef long():\n    for _ in range(100000): click.echo('x' * 100)\n"
        "cli.LazyGroup.get_command = lambda *_: long\ncli.main(['long'])"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()

    assert process.stderr.read() == b""
    assert process.wait(timeout=20) in {0, 1}
    process.stderr.close()
