"""What is shipped for production keeps to its promises: nobody is root, all is pinned, no secret is in it."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sci_rag_site.celery import QUEUES

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
INSTALLED = "/opt/sci-rag/app"


def dockerfile() -> list[tuple[str, str]]:
    """Return its instructions, continued lines put together."""
    text = re.sub(r"\\\n\s*", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def of(kind: str) -> list[str]:
    return [rest for word, rest in dockerfile() if word == kind]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


class TestTheImage:
    def test_its_base_is_named_to_the_patch(self) -> None:
        assert of("ARG") == ["BASE=python:3.11.14-slim-bookworm"]
        assert [line.split()[0] for line in of("FROM")] == ["${BASE}", "${BASE}"]

    def test_it_runs_as_nobody_in_particular(self) -> None:
        words = [word for word, _ in dockerfile()]
        assert of("USER") == ["10001:10001"]
        assert words.index("USER") < words.index("CMD")

    def test_every_package_is_held_to_its_hash(self) -> None:
        installs = [part for run in of("RUN") for part in run.split("&&") if "pip install" in part]
        assert all("--no-deps" in part for part in installs)
        assert all("--require-hashes -r requirements.lock" in part or " -e ." in part for part in installs)

    def test_it_says_whether_it_is_well(self) -> None:
        assert of("HEALTHCHECK")[0].endswith('CMD ["python", "deploy/healthcheck.py"]')

    def test_it_starts_without_a_shell_so_that_signals_arrive(self) -> None:
        assert of("CMD") == ['["gunicorn", "-c", "deploy/gunicorn.conf.py"]']

    def test_no_setting_and_no_data_can_get_into_it(self) -> None:
        rules = (DEPLOY / "Dockerfile.dockerignore").read_text().split("\n")
        let_in = {line[1:] for line in rules if line.startswith("!")}

        assert "*" in rules
        assert not {".env", ".git", "var", ".venv", "tests", "deploy"} & let_in
        assert [name for name in sorted(let_in) if not (ROOT / name).exists()] == []
        assert not re.search(r"(?i)(password|secret|token)\w*=\S", "\n".join(of("ENV") + of("ARG")))


class TestTheServices:
    def test_every_image_is_pinned(self, compose: dict[str, Any]) -> None:
        images = {service["image"] for service in compose["services"].values()}
        assert images == {"sci-rag:local", "pgvector/pgvector:0.8.6-pg18", "redis:7.4.6-alpine"}

    def test_no_password_stands_in_the_file(self, compose: dict[str, Any]) -> None:
        text = (DEPLOY / "compose.yaml").read_text()
        assert re.findall(r"PASSWORD: (?!\$\{POSTGRES_PASSWORD:\?)", text) == []
        assert re.findall(r"postgres://\w+:(?!\$\{POSTGRES_PASSWORD)", text) == []

    def test_only_the_site_has_a_port_and_on_this_machine_alone(self, compose: dict[str, Any]) -> None:
        ports = {name: service.get("ports") for name, service in compose["services"].items()}
        assert {name: found for name, found in ports.items() if found} == {"web": ["127.0.0.1:8000:8000"]}

    @pytest.mark.parametrize("name", ["migrate", "web", "worker", "schedule"])
    def test_ours_have_no_rights_they_do_not_need(self, compose: dict[str, Any], name: str) -> None:
        service = compose["services"][name]
        assert service["cap_drop"] == ["ALL"]
        assert service["read_only"] is True
        assert "no-new-privileges:true" in service["security_opt"]

    @pytest.mark.parametrize("name", ["web", "worker", "schedule"])
    def test_nothing_starts_before_the_database_is_up_to_date(
        self, compose: dict[str, Any], name: str
    ) -> None:
        waits = compose["services"][name]["depends_on"]
        assert waits["migrate"] == {"condition": "service_completed_successfully"}
        assert compose["services"]["migrate"]["depends_on"]["database"] == {"condition": "service_healthy"}

    @pytest.mark.parametrize("name", ["database", "broker"])
    def test_what_is_waited_for_says_whether_it_is_well(self, compose: dict[str, Any], name: str) -> None:
        assert compose["services"][name]["healthcheck"]["test"][0] == "CMD"


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text())
    return parser


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
class TestTheUnits:
    def test_it_runs_under_an_account_of_its_own_that_can_change_little(self, path: Path) -> None:
        service = unit(path)["Service"]
        assert (service["User"], service["ProtectSystem"], service["NoNewPrivileges"]) == (
            "sci-rag", "strict", "yes",
        )  # fmt: skip
        assert (service["CapabilityBoundingSet"], service["StateDirectory"]) == ("", "sci-rag")

    def test_it_comes_back_after_a_fault(self, path: Path) -> None:
        assert unit(path)["Service"]["Restart"] in ("always", "on-failure")

    def test_systemd_can_read_it(self, path: Path, tmp_path: Path) -> None:
        if shutil.which("systemd-analyze") is None:
            pytest.skip("needs systemd-analyze")
        for program in ("sci-rag", "gunicorn", "celery"):
            (tmp_path / program).symlink_to("/bin/true")
        copy = tmp_path / path.name
        copy.write_text(path.read_text().replace(f"{INSTALLED}/.venv/bin", str(tmp_path)))

        said = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False
        )
        assert (said.returncode, said.stderr) == (0, "")


def test_image_services_and_units_start_the_same_programs(compose: dict[str, Any]) -> None:
    started = {
        path.stem.removeprefix("sci-rag-"): unit(path)["Service"]["ExecStart"].removeprefix(
            f"{INSTALLED}/.venv/bin/"
        )
        for path in UNITS
    }
    for name in ("web", "worker", "schedule"):
        assert " ".join(compose["services"][name]["command"]) == started[name]


def test_one_schedule_and_workers_that_serve_every_queue() -> None:
    lines = {path.stem: unit(path)["Service"]["ExecStart"] for path in UNITS}

    assert [name for name, line in lines.items() if " beat " in line] == ["sci-rag-schedule"]
    assert "--queues" not in lines["sci-rag-worker"]
    assert QUEUES == ("light", "parse", "embed")


def test_nginx_takes_the_file(tmp_path: Path) -> None:
    if (nginx := shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")) is None:
        pytest.skip("needs nginx: apt-get install nginx-light")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", "sci-rag.key", "-out", "sci-rag.crt", "-days", "1", "-subj", "/CN=papers.example.org"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    site = (DEPLOY / "nginx.conf").read_text()
    site = site.replace("/etc/nginx/", f"{tmp_path}/").replace("/var/log/nginx/", f"{tmp_path}/")
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{site}\n}}\n")

    said = subprocess.run(
        [nginx, "-t", "-q", "-e", f"{tmp_path}/error.log", "-c", f"{tmp_path}/nginx.conf"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (said.returncode, said.stderr) == (0, "")


def test_the_proxy_says_who_asks_and_lets_nobody_say_so_themselves() -> None:
    text = (DEPLOY / "nginx.conf").read_text()

    assert "proxy_set_header X-Forwarded-For $remote_addr;" in text
    assert "$proxy_add_x_forwarded_for" not in text
    assert "proxy_set_header X-Forwarded-Proto $scheme;" in text
    # A log format without the request line: questions stand in addresses.
    assert not re.search(r"log_format[^;]*\$(request|request_uri|args|uri|http_referer)\b", text)


def test_the_template_of_settings_names_settings_and_holds_none() -> None:
    lines = [
        line for line in (DEPLOY / "env.template").read_text().splitlines() if "=" in line and line[0] != "#"
    ]
    known = (ROOT / ".env.example").read_text()
    names = {line.partition("=")[0]: line.partition("=")[2] for line in lines}

    assert {name: value for name, value in names.items() if value} == {"WEB_CONCURRENCY": "2"}
    ours = set(names) - {"WEB_CONCURRENCY", "POSTGRES_PASSWORD"}
    assert [name for name in sorted(ours) if f"{name}=" not in known] == []
