"""Logs of the site: one event a line, ids and numbers only.

Questions, passages and answers never reach a log: `drop_content` removes the keys that would carry
them, exceptions are logged by type and place without their message (databases quote values in theirs),
and access logs, whose addresses hold questions, are off. Nor do secrets: values under their names are
dropped, and a key of ours is cut off wherever it stands in a line, the address of a request for one.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any

import structlog

from corpus.keys.secret import hidden

CONTENT_KEYS = frozenset(
    {"text", "query", "question", "prompt", "answer", "body", "content"}
    | {"secret", "password", "token", "authorization", "cookie", "api_key"}
)
LONGEST_VALUE = 500
FRAMES = 12

Event = MutableMapping[str, Any]
# At DEBUG these print statements and requests with everything in them, or a line for each heartbeat.
TALKATIVE = ("django.db", "httpx", "httpx2", "httpcore", "celery", "kombu")
# What these say quotes addresses, in which questions stand, prompts, or what was sent to a tool.
SILENT = (
    "uvicorn.access", "gunicorn.access", "django.server", "litellm", "LiteLLM", "LiteLLM Router",
    "mcp", "sse_starlette",
)  # fmt: skip


def drop_content(_logger: object, _method: str, event: Event) -> Event:
    """Remove what people wrote or documents say; name the keys, so that the caller is noticed."""
    found = sorted(CONTENT_KEYS & event.keys())
    for key in found:
        del event[key]
    if found:
        event["dropped"] = found
    return event


def describe_exception(_logger: object, _method: str, event: Event) -> Event:
    """Replace an exception by its types and places. Its message may quote what must not be logged."""
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    if isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if info and info[1] is not None:
        event["exception"] = [_one_exception(error) for error in _chain(info[1])]
    event.pop("stack_info", None)
    return event


def _chain(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found and len(found) < 5:
        found.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def _one_exception(error: BaseException) -> dict[str, Any]:
    described: dict[str, Any] = {"type": f"{type(error).__module__}.{type(error).__qualname__}"}
    for name in ("sqlstate", "code", "errno"):
        if isinstance(value := getattr(error, name, None), (int, str)):
            described[name] = value
    described["at"] = _places(error.__traceback__)
    return described


def _places(trace: TracebackType | None) -> list[str]:
    return [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(trace)[-FRAMES:]]


class TaskFailures(logging.Filter):
    """Keep name and id of a failed task; Celery's own line repeats the exception's message."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            data = getattr(record, "data", {})
            record.msg = f"task.failed {data.get('name', '')} {data.get('id', '')}"
            record.args = ()
        return True


class ClientFaults(logging.Filter):
    """Take what Django refused of a request for a warning: anybody can cause it, and nothing failed."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        if record.name.startswith(("django.security.", "django.request")) and record.levelno < logging.ERROR:
            # A form that is damaged, a page one may not see: where in the code that was noticed helps nobody.
            record.exc_info = None
        return True


def limit_values(_logger: object, _method: str, event: Event) -> Event:
    """Keep one event on one line of bounded length, whatever a header or file name holds."""
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = value[:LONGEST_VALUE].encode("unicode_escape").decode()
    return event


def hide_secrets(_logger: object, _method: str, line: Any) -> Any:
    """Cut keys off in the line as it is written, so that nothing below can bring one in."""
    return hidden(line) if isinstance(line, str) else line


SHARED: list[structlog.types.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    drop_content,
    describe_exception,
    limit_values,
]


def configuration(*, level: str, form: str) -> dict[str, Any]:
    """Return Django's LOGGING and set structlog up to end in the same place.

    `form` is `json`, `console`, or `auto`: console on a terminal, JSON elsewhere.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    renderer = structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer(default=str)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "events": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    renderer,
                    hide_secrets,
                ],
            }
        },
        "filters": {"task_failures": {"()": TaskFailures}, "client_faults": {"()": ClientFaults}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "events",
                "filters": ["client_faults"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            **{name: {"handlers": [], "propagate": False, "level": "CRITICAL"} for name in SILENT},
            **{name: {"level": "WARNING"} for name in TALKATIVE},
            "celery.app.trace": {"level": "WARNING", "filters": ["task_failures"]},
            **{name: {"handlers": [], "propagate": True} for name in ("uvicorn", "uvicorn.error", "django")},
        },
    }
