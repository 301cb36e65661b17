"""The documentation names every setting, command, option, licence class, profile value and prompt."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from corpus.domain_profile import DomainProfile
from corpus.rights import ALL_CLASSES
from sci_rag_site.cli import ALIASES, main

ROOT = Path(__file__).resolve().parents[2]
OPERATING = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
METHODOLOGY = (ROOT / "docs/methodology.md").read_text(encoding="utf-8")
ENV_EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "domain").rglob("*.md")])

# Said of every command or of none in particular.
COMMON_OPTIONS = {"--help", "--version", "--json"}


def settings_read() -> Iterator[str]:
    """Yield the names handed to `env.…("NAME")` in the settings."""
    tree = ast.parse((ROOT / "sci_rag_site/settings.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "env"
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            yield node.args[0].value


def commands(group: click.Group = main, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its full name, groups without the group itself."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, f"sci-rag {' '.join((*path, name))} is listed but does not exist"
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join(("sci-rag", *path, name)), command


SETTINGS = sorted(set(settings_read()))
COMMANDS = dict(commands())


def test_the_settings_are_found() -> None:
    assert {"DATABASE_URL", "SECRET_KEY", "SCI_RAG_LLM_MODEL"} <= set(SETTINGS)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_has_a_row_in_the_table(name: str) -> None:
    assert re.search(rf"^\| `{name}` \|", OPERATING, re.MULTILINE), f"{name} is not in docs/operating.md"


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_stands_in_the_example_file(name: str) -> None:
    assert re.search(rf"^#? ?{name}=", ENV_EXAMPLE, re.MULTILINE), f"{name} is not in .env.example"


def test_the_table_names_no_setting_that_is_gone() -> None:
    documented = re.findall(r"^\| `([A-Z][A-Z_]+)` \|", OPERATING, re.MULTILINE)

    assert sorted(set(documented) - set(SETTINGS)) == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_is_documented(name: str) -> None:
    assert f"`{name}" in OPERATING or f"\n{name}" in OPERATING, f"{name} is not in docs/operating.md"


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_every_alias_is_documented(alias: str) -> None:
    assert f"`{alias}`" in OPERATING


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_is_documented(name: str) -> None:
    options = {
        option for parameter in COMMANDS[name].params for option in parameter.opts if option.startswith("--")
    }
    missing = [option for option in sorted(options - COMMON_OPTIONS) if f"`{option}" not in OPERATING]

    assert missing == []


@pytest.mark.parametrize("name", ALL_CLASSES)
def test_every_licence_class_is_explained(name: str) -> None:
    assert re.search(rf"^\| `{name}` \|", METHODOLOGY, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(DomainProfile.model_fields))
def test_every_value_of_the_domain_profile_is_documented(name: str) -> None:
    assert f"`{name}" in OPERATING


@pytest.mark.parametrize("path", sorted((ROOT / "domain/prompts").glob("*.md")), ids=lambda path: path.name)
def test_every_prompt_is_documented(path: Path) -> None:
    assert f"prompts/{path.name}" in METHODOLOGY


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_decision_record_has_the_same_parts() -> None:
    for record in sorted((ROOT / "docs/adr").glob("*.md")):
        headings = re.findall(r"^## (.+)$", record.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == ["Context", "Decision", "Consequences", "Alternatives"], record.name
