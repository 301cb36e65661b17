"""How the database and its replica are connected to, and what is refused at start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PRIMARY = {
    "DATABASE_URL": "postgres://site:k2Jd8s@db.example.org/site?sslmode=verify-full",
    "SECRET_KEY": "x7Kq" * 16,
}


def read(**values: str) -> subprocess.CompletedProcess[str]:
    said = "import json, sci_rag_site.settings as s; print(json.dumps(s.DATABASES))"
    environment = {"PATH": os.environ["PATH"], "SCI_RAG_VAR_DIR": os.environ["SCI_RAG_VAR_DIR"], **values}
    return subprocess.run(
        [sys.executable, "-c", said], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_what_the_addresses_say_of_tls_stays_beside_the_pools() -> None:
    replica = "postgres://site:k2Jd8s@replica.example.org/site?sslmode=require"
    told = json.loads(read(**PRIMARY, SCI_RAG_REPLICA_URL=replica).stdout)

    assert told["default"]["OPTIONS"]["sslmode"] == "verify-full"
    assert told["default"]["OPTIONS"]["pool"]["max_size"] == 16
    assert told["replica"]["OPTIONS"]["sslmode"] == "require"
    # Nobody waits long for a replica that is gone.
    assert told["replica"]["OPTIONS"]["connect_timeout"] <= 2
    assert told["replica"]["OPTIONS"]["pool"]["timeout"] <= 2
    assert told["replica"]["CONN_HEALTH_CHECKS"] is True


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"SCI_RAG_REPLICA_URL": "postgres://a:b@c/d"}, "SCI_RAG_REPLICA_URL is set and DATABASE_URL is not"),
        ({"SCI_RAG_METRICS_TOKEN": "short"}, "SCI_RAG_METRICS_TOKEN is shorter than 32 characters"),
    ],
)
def test_what_cannot_work_is_refused_at_start(values: dict[str, str], said: str) -> None:
    ended = read(**values)

    assert ended.returncode != 0
    assert said in ended.stderr
