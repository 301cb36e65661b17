"""Fixtures shared by all tests: the people, and sockets that reach the loopback range only."""

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pgtrigger
import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from pytest_django.plugin import DjangoDbBlocker

from tests.emptying import Emptying
from tests.loopback.fixtures import (  # noqa: F401 fixtures for every test
    KEY_CANARY,
    configured_model,
    model_server,
    sign_in_provider,
    trap,
)

# How fast a busy machine draws examples says nothing of them. The gate looks at the same ones each time, so
# that what it lets in stays in; elsewhere they vary.
_PATIENT = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("varied", deadline=None, suppress_health_check=_PATIENT)
hypothesis.settings.register_profile("gate", hypothesis.settings.get_profile("varied"), derandomize=True)
hypothesis.settings.load_profile("gate" if os.environ.get("CI") else "varied")

SHARED = Path(__file__).resolve().parents[2] / "shared"


class SaidAtOnce:
    """Names each failure when it happens: a run that is broken off has then said what it knew."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = f"{crash.path}:{crash.lineno}: {crash.message}" if crash else str(report.longrepr)[-300:]
            self._terminal().write_line(f"\n{report.when} of {report.nodeid} failed: {reason[:500]}")

    def _terminal(self) -> pytest.TerminalReporter:
        return self._config.pluginmanager.getplugin("terminalreporter")


def pytest_configure(config: pytest.Config) -> None:
    """Watch the reports where they are printed, not in each process that makes them."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SaidAtOnce(config))


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Iterator[None]:
    """Let what a test printed or failed with reach the process that reports, whatever is in it."""
    return _speakable((yield))


def _speakable(value: object) -> object:
    """Return what the processes of a run tell each other, with lone surrogates written as escapes."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_speakable(key): _speakable(item) for key, item in value.items()}
        case list() | tuple():
            return [_speakable(item) for item in value]
    return value


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real papers and records; tests that need it skip where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("needs the shared data folder beside the checkout")
    return SHARED / "data"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Let what only grows be emptied between transactional tests; its tests arm the triggers again."""
    with django_db_blocker.unblock():
        pgtrigger.disable(
            "corpus.RightsDecision:no_truncate",
            "corpus.CorpusSnapshot:no_truncate",
            "retrieval.ResolutionAudit:no_truncate",
            "evaluation.QuestionEvent:no_truncate",
        )
    Emptying().install()


def _person(name: str, group: str) -> User:
    user = User.objects.create_user(name, password="correct horse battery")
    user.groups.add(Group.objects.get(name=group))
    return user


@pytest.fixture
def asker(db: None) -> User:
    return _person("asker", "asker")


@pytest.fixture
def librarian(db: None) -> User:
    return _person("librarian", "librarian")


@pytest.fixture
def administrator(db: None) -> User:
    return _person("administrator", "administrator")


@pytest.fixture
def expert(db: None) -> User:
    return _person("expert", "expert")


class SecretWatch(logging.Handler):
    """Notes every line of the log in which a key stands: a program's, or the provider's that tests use."""

    SECRETS = re.compile(rf"sr_[a-z2-7]{{8}}_[\w-]{{43}}|{KEY_CANARY}")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        # Django names the address that was asked for, in which anything may stand; our handler hides it. Of
        # an exception our handler says the type alone.
        if not record.name.startswith("django.") and self.SECRETS.search(record.getMessage()):
            self.found.append(f"{record.name}: {record.msg!r:.80}")


@pytest.fixture(scope="session")
def secret_watch() -> Iterator[SecretWatch]:
    watch = SecretWatch()
    logging.getLogger().addHandler(watch)
    yield watch
    logging.getLogger().removeHandler(watch)


@pytest.fixture(autouse=True)
def _no_secret_in_a_log(secret_watch: SecretWatch) -> Iterator[None]:
    """Whatever a test does, no key gets into a log."""
    yield
    found, secret_watch.found = secret_watch.found, []
    assert found == []


@pytest.fixture(autouse=True)
def _as_talkative_as_configured() -> None:
    """A command lets the logs of its process be quieter from then on, and that process is the tests’ here."""
    logging.getLogger().setLevel(settings.LOGGING["root"]["level"])
