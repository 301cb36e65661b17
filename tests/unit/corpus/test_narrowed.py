"""A narrowed account is handed on and never read anew: no service looks accounts up by itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
APPS = ("corpus", "retrieval", "answers", "evaluation")
# Where accounts are read, and why no rights come of it.
READERS = {
    "corpus/admin/accounts.py": "the admin's own screen of accounts",
    "corpus/admin/keys.py": "whom a key can be made for",
    "corpus/admin/history.py": "names for a list of changes",
    "corpus/actions/access_requests.py": "a lock on the row of whoever asks, whose instance is used",
    "corpus/actions/upload_quota.py": "a lock on the row of whoever sends, whose instance is used",
    "corpus/views_access.py": "somebody else, whom a librarian names",
    "corpus/waiting.py": "a count",
    "corpus/webhooks/actions.py": "a lock on the row of whoever adds one, whose instance is used",
    "corpus/webhooks/delivering.py": "the owner of a webhook, told what they themselves may know that day",
}
# Where somebody is signed in, and the operator's commands, which name whom they act for.
WHO_ASKS = ("corpus/accounts/", "corpus/actions/identities.py", "corpus/session_store.py")


def reads_accounts(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "objects" and isinstance(node.value, ast.Name):
            if node.value.id in ("User", "TrackedUser"):
                yield node
        elif isinstance(node, ast.Name) and node.id == "get_user_model":
            yield node


def modules() -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts and not path.name.startswith("cli")
    )


def test_no_service_reads_accounts_anew() -> None:
    anew = [
        f"{module}:{getattr(node, 'lineno', 0)}"
        for module in modules()
        if module not in READERS and not module.startswith(WHO_ASKS)
        for node in reads_accounts(ast.parse((ROOT / module).read_text(encoding="utf-8")))
    ]

    assert anew == []


def test_every_exception_is_one() -> None:
    assert set(READERS) <= set(modules())
