"""How commands report: one JSON object with `--json`, readable text without, one line on failure."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")


class CommandFailed(click.ClickException):
    """The command could not do what was asked: one readable line, exit code 1."""

    exit_code = 1


def print_json(value: Any) -> None:
    """Print `value` as the one JSON object of a command."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")
