"""A site as `deploy/` sets it up, without containers or systemd: the commands of its units, behind nginx."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from tests.integration.site.conftest import ROOT

NAME = "papers.example.org"
DEPLOY = ROOT / "deploy"
INSTALLED, KEPT = "/opt/sci-rag/app/.venv/bin/", "/var/lib/sci-rag"
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
REDIS = shutil.which("redis-server")
PASSWORD, TOKEN = "correct horse battery", "t" * 40


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(happened: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError, httpx.HTTPError):
            if happened():
                return
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


def answers_at(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return True


class Production:
    """Services in process groups of their own, everything below `folder`. Ended by `close`."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.var = folder, folder / "var"
        self.var.mkdir()
        self.site_port, self.port, self.plain_port = free_port(), free_port(), free_port()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "SECRET_KEY": "production-" + "k7" * 32,
            "ALLOWED_HOSTS": NAME,
            "CSRF_TRUSTED_ORIGINS": f"https://{NAME}",
            "SCI_RAG_VAR_DIR": str(self.var),
            "SCI_RAG_BIND": f"127.0.0.1:{self.site_port}",
            "SCI_RAG_METRICS_TOKEN": TOKEN,
            "SCI_RAG_LOG_FORMAT": "json",
            "WEB_CONCURRENCY": "2",
            **settings,
        }
        self.services: dict[str, subprocess.Popen[bytes]] = {}
        self._browsers: list[Browser] = []

    def run(self, *words: str, given: str = "") -> str:
        """Run a command of the site to its end."""
        done = subprocess.run(
            [str(Path(sys.executable).parent / words[0]), *words[1:]],
            cwd=ROOT, env=self.environment, input=given, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, unit: str) -> subprocess.Popen[bytes]:
        """Start what a unit says."""
        text = (DEPLOY / "systemd" / f"sci-rag-{unit}.service").read_text()
        (line,) = re.findall(r"^ExecStart=(.+)$", text, re.MULTILINE)
        line = line.replace(INSTALLED, f"{Path(sys.executable).parent}/").replace(KEPT, str(self.var))
        return self.begin(unit, *shlex.split(line))

    def begin(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        """Start a program in a process group of its own."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self.services[name] = process
        return process

    def start_proxy(self) -> None:
        """Start nginx with the shipped file: other ports and folders, and a certificate made just now."""
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-keyout", "sci-rag.key", "-out", "sci-rag.crt", "-days", "1", "-subj", f"/CN={NAME}",
             "-addext", f"subjectAltName=DNS:{NAME}"],
            cwd=self.folder, check=True, capture_output=True,
        )  # fmt: skip
        site = (DEPLOY / "nginx.conf").read_text()
        site = site.replace("/etc/nginx/", f"{self.folder}/").replace("/var/log/nginx/", f"{self.folder}/")
        site = re.sub(r"listen \[::\]:.*;", "", site).replace("127.0.0.1:8000", f"127.0.0.1:{self.site_port}")
        site = site.replace("listen 443", f"listen 127.0.0.1:{self.port}")
        site = site.replace("listen 80;", f"listen 127.0.0.1:{self.plain_port};")
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        own = "\n".join(f"{kind}_temp_path {self.folder}/nginx-{kind};" for kind in kinds)
        (self.folder / "nginx.conf").write_text(
            f"pid {self.folder}/nginx.pid;\ndaemon off;\nevents {{}}\nhttp {{\n{own}\n{site}\n}}\n"
        )
        self.begin("nginx", str(NGINX), "-e", f"{self.folder}/error.log", "-c", f"{self.folder}/nginx.conf")
        wait_for(lambda: answers_at(self.port))

    def browser(self) -> Browser:
        """Return somebody with a browser, not signed in."""
        self._browsers.append(Browser(self))
        return self._browsers[-1]

    def stop(self, name: str, patience: float = 60) -> int:
        """Tell a service to end as systemd does, and return how it ended."""
        process = self.services.pop(name)
        process.terminate()
        try:
            return process.wait(patience)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        """End everything."""
        for browser in self._browsers:
            browser.client.close()
        for name in reversed(list(self.services)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop(name)


class Browser:
    """A client that trusts the certificate, and believes that the name leads to this machine."""

    def __init__(self, production: Production) -> None:
        trusted = ssl.create_default_context(cafile=str(production.folder / "sci-rag.crt"))
        self.client = httpx.Client(
            base_url=f"https://127.0.0.1:{production.port}",
            headers={"Host": NAME, "Referer": f"https://{NAME}/"},
            verify=trusted,
            timeout=60,
        )
        self.cookies: dict[str, str] = {}

    def send(self, method: str, path: str, **options: object) -> httpx.Response:
        """Send a request and keep the cookies, which are for the name and not for the address."""
        request = self._request(method, path, **options)
        response = self.client.send(request)
        self._keep(response)
        return response

    def stream(self, path: str, form: dict[str, str]) -> list[tuple[float, str]]:
        """Post a form and return what arrives, each piece with when."""
        headers = {"HX-Request": "true", "Accept": "text/event-stream"}
        request = self._request("POST", path, data=form, headers=headers)
        response = self.client.send(request, stream=True)
        assert response.status_code == 200, response.status_code
        assert response.headers["content-type"].startswith("text/event-stream")
        pieces = [(time.monotonic(), piece) for piece in response.iter_text()]
        response.close()
        return pieces

    def token(self, path: str) -> str:
        """Return what a page's form has to be sent with."""
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.send("GET", path).text)
        assert found is not None
        return found[1]

    def sign_in(self, name: str) -> httpx.Response:
        form = {"username": name, "password": PASSWORD, "csrfmiddlewaretoken": self.token("/sign-in/")}
        return self.send("POST", "/sign-in/", data=form)

    def _request(self, method: str, path: str, **options: object) -> httpx.Request:
        request = self.client.build_request(method, path, **options)  # type: ignore[arg-type]
        request.extensions["sni_hostname"] = NAME
        if self.cookies:
            request.headers["Cookie"] = "; ".join(f"{key}={value}" for key, value in self.cookies.items())
        return request

    def _keep(self, response: httpx.Response) -> None:
        for line in response.headers.get_list("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            assert "Secure" in line, line
            self.cookies[name] = value
        self.client.cookies.clear()
