"""The site as it is run in production, in processes of its own, and a model that takes its time."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_SCRIPTS = Path(sys.executable).parent
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Running:
    """A running site: its port, its process, and its worker's, which `sci-rag up` starts itself."""

    port: int
    process: int
    worker: int


@contextmanager
def model(*, pace: float, tokens: int) -> Iterator[str]:
    """Run a model that writes `pace` tokens a second to everybody; yield its address."""
    port = free_port()
    command = [sys.executable, "-m", "tests.loopback.steady_model", str(port), str(pace), str(tokens)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


@contextmanager
def site(
    model: str, *, workers: int = 0, more: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[Running]:
    """Run site and worker.

    With `workers`, by gunicorn and Celery as section 8 of docs/operating.md runs them; else by `sci-rag up`.
    """
    port = free_port()
    environment = os.environ | {
        "SCI_RAG_LLM_MODEL": "openai/steady",
        "SCI_RAG_LLM_API_BASE": model,
        "SCI_RAG_LLM_API_KEY": "sk-benchmark",
        "SCI_RAG_LOG_LEVEL": "ERROR",
        **(more or {}),
    }
    if not workers:
        command = [sys.executable, "-m", "sci_rag_site", "up", "--port", str(port)]
        with _running(command, environment, log) as up:
            wait_for(port, up)
            yield Running(port, up.pid, up.pid)
        return
    web = [str(_SCRIPTS / "gunicorn"), "sci_rag_site.asgi:application", "-k", "uvicorn_worker.UvicornWorker"]
    web += ["--workers", str(workers), "--bind", f"127.0.0.1:{port}", "--log-level", "error"]
    schedule = Path(environment["SCI_RAG_VAR_DIR"]) / "schedule"
    work = [str(_SCRIPTS / "celery"), "-A", "sci_rag_site", "--quiet", "worker", "--beat", "-c", "2"]
    with (
        _running(web, environment, log) as process,
        _running([*work, "--schedule", str(schedule)], environment, log) as worker,
    ):
        wait_for(port, process)
        yield Running(port, process.pid, worker.pid)


@contextmanager
def _running(
    command: Sequence[str], environment: Mapping[str, str], log: Path | None
) -> Iterator[subprocess.Popen[bytes]]:
    with ExitStack() as stack:
        said = None if log is None else stack.enter_context(log.open("ab"))
        # What it complains of is wanted; what a worker prints at its start is not.
        process = stack.enter_context(
            subprocess.Popen(command, cwd=ROOT, env=dict(environment), stdout=subprocess.DEVNULL, stderr=said)
        )
        try:
            yield process
        finally:
            process.terminate()


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until `process` listens at `port`; end the benchmark when it has ended or does not."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit("The site has ended; what it said stands above.")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    sys.exit("The site did not start.")


def sessions(count: int) -> list[str]:
    """Make `count` askers and return the key of a session of each."""
    from django.conf import settings
    from django.contrib.auth.models import Group, User
    from django.test import Client

    keys = []
    for number in range(count):
        user = User.objects.filter(username=f"asker-{number}").first() or User(username=f"asker-{number}")
        user.set_unusable_password()
        user.save()
        user.groups.add(Group.objects.get(name="asker"))
        client = Client()
        client.force_login(user)
        keys.append(client.cookies[settings.SESSION_COOKIE_NAME].value)
    return keys


def family(process: int) -> list[int]:
    """Return `process` and all that came of it."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _fields(int(folder.name))):
            parents.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [process]
    for one in found:
        found += parents.get(one, [])
    return found


def processor_seconds(*processes: int, ended: bool = False) -> float:
    """Return what the processes have used of the processors; with `ended`, also their ended children."""
    used = 0
    for process in processes:
        fields = _fields(process)
        used += sum(map(int, fields[11 : 15 if ended else 13]))
    return used / _TICKS


def resident_mb(processes: Iterable[int]) -> float:
    """Return the memory that is the processes' own, and their part of what they share, in MB."""
    total = 0
    for process in processes:
        with suppress(OSError):
            lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def entries(processes: Iterable[int], folder: str) -> int:
    """Return how many files (`fd`) or threads (`task`) the processes have."""
    total = 0
    for process in processes:
        with suppress(OSError):
            total += sum(1 for _ in Path(f"/proc/{process}/{folder}").iterdir())
    return total


def _fields(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
