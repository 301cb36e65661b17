"""The doctor's page and the list of backups are for administrators whose ceiling is everything."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus.backups import BackupRun

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def backup() -> BackupRun:
    return BackupRun.objects.create(
        kind="backup", state="done", path="/backups/b", size=5_000_000, documents=3, questions=2,
        by_name="ada", finished_at=timezone.now(),
    )  # fmt: skip


def test_an_administrator_sees_what_is_wrong_and_what_to_do(
    administrator: Any, librarian: Any, client: Client, backup: BackupRun
) -> None:
    client.force_login(administrator)

    page = client.get(reverse("doctor"))
    screen = client.get(reverse("admin:corpus_backuprun_changelist"))
    detail = client.get(reverse("admin:corpus_backuprun_change", args=[backup.pk]))

    text = page.content.decode()
    assert page.status_code == 200
    assert "It has never run here." in text
    assert "celery -A sci_rag_site worker --beat" in text
    assert text.index("It has never run here.") < text.index("self-test passed")
    assert page.headers["Cache-Control"].startswith("max-age=0")
    for words in ("Done", "ada", "4.8"):
        assert words in screen.content.decode()
    assert "/backups/b" in detail.content.decode()
    assert "/backups/b" not in screen.content.decode()

    client.force_login(librarian)
    assert client.get(reverse("doctor")).status_code == 404
    assert client.get(reverse("admin:corpus_backuprun_changelist")).status_code == 403
