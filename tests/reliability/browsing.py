"""A site that serves pages, and somebody signed in to it who sends files as a browser does."""

from __future__ import annotations

import contextlib
import html
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.integration.site.conftest import ROOT
from tests.reliability.conftest import Site

PASSWORD = "correct horse battery"
_ACCOUNT = f"""
import django; django.setup()
from django.contrib.auth.models import Group, User
user = User.objects.create_user("librarian", password={PASSWORD!r})
user.groups.add(Group.objects.get(name="librarian"))
"""
_LINE = re.compile(r'<li class="upload-line (\w+)".*?</li>', re.DOTALL)
_CODE = re.compile(r"<code>(\w+)</code>")
_ROW = re.compile(r'<tr id="file-\d+">.*?</tr>', re.DOTALL)
_OUTCOME = re.compile(r'class="badge outcome-(\w+)"')


@dataclass(frozen=True)
class Told:
    """What a page says of one file."""

    verdict: str
    code: str
    words: str


class ServedSite:
    """`sci-rag up` in a process group of its own, on the folder of a `Site`."""

    def __init__(self, site: Site) -> None:
        self.site = site
        subprocess.run([sys.executable, "-c", _ACCOUNT], cwd=ROOT, env=site.environment, check=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.log = site.folder / "site.log"
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "sci_rag_site", "up", "--port", str(port)],
                cwd=ROOT, env=site.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._wait(lambda: httpx.get(f"{self.address}/healthz").status_code == 200)
        self._wait(lambda: bool(self.workers()))

    def _wait(self, happened: object) -> None:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if happened():  # type: ignore[operator]
                    return
            assert self._process.poll() is None, self.log.read_text(errors="replace")[-2_000:]
            assert time.monotonic() < deadline, "the site did not start"
            time.sleep(0.1)

    def workers(self) -> list[int]:
        """Return the worker processes that the site has started, their pools not counted."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        everyone = [
            int(pid) for task in children.parent.parent.glob("*/children") for pid in task.read_text().split()
        ]
        return [
            pid for pid in everyone if b"sci_rag_site.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]

    def is_alive(self) -> bool:
        """Say whether the process that serves pages is the one that was started."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the site and all that belongs to it."""
        self._process.terminate()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Librarian:
    """Somebody with a session and the pages to send files with."""

    def __init__(self, address: str) -> None:
        self._client = httpx.Client(base_url=address, timeout=120, follow_redirects=True)
        self.statuses: list[int] = []
        # Addresses that answered without a number to quote.
        self.unnumbered: list[str] = []
        token = self._token("/sign-in/")
        form = {"username": "librarian", "password": PASSWORD, "csrfmiddlewaretoken": token}
        assert "Sign out" in self._client.post("/sign-in/", data=form).text
        self._csrf = self._token("/documents/upload/")

    def __enter__(self) -> Librarian:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _token(self, path: str) -> str:
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self._client.get(path).text)
        assert found is not None, path
        return found[1]

    def post(self, path: str, files: list[tuple[str, bytes, bytes]], **fields: str) -> httpx.Response:
        """Send a form whose files may have any name that a file system allows."""
        boundary = "----" + os.urandom(16).hex()
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in (fields | {"csrfmiddlewaretoken": self._csrf}).items()
        ]
        for field, name, content in files:
            # The three that browsers write as percent signs; the other bytes go as they are.
            shown = name.replace(b'"', b"%22").replace(b"\n", b"%0A").replace(b"\r", b"%0D")
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"; filename="'.encode()
            tail = b'"\r\nContent-Type: application/octet-stream\r\n\r\n'
            parts.append(head + shown + tail + content + b"\r\n")
        body = b"".join([*parts, f"--{boundary}--\r\n".encode()])
        kind = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Referer": str(self._client.base_url),
        }
        return self._noted(self._client.post(path, content=body, headers=kind))

    def page(self, path: str) -> httpx.Response:
        """Look at a page."""
        return self._noted(self._client.get(path))

    def _noted(self, response: httpx.Response) -> httpx.Response:
        self.statuses.append(response.status_code)
        if not response.headers.get("X-Request-ID"):
            self.unnumbered.append(response.url.path)
        return response

    def files_of(self, run: str) -> list[Told]:
        """Return what the page of a run says of its files, all of its pages read."""
        told: list[Told] = []
        for number in range(1, 100):
            text = self.page(f"/runs/{run}/?page={number}").text
            told += [_told(row, _OUTCOME) for row in _ROW.findall(text)]
            if f"?page={number + 1}" not in html.unescape(text):
                break
        return told


def lines_of(text: str) -> list[Told]:
    """Return what an upload page says of the files sent."""
    return [_told(match[0], re.compile(r'class="upload-line (\w+)"')) for match in _LINE.finditer(text)]


def _told(text: str, verdict: re.Pattern[str]) -> Told:
    found, code = verdict.search(text), _CODE.search(text)
    words = html.unescape(re.sub(r"<[^>]+>", " ", text))
    return Told(found[1] if found else "", code[1] if code else "", " ".join(words.split()))
