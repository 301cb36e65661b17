"""Scope conditions, each taken out alone. The code is changed in place, in this process, and put back.

They are read from the source, so that a condition that is added tomorrow is one more to be killed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from django.db.models import Q

from corpus import scope as scopes
from corpus.scope import EVERYTHING, RetrievalScope

PACKAGES = ("corpus", "retrieval", "answers", "evaluation", "sci_rag_site")
# What keeps rows back, and what stands in its place when it is taken out.
_FILTERS = {"within", "under"}
_STANDS_IN = "_mutant_stands_in"


@dataclass(frozen=True)
class Mutant:
    """One condition at one place. `name` is stable as long as its function has no more of them."""

    name: str
    change: Callable[[], Callable[[], None]]


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """Change the code for the duration."""
    undo = mutant.change()
    try:
        yield
    finally:
        undo()


def modules() -> Iterator[ModuleType]:
    """Yield the modules of the product that decide what is shown."""
    for package in PACKAGES:
        root = importlib.import_module(package)
        for found in pkgutil.walk_packages(root.__path__, f"{package}."):
            if ".migrations" not in found.name and not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def unscoped(rows: Any, *_: Any) -> Any:
    """Stand in for `.within(...)` and `.under(...)`: everything."""
    return rows if isinstance(rows, RetrievalScope) else rows.all()


def everything(*_: Any) -> Any:
    """Stand in for the ceiling of a person."""
    return EVERYTHING


def _as_requested(_user: Any, requested: Any) -> Any:
    return requested


def _any_row(*_: Any, **__: Any) -> Q:
    return Q()


def _as_it_is(user: Any, _to: Any) -> Any:
    return user


def call_sites() -> Iterator[Mutant]:
    """Yield a mutant for each call that applies a scope or a ceiling."""
    for module in modules():
        tree = ast.parse(_source(module))
        for function, qualname in _functions(tree):
            sites = [node for node in ast.walk(function) if _stand_in(node)]
            for number, node in enumerate(sites):
                label = f"{module.__name__}.{qualname}: {ast.unparse(node)[:60]}"
                yield Mutant(
                    f"{label} #{number}" if len(sites) > 1 else label, _changed(module, qualname, number)
                )


def _source(module: ModuleType) -> str:
    return Path(module.__file__).read_text(encoding="utf-8") if module.__file__ else ""


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node, node.name
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield inner, f"{node.name}.{inner.name}"


def _stand_in(node: ast.AST) -> str | None:
    """Return which stand-in takes the place of a call; None for calls that keep nothing back."""
    if not isinstance(node, ast.Call):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _FILTERS and isinstance(node.func, ast.Attribute):
        return "unscoped"
    if name in ("of", "narrowed"):
        # Modules of other names have functions of these names, which keep nothing back.
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if owner is not None and ast.unparse(owner) != "ceilings":
            return None
        return "everything" if name == "of" else "_as_it_is"
    return {"effective_scope": "_as_requested", "about_covered_documents": "_any_row"}.get(name)


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.Call) -> None:
        self.target = target

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if node is not self.target:
            return self.generic_visit(node)
        arguments = list(node.args)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _FILTERS:
            arguments = [node.func.value, *arguments]
        called = ast.Name(f"{_STANDS_IN}_{_stand_in(node)}", ast.Load())
        return ast.copy_location(ast.Call(called, arguments, node.keywords), node)


def _changed(module: ModuleType, qualname: str, number: int) -> Callable[[], Callable[[], None]]:
    def change() -> Callable[[], None]:
        tree = ast.parse(_source(module))
        function = next(node for node, name in _functions(tree) if name == qualname)
        target = [node for node in ast.walk(function) if _stand_in(node)][number]
        assert isinstance(target, ast.Call)
        _Replace(target).visit(function)
        compiled = compile(ast.fix_missing_locations(tree), module.__file__ or "", "exec")
        for stand_in in (unscoped, everything, _as_requested, _any_row, _as_it_is):
            setattr(module, f"{_STANDS_IN}_{stand_in.__name__}", stand_in)
        live = _live(module, qualname)
        before = live.__code__
        live.__code__ = _code(compiled, qualname.split("."))
        return lambda: setattr(live, "__code__", before)

    return change


def _code(code: CodeType, path: list[str]) -> CodeType:
    for name in path:
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return code


def _live(module: ModuleType, qualname: str) -> FunctionType:
    """Return the function as it runs, under its decorators."""
    owner: Any = module
    for name in qualname.split("."):
        owner = owner.__dict__[name]
    if isinstance(owner, property):
        owner = owner.fget
    if isinstance(owner, (classmethod, staticmethod)):
        owner = owner.__func__
    found = inspect.unwrap(owner)
    if not isinstance(found, FunctionType):
        found = found.callback  # a command of click
    return inspect.unwrap(found)  # type: ignore[return-value]


def conditions() -> Iterator[Mutant]:
    """Yield a mutant for each condition of a scope: the field counts as if it were not restricted."""
    for name, free in {
        "license_classes": None,
        "buckets": None,
        "year_min": None,
        "year_max": None,
        "authors": None,
        "journals": None,
        "exclude_document_ids": (),
        "exclude_dois": (),
        "exclude_retracted": False,
    }.items():
        yield Mutant(f"corpus.scope.eligible without {name}", _free(name, free))


def _free(name: str, free: Any) -> Callable[[], Callable[[], None]]:
    def change() -> Callable[[], None]:
        before = scopes.eligible
        scopes.eligible = lambda wanted: before(replace(wanted, **{name: free}))
        return lambda: setattr(scopes, "eligible", before)

    return change


def statements() -> Iterator[Mutant]:
    """Yield a mutant for each statement written by hand: all documents count as eligible."""
    for module in modules():
        for name, text in sorted(vars(module).items()):
            if isinstance(text, str) and "({eligible})" in text:
                yield Mutant(f"{module.__name__}.{name}: eligible", _all_eligible(module, name, text))


def _all_eligible(module: ModuleType, name: str, text: str) -> Callable[[], Callable[[], None]]:
    everything = "(SELECT id FROM corpus_document WHERE id IN ({eligible}) OR chunk_count > 0)"

    def change() -> Callable[[], None]:
        changed = text.replace("({eligible})", everything)
        # A statement may be known by its name in other modules too.
        known = [m for m in list(sys.modules.values()) if getattr(m, name, None) is text and m.__name__ != ""]
        for where in known:
            setattr(where, name, changed)

        def undo() -> None:
            for where in known:
                setattr(where, name, text)

        return undo

    return change


def all_mutants() -> list[Mutant]:
    """Return every mutant, in a fixed order."""
    return [*conditions(), *statements(), *call_sites()]
