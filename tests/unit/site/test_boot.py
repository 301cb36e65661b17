"""A site with settings that leave it open, or cannot work, does not start: it says which and what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from sci_rag_site import boot

ROOT = Path(__file__).resolve().parents[3]
KEY = "Zk3vQ9xLr7TnB2mWc8YpJ5hDf4GsA6uEe1KtVi0RoXbNqMzSyHwPjUgC"
BEFORE = "a7Pq0WnE6rTyU1iOsD4fGh8JkL2zXcVbN9mQwErTy5UiOpAsDfGhJ3kL"
# Of a site that others reach, all as it should be.
GOOD: dict[str, Any] = {
    "HTTPS": True,
    "DEBUG": False,
    "ALLOWED_HOSTS": ["papers.example.org"],
    "CSRF_TRUSTED_ORIGINS": ["https://papers.example.org"],
    "SECRET_KEY": KEY,
    "SECRET_KEY_FALLBACKS": [BEFORE],
    "DATABASE_URL": "postgres://site:k2Jd8s@db.example.org/site",
    "CELERY_BROKER_URL": "redis://127.0.0.1:6379/0",
    "SCI_RAG_OUTBOUND_HOSTS": ["inside.example.org:8443"],
    "SCI_RAG_OIDC_HOSTS": [],
    "SCI_RAG_LLM_API_BASE": "",
    "SCI_RAG_EMBEDDING_API_BASE": "http://127.0.0.1:8080/v1",
    "SCI_RAG_CROSSREF_URL": "https://api.crossref.org",
    "SCI_RAG_OPENALEX_URL": "https://api.openalex.org",
    "SCI_RAG_UNPAYWALL_URL": "https://api.unpaywall.org/v2",
    "SCI_RAG_MAX_UPLOAD_MB": 100,
    "SCI_RAG_UPLOAD_MB_PER_DAY": 10_000,
    "SCI_RAG_PAGE_CACHE_MB": 500,
    "SCI_RAG_LEASE_SECONDS": 30,
    "SCI_RAG_EMBEDDING_DIMENSIONS": 384,
    "SCI_RAG_CONTACT_EMAIL": "library@example.org",
    "SCI_RAG_LOG_LEVEL": "INFO",
    "SCI_RAG_LOG_FORMAT": "auto",
}
OF_A_PUBLIC_SITE: dict[str, dict[str, Any]] = {
    "a short key": {"SECRET_KEY": KEY[:49]},
    "an example key": {"SECRET_KEY": "django-insecure-" + KEY},
    "a key of one letter": {"SECRET_KEY": "a" * 64},
    "a short key of before": {"SECRET_KEY_FALLBACKS": ["short"]},
    "the key of before is the key": {"SECRET_KEY_FALLBACKS": [KEY]},
    "error pages with code": {"DEBUG": True},
    "any name": {"ALLOWED_HOSTS": ["papers.example.org", "*"]},
    "forms from without TLS": {"CSRF_TRUSTED_ORIGINS": ["http://papers.example.org"]},
    "forms from anywhere": {"CSRF_TRUSTED_ORIGINS": ["https://*.example.org"]},
    "a database password that is tried first": {"DATABASE_URL": "postgres://postgres:postgres@db/site"},
    "a broker password that is tried first": {"CELERY_BROKER_URL": "amqp://guest:guest@mq//"},
}
OF_ANY_SITE: dict[str, dict[str, Any]] = {
    "a host with its scheme": {"ALLOWED_HOSTS": ["https://papers.example.org"]},
    "a host with a port": {"ALLOWED_HOSTS": ["papers.example.org:443"]},
    "an origin without scheme": {"CSRF_TRUSTED_ORIGINS": ["papers.example.org"]},
    "an origin with a path": {"CSRF_TRUSTED_ORIGINS": ["https://papers.example.org/ask"]},
    "a star among what may be asked": {"SCI_RAG_OUTBOUND_HOSTS": ["*"]},
    "an address among hosts": {"SCI_RAG_OUTBOUND_HOSTS": ["https://inside.example.org"]},
    "a star among the provider's hosts": {"SCI_RAG_OIDC_HOSTS": ["*.example.org"]},
    "a model without scheme": {"SCI_RAG_LLM_API_BASE": "models.example.org"},
    "a model on disk": {"SCI_RAG_LLM_API_BASE": "file:///etc/passwd"},
    "an address that is none": {"SCI_RAG_LLM_API_BASE": "https://["},
    "a key in an address": {"SCI_RAG_EMBEDDING_API_BASE": "https://user:key@models.example.org"},
    "no upload at all": {"SCI_RAG_MAX_UPLOAD_MB": 0},
    "no upload in a day": {"SCI_RAG_UPLOAD_MB_PER_DAY": -1},
    "a lease that is over at once": {"SCI_RAG_LEASE_SECONDS": 0},
    "vectors of nothing": {"SCI_RAG_EMBEDDING_DIMENSIONS": 0},
    "nobody to write to": {"SCI_RAG_CONTACT_EMAIL": "the library"},
    "a broker of another kind": {"CELERY_BROKER_URL": "sqs://queue"},
    "a database of another kind": {"DATABASE_URL": "sqlite:///site.db"},
    "a level that is none": {"SCI_RAG_LOG_LEVEL": "LOUD"},
    "a form that is none": {"SCI_RAG_LOG_FORMAT": "xml"},
}


def test_a_site_that_is_set_up_well_starts() -> None:
    boot.refuse(GOOD)


@pytest.mark.parametrize("name", [*OF_A_PUBLIC_SITE, *OF_ANY_SITE])
def test_a_setting_that_may_not_be_is_named_with_what_to_do(name: str) -> None:
    bad = OF_A_PUBLIC_SITE.get(name) or OF_ANY_SITE[name]

    with pytest.raises(ImproperlyConfigured) as refused:
        boot.refuse(GOOD | bad)

    said = str(refused.value)
    (setting,) = bad
    assert said.startswith(setting)
    # In one line, as commands print it, with a sentence that says what to do.
    assert "\n" not in said
    assert said.count(". ") >= 1 or said.count(".") >= 2
    assert KEY not in said
    assert "k2Jd8s" not in said


@pytest.mark.parametrize("name", OF_A_PUBLIC_SITE)
def test_on_ones_own_machine_it_may_be(name: str) -> None:
    own = {"HTTPS": False, "ALLOWED_HOSTS": ["127.0.0.1", "localhost"], "CSRF_TRUSTED_ORIGINS": []}
    changed = {key: value for key, value in OF_A_PUBLIC_SITE[name].items() if key not in own}

    assert list(boot.refusals(GOOD | own | changed)) == []


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        boot.refuse(GOOD | {"DEBUG": True, "SECRET_KEY": "short", "SCI_RAG_LEASE_SECONDS": 0})

    assert all(name in str(refused.value) for name in ("DEBUG", "SECRET_KEY", "SCI_RAG_LEASE_SECONDS"))


def read(**values: str) -> subprocess.CompletedProcess[str]:
    """Read the settings as a process that starts does."""
    said = "import json, sci_rag_site.settings as s; print(json.dumps({k: v for k, v in vars(s).items()"
    said += " if k.isupper() and isinstance(v, (str, int, bool))}))"
    environment = {"PATH": os.environ["PATH"], "SCI_RAG_VAR_DIR": os.environ["SCI_RAG_VAR_DIR"], **values}
    return subprocess.run(
        [sys.executable, "-c", said], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


PRODUCTION = {
    "DATABASE_URL": "postgres://site:k2Jd8s@db.example.org/site",
    "ALLOWED_HOSTS": "papers.example.org",
    "SECRET_KEY": KEY,
}


def test_a_process_with_production_settings_has_cookies_for_its_host_alone() -> None:
    told = json.loads(read(**PRODUCTION).stdout)

    assert (told["SESSION_COOKIE_NAME"], told["CSRF_COOKIE_NAME"]) == (
        "__Host-sessionid", "__Host-csrftoken"
    )  # fmt: skip
    assert told["SESSION_COOKIE_SECURE"] is told["CSRF_COOKIE_SECURE"] is told["SECURE_SSL_REDIRECT"] is True
    assert told["CSRF_COOKIE_HTTPONLY"] is True
    assert told["SECURE_HSTS_SECONDS"] >= 31_536_000


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY is not set"),
        ({"DEBUG": "True"}, "DEBUG is on"),
        ({"SCI_RAG_LEASE_SECONDS": "soon"}, "SCI_RAG_LEASE_SECONDS is no whole number"),
    ],
)
def test_a_process_with_a_setting_that_may_not_be_does_not_start(values: dict[str, str], said: str) -> None:
    ended = read(**PRODUCTION | values)

    assert ended.returncode != 0
    assert said in ended.stderr.splitlines()[-1]
