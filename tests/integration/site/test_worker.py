"""A real worker process, through the file broker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from corpus.accounts.sessions import PersonSession
from sci_rag_site import tasks
from sci_rag_site.tasks import heartbeat_file
from tests.integration.site.conftest import ROOT, alive, wait_until
from tests.loopback.prepared_site import copy_prepared

SEND = """
import django; django.setup()
from sci_rag_site.celery import app
app.send_task({name!r})
"""


def environment(var: Path) -> dict[str, str]:
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "sci_rag_site.settings",
        "SCI_RAG_VAR_DIR": str(var),
        "SCI_RAG_LOG_LEVEL": "INFO",
        "SCI_RAG_LOG_FORMAT": "json",
    }


@pytest.fixture
def worker(var: Path) -> Iterator[subprocess.Popen[str]]:
    copy_prepared(var)
    process = subprocess.Popen(
        [sys.executable, "-m", "sci_rag_site.worker"], cwd=ROOT, env=environment(var),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield process
    process.terminate()
    process.communicate(timeout=30)


def test_the_worker_runs_what_it_is_sent_and_what_the_clock_says(
    worker: subprocess.Popen[str], var: Path
) -> None:
    send = [sys.executable, "-c", SEND.format(name="site.forget_taken_messages")]
    subprocess.run(send, cwd=ROOT, env=environment(var), check=True)

    wait_until((var / "worker-heartbeat").exists, seconds=60)
    seen = []
    while not any(event["event"] == "broker.forgot_messages" for event in seen):
        seen.append(json.loads(worker.stderr.readline()))

    worker.terminate()
    _, rest = worker.communicate(timeout=30)
    assert worker.returncode == 0
    assert "Traceback" not in rest


def test_a_worker_whose_parent_is_killed_ends_too(var: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-m', 'sci_rag_site.worker'], start_new_session=True)\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment(var),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    child = int(parent.stdout.readline())
    wait_until((var / "worker-heartbeat").exists, seconds=60)

    parent.send_signal(signal.SIGKILL)
    parent.communicate()

    wait_until(lambda: not alive(child), seconds=30)


@pytest.mark.django_db
def test_expired_sessions_go_and_others_stay() -> None:
    now = timezone.now()
    PersonSession.objects.create(session_key="old", session_data="", expire_date=now - timedelta(days=1))
    PersonSession.objects.create(session_key="new", session_data="", expire_date=now + timedelta(days=1))

    tasks.clear_expired_sessions()

    assert list(PersonSession.objects.values_list("session_key", flat=True)) == ["new"]


@pytest.mark.django_db
def test_an_answer_whose_process_died_is_ended() -> None:
    from answers.models import Answer

    answer = Answer.objects.create(
        question="q", scope_digest="0" * 64, profile="interactive", engine="extractive"
    )
    Answer.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(days=1))

    tasks.close_abandoned_answers()

    answer.refresh_from_db()
    assert answer.state == Answer.State.FAILED


def test_the_heartbeat_is_a_touched_file() -> None:
    heartbeat_file().parent.mkdir(parents=True, exist_ok=True)

    tasks.heartbeat()

    assert heartbeat_file().parent == Path(settings.VAR_DIR)
    assert heartbeat_file().exists()
