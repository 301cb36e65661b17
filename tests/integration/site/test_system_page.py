"""The page of the installation: for administrators whose ceiling is everything, and without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from corpus.metrics import catalogue
from sci_rag_site.health.system import SET, UNSET, shown

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SECRET_KEY", "canary", SET),
        ("SCI_RAG_LLM_API_KEY", "", UNSET),
        ("SCI_RAG_OIDC_CLIENT_SECRET", "canary", SET),
        ("SCI_RAG_METRICS_TOKEN", "canary", SET),
        (
            "DATABASE_URL",
            "postgres://me:canary@db.example.org:5432/x?y=canary",
            "postgres://db.example.org:5432",
        ),
        ("CELERY_BROKER_URL", "redis://:canary@127.0.0.1:6379/0", "redis://127.0.0.1:6379"),
        ("SCI_RAG_LLM_API_BASE", "https://host/canary?key=canary", "https://host"),
        ("SCI_RAG_LLM_API_BASE", "https://me:canary@[broken", SET),
        ("SCI_RAG_OUTBOUND_HOSTS", ["a:1", "b"], "a:1, b"),
        ("SCI_RAG_PAGE_CACHE_MB", 0, "0"),
    ],
)
def test_a_setting_is_shown_without_what_is_secret_in_it(name: str, value: object, said: str) -> None:
    assert shown(name, value) == said


def test_an_administrator_sees_the_installation(
    administrator: User, client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    settings.SCI_RAG_METRICS_TOKEN = "canary" * 8
    settings.SCI_RAG_LLM_API_KEY = "canary-key"
    catalogue.BREAKER_OPENED.count(use="judging")
    client.force_login(administrator)

    page = client.get(reverse("system"))
    text = page.content.decode()

    assert page.status_code == 200
    for words in ("pgvector", "Jobs that wait", "judging", "SCI_RAG_LLM_API_KEY", "Pictures of pages"):
        assert words in text
    assert 'href="/usage/"' in text
    assert "canary" not in text
    assert settings.SECRET_KEY not in text


@pytest.mark.parametrize("who", ["librarian", "asker", "expert"])
def test_for_others_there_is_no_such_page(who: str, client: Client, request: pytest.FixtureRequest) -> None:
    client.force_login(request.getfixturevalue(who))

    assert client.get(reverse("system")).status_code == 404
