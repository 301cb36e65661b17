"""What this code never does, and how it is set up: facts that one careless line would end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import LazySettings, settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from sci_rag_site.settings import AUTH_PASSWORD_VALIDATORS

ROOT = Path(__file__).resolve().parents[3]
APPS = ("corpus", "retrieval", "answers", "evaluation", "sci_rag_site")
CODE = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for app in APPS
    for path in (ROOT / app).rglob("*.py")
    if "migrations" not in path.parts
}
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("templates", "static/js")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".html", ".js")
}
# What is looked for, and the files that may hold it with their reason.
NEVER: dict[str, tuple[str, set[str]]] = {
    "code made of text": (r"\b(?:eval|exec)\(", set()),
    "objects of other programs": (r"\b(?:pickle|marshal|shelve)\.", set()),
    "YAML that makes objects": (r"yaml\.(?:load|unsafe_load|full_load)\(", set()),
    "a shell": (r"shell=True|os\.system\(|os\.popen\(", set()),
    "SQL past the layers": (r"\.extra\(|RawSQL\(", set()),
    "a hash that is broken": (r"hashlib\.(?:md5|sha1)\(|[\"'](?:md5|sha1)[\"']", set()),
    "certificates that are not looked at": (r"verify=False|CERT_NONE|check_hostname = False", set()),
    "guessable randomness": (
        r"^(?:import random|from random)",
        {"answers/admission.py", "evaluation/calibration/sampling.py", "sci_rag_site/client/sending.py"},
    ),
    "ids that tell when and where": (r"uuid\.?uuid[13]\(", set()),
    "every field of a row": (r"fields = [\"']__all__[\"']", set()),
    "templates of other people's text": (r"\bjinja2\b|django\.template import Template", set()),
    "requests taken for a filter": (r"\.filter\(\*\*request|order_by\(request", set()),
    "a name for directories": (r"\bldap3?\b|\bmemcache", set()),
}
NEVER_ON_PAGES: dict[str, tuple[str, set[str]]] = {
    "code made of text": (r"\beval\(|new Function|document\.write", set()),
    "messages of other windows": (r"postMessage|addEventListener\(.message", set()),
    "markup made of text": (r"\.innerHTML\s*=|insertAdjacentHTML", set()),
    "texts that are not escaped": (
        r"\|safe\b|autoescape off", {"templates/registration/change_password.html"}
    ),
    # A switch of the review screen: on or off.
    "what outlives the session": (r"localStorage|sessionStorage|indexedDB", {"static/js/review-queue.js"}),
    "scripts of other hosts": (r"<script[^>]+src=[\"']https?:", set()),
}  # fmt: skip


# A word of each pattern, without which it matches nothing.
WORDS: dict[str, tuple[str, ...]] = {
    "code made of text": ("eval(", "exec(", "new Function", "document.write"),
    "objects of other programs": ("pickle", "marshal", "shelve"),
    "YAML that makes objects": ("yaml.",),
    "a shell": ("shell=", "os.system", "os.popen"),
    "SQL past the layers": (".extra(", "RawSQL"),
    "a hash that is broken": ("md5", "sha1"),
    "certificates that are not looked at": ("verify=", "CERT_NONE", "check_hostname"),
    "guessable randomness": ("random",),
    "ids that tell when and where": ("uuid1", "uuid3"),
    "every field of a row": ("__all__",),
    "templates of other people's text": ("jinja2", "django.template"),
    "requests taken for a filter": ("request",),
    "a name for directories": ("ldap", "memcache"),
    "messages of other windows": ("essage",),
    "markup made of text": ("innerHTML", "insertAdjacentHTML"),
    "texts that are not escaped": ("safe", "autoescape"),
    "what outlives the session": ("Storage", "indexedDB"),
    "scripts of other hosts": ("<script",),
}


@pytest.mark.parametrize(
    ("what", "files"),
    [*((name, "code") for name in NEVER), *((name, "pages") for name in NEVER_ON_PAGES)],
)
def test_it_is_nowhere(what: str, files: str) -> None:
    texts, (pattern, known) = (CODE, NEVER[what]) if files == "code" else (PAGES, NEVER_ON_PAGES[what])

    # Looking for a word is quick, and most files have none of them.
    likely = {name: text for name, text in texts.items() if any(word in text for word in WORDS[what])}
    found = {name for name, text in likely.items() if re.search(pattern, text, re.MULTILINE)}

    assert found == known


def test_the_search_looks_at_all_there_is() -> None:
    assert len(CODE) > 300
    assert len(PAGES) > 60


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "password123456",
        "qwertyuiop12",
        "sci-rag-2026!!",
        "Library2026!",
        "papersexample26",
        "x" * 11,
    ],
)
def test_a_password_that_is_tried_first_is_refused(password: str, settings: LazySettings) -> None:
    settings.AUTH_PASSWORD_VALIDATORS = AUTH_PASSWORD_VALIDATORS
    settings.ALLOWED_HOSTS = ["papers.example.org"]

    with pytest.raises(ValidationError):
        validate_password(password)


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "ünïcödé wörds äre fïne",
        "x7" * 64,
        "    spaces  around    ",
        "a library of bees and straw",
    ],
)
def test_any_other_of_twelve_letters_may_be(password: str, settings: LazySettings) -> None:
    settings.AUTH_PASSWORD_VALIDATORS = AUTH_PASSWORD_VALIDATORS

    validate_password(password)


def test_passwords_are_kept_by_a_slow_hash_of_todays_cost() -> None:
    from django.conf import global_settings
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    # Tests take a quick one; the site says nothing of its own.
    assert "PASSWORD_HASHERS" not in CODE["sci_rag_site/settings.py"]
    assert global_settings.PASSWORD_HASHERS[0].endswith("PBKDF2PasswordHasher")
    assert PBKDF2PasswordHasher.iterations >= 600_000


def test_the_proxy_speaks_todays_tls_alone() -> None:
    told = (ROOT / "deploy/nginx.conf").read_text(encoding="utf-8")

    assert re.search(r"^\s*ssl_protocols TLSv1\.2 TLSv1\.3;", told, re.MULTILINE)
    assert not re.search(r"autoindex\s+on", told)


def test_no_migration_makes_an_account() -> None:
    for app in APPS:
        for path in (ROOT / app / "migrations").glob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "create_user" not in text, path.name
            assert "create_superuser" not in text, path.name


def test_sessions_are_random_and_kept_on_the_server() -> None:
    from django.contrib.sessions.backends import base

    assert settings.SESSION_ENGINE == "corpus.session_store"
    # 32 of 36 signs: 165 bits.
    assert len(base.VALID_KEY_CHARS) == 36


def test_the_locks_are_the_inventory_of_what_is_used() -> None:
    told = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^([a-z0-9._-]+)(?:\[[^\]]+\])?==(\S+)", told, re.MULTILINE | re.IGNORECASE)

    assert len(pins) > 60
    assert "litellm" in {name for name, _ in pins}
