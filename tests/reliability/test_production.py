"""What `deploy/` ships runs: the commands of its units on two databases and Redis, behind nginx with TLS."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.site.conftest import ROOT, alive
from tests.loopback.postgres_pair import Pair
from tests.reliability.production import (
    NAME,
    NGINX,
    PASSWORD,
    REDIS,
    TOKEN,
    Browser,
    Production,
    answers_at,
    free_port,
    wait_for,
)

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("production")]
QUESTION = "How long was the canary-straw stored?"
PAPER = "# Storage\n\nThe straw was stored for ninety days in a dry shed before it was weighed again.\n"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="sci-rag-test-production-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def production(folder: Path) -> Iterator[Production]:
    """Everything there is: a primary, a replica, Redis, two web processes, a worker, the schedule, nginx."""
    for program, package in ((NGINX, "nginx-light"), (REDIS, "redis-server")):
        if program is None:
            pytest.skip(f"needs {package}: apt-get install {package}")
    pair = Pair(folder / "servers")
    redis, model = free_port(), free_port()
    production = Production(
        folder,
        DATABASE_URL=pair.primary.url,
        SCI_RAG_REPLICA_URL=pair.replica.url,
        CELERY_BROKER_URL=f"redis://127.0.0.1:{redis}/0",
        SCI_RAG_LLM_MODEL="openai/steady",
        SCI_RAG_LLM_API_BASE=f"http://127.0.0.1:{model}/v1",
        SCI_RAG_LLM_API_KEY="sk-test",
    )
    try:
        production.begin("redis", str(REDIS), "--port", str(redis), "--save", "", "--appendonly", "no")
        # Ten tokens a second, forty in all: slow enough to see that nothing is held back.
        production.begin("model", sys.executable, "-m", "tests.loopback.steady_model", str(model), "10", "40")
        production.run("python", "manage.py", "migrate", "--verbosity=0")
        production.run("python", "manage.py", "collectstatic", "--noinput", "--verbosity=0")
        for account, group in (("ada", "administrator"), ("ben", "asker")):
            production.run(
                "sci-rag", "users", "create", account, "--group", group, "--password-stdin",
                given=f"{PASSWORD}\n",
            )  # fmt: skip
        (folder / "paper.md").write_text(PAPER)
        production.run("sci-rag", "ingest", str(folder / "paper.md"), "--license", "public")
        for unit in ("web", "worker", "schedule"):
            production.start(unit)
        wait_for(lambda: answers_at(production.site_port))
        production.start_proxy()
        yield production
    finally:
        production.close()
        pair.close()


@pytest.fixture(scope="module")
def ben(production: Production) -> Browser:
    browser = production.browser()
    response = browser.sign_in("ben")
    assert (response.status_code, response.headers["location"]) == (302, "/")
    return browser


def test_plain_http_leads_to_https(production: Production) -> None:
    done = subprocess.run(
        ["curl", "--silent", "--include", "--header", f"Host: {NAME}",
         f"http://127.0.0.1:{production.plain_port}/answers/?q=canary-plain"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout.startswith("HTTP/1.1 301")
    assert f"Location: https://{NAME}/answers/?q=canary-plain" in done.stdout


def test_somebody_signs_in_over_https_and_pages_are_protected(production: Production, ben: Browser) -> None:
    page = ben.send("GET", "/")

    assert page.status_code == 200
    assert {"__Host-sessionid", "__Host-csrftoken"} <= set(ben.cookies)
    assert page.headers["strict-transport-security"].startswith("max-age=31536000")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "private, no-store"
    assert not any(word in page.headers.get("server", "") for word in ("uvicorn", "gunicorn", "/"))


def test_an_answer_arrives_as_it_is_written(production: Production, ben: Browser) -> None:
    asked = time.monotonic()
    form = {"question": QUESTION, "engine": "model", "csrfmiddlewaretoken": ben.token("/")}
    pieces = ben.stream("/ask/stream/", form)
    whole = "".join(text for _, text in pieces)

    assert "Asker 0" in whole
    # Four seconds of writing: what comes first comes early, and the rest in many pieces.
    assert len(pieces) > 15
    assert pieces[-1][0] - pieces[0][0] > 2.5
    with_words = next(at for at, text in pieces if "Asker" in text)
    assert pieces[-1][0] - with_words > 2
    assert with_words - asked < 60


def test_static_files_are_compressed_and_kept_for_good(production: Production, ben: Browser) -> None:
    sheet = re.search(r'href="(/static/css/[\w-]+\.[0-9a-f]{12}\.css)"', ben.send("GET", "/").text)
    assert sheet is not None
    response = ben.send("GET", sheet[1], headers={"Accept-Encoding": "gzip"})

    assert response.headers["content-encoding"] == "gzip"
    assert "immutable" in response.headers["cache-control"]
    assert int(re.search(r"max-age=(\d+)", response.headers["cache-control"])[1]) > 300_000_000  # type: ignore[index]
    assert "{" in response.text


def test_files_that_are_handed_over_are_taken_in_by_the_worker(production: Production) -> None:
    ada = production.browser()
    ada.sign_in("ada")
    form = {"bucket": "local", "csrfmiddlewaretoken": ada.token("/documents/upload/")}
    files = {"files": ("b.md", f"{PAPER}\nTwice.\n", "text/markdown")}
    sent = ada.send("POST", "/documents/upload/", data=form, files=files)
    assert sent.status_code in (200, 302, 303), sent.text[:2000]

    wait_for(lambda: 'documents{state="ready"} 2' in numbers(production))


def numbers(production: Production) -> str:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    response = production.browser().send("GET", "/metrics", headers=headers)
    assert response.status_code == 200
    return response.text


def test_the_numbers_of_all_processes_are_read_through_the_proxy(
    production: Production, ben: Browser
) -> None:
    ben.send("GET", "/")
    text = numbers(production)

    assert 'sci_rag_requests_total{route="ask",method="GET",status="200"}' in text
    assert "sci_rag_database_up 1" in text
    assert 'sci_rag_model_calls_total{purpose="answer"}' in text
    assert "canary" not in text
    assert production.browser().send("GET", "/metrics").status_code == 404


def test_searches_are_read_from_the_replica(production: Production, ben: Browser) -> None:
    def read() -> bool:
        ben.send(
            "POST",
            "/",
            data={"question": QUESTION, "engine": "extractive", "csrfmiddlewaretoken": ben.token("/")},
        )
        return 'sci_rag_retrieval_reads_total{server="replica"}' in numbers(production)

    wait_for(read, 60)


def test_a_web_process_that_is_killed_costs_no_later_request(production: Production, ben: Browser) -> None:
    children = Path(f"/proc/{production.services['web'].pid}/task/{production.services['web'].pid}/children")
    before = children.read_text().split()
    os.kill(int(before[0]), signal.SIGKILL)

    wait_for(lambda: before[0] not in (now := children.read_text().split()) and len(now) == len(before))
    time.sleep(1)
    assert [ben.send("GET", "/").status_code for _ in range(20)] == [200] * 20


def test_the_check_of_the_image_tells_a_site_that_answers_from_one_that_does_not(
    production: Production,
) -> None:
    def healthy(**changed: str) -> int:
        return subprocess.run(
            [sys.executable, "deploy/healthcheck.py"],
            cwd=ROOT, env=production.environment | changed, capture_output=True, check=False,
        ).returncode  # fmt: skip

    assert healthy() == 0
    assert healthy(SCI_RAG_BIND=f"127.0.0.1:{free_port()}") == 1


def test_no_question_stands_in_any_log(production: Production, ben: Browser) -> None:
    ben.send("GET", "/answers/?q=canary-search")
    logs = [path.read_text(errors="replace") for path in production.folder.glob("*.log")]

    assert any("request.finished" in text for text in logs)
    assert [text for text in logs if "canary" in text] == []


def test_services_that_are_told_to_end_do(production: Production) -> None:
    """The last: nothing is left to ask."""
    assert [production.stop(name) for name in ("schedule", "worker", "web")] == [0, 0, 0]


def test_the_bundled_database_is_a_service_that_ends_in_order(folder: Path) -> None:
    home = folder / "bundled"
    home.mkdir()
    production = Production(home)
    service = production.start("database")
    try:
        log = home / "database.log"
        wait_for(lambda: "migrations were applied" in log.read_text(), 300)
        production.run("sci-rag", "corpus", "stats")
        pid = int(next(production.var.rglob("postmaster.pid")).read_text().splitlines()[0])
        assert alive(pid)

        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: any(production.var.rglob("postmaster.pid")) and _answers(production), 60)
        assert production.stop("database") == 0
        assert not any(production.var.rglob("postmaster.pid"))
        assert service.poll() == 0
    finally:
        production.close()


def _answers(production: Production) -> bool:
    return "passages" in production.run("sci-rag", "corpus", "stats")
