"""What a process remembers is the same for everybody: no cache holds anything that a scope decides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(__file__).resolve().parents[2]
APPS = ("corpus", "retrieval", "answers", "evaluation", "sci_rag_site")
CACHING = {"cache", "lru_cache"}
# Reading a row, or being told whose request it is: either would make what is remembered somebody's.
ROWS = {"objects", "cursor", "sql_with_params"}
SOMEBODYS = {"user", "by", "scope", "requested", "effective", "ceiling", "request", "answer", "document"}


def decorated() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every function of the product whose results are kept."""
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and any(map(_is_caching, node.decorator_list)):
                    yield f"{path.relative_to(ROOT)}:{node.name}", node


def _is_caching(decorator: ast.expr) -> bool:
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "")
    return name in CACHING


KEPT = dict(decorated())


def test_the_caches_are_found() -> None:
    assert len(KEPT) > 10


@pytest.mark.parametrize("name", KEPT)
def test_a_function_whose_results_are_kept_reads_no_row_and_is_told_of_nobody(name: str) -> None:
    function = KEPT[name]
    read = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    told = {argument.arg for argument in [*function.args.args, *function.args.kwonlyargs]}

    assert not read & ROWS
    assert not told & SOMEBODYS


def test_no_page_query_or_fragment_is_kept_between_requests() -> None:
    sources = [path for app in APPS for path in (ROOT / app).rglob("*.py")]
    templates = (ROOT / "templates").rglob("*.html")

    assert not [str(path) for path in sources if "django.core.cache" in path.read_text(encoding="utf-8")]
    assert not [str(path) for path in templates if "{% cache" in path.read_text(encoding="utf-8")]
    assert not [name for name in settings.MIDDLEWARE if "cache" in name.lower()]
