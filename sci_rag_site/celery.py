"""Background work. Messages carry ids only, may come twice or not at all: the database says what is due."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from celery import Celery, signals
from celery.schedules import crontab
from kombu.entity import Queue

from sci_rag_site import file_broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sci_rag_site.settings")

MINUTE = 60
QUEUES = ("light", "parse", "embed")
SCHEDULE: dict[str, dict[str, Any]] = {
    "say-that-the-worker-works": {"task": "site.heartbeat", "schedule": MINUTE},
    # One that comes late is of no use: the next is on its way.
    "sweep-jobs": {"task": "corpus.sweep_jobs", "schedule": 15, "options": {"expires": 15}},
    "close-abandoned-answers": {"task": "site.close_abandoned_answers", "schedule": 5 * MINUTE},
    "tell-of-retractions": {
        "task": "site.tell_of_retractions",
        "schedule": 10 * MINUTE,
        "options": {"expires": 10 * MINUTE},
    },
    "clear-expired-sessions": {
        "task": "site.clear_expired_sessions",
        "schedule": crontab(hour="3", minute="17"),
    },
    "verify-originals": {
        "task": "corpus.verify_originals",
        "schedule": 10 * MINUTE,
        "options": {"expires": 10 * MINUTE},
    },
    "check-sources": {
        "task": "corpus.check_sources",
        "schedule": 10 * MINUTE,
        "options": {"expires": 10 * MINUTE},
    },
    # Soon after midnight, and again for a machine that sleeps at night.
    "ask-about-embargoes": {
        "task": "corpus.ask_about_embargoes",
        "schedule": crontab(minute="7"),
        "options": {"expires": 60 * MINUTE},
    },
    "continue-graph-extraction": {
        "task": "retrieval.continue_extraction",
        "schedule": 2 * MINUTE,
        "options": {"expires": 2 * MINUTE},
    },
    "continue-evaluations": {
        "task": "evaluation.continue_runs",
        "schedule": 2 * MINUTE,
        "options": {"expires": 2 * MINUTE},
    },
    "continue-campaigns": {
        "task": "corpus.continue_campaigns",
        "schedule": MINUTE,
        "options": {"expires": MINUTE},
    },
    "certify-scopes": {
        "task": "site.certify_scopes",
        "schedule": MINUTE,
        "options": {"expires": MINUTE},
    },
    # Bells ring at once: this is for what is tried again.
    "deliver-webhooks": {
        "task": "corpus.deliver_webhooks",
        "schedule": 30,
        "options": {"expires": 30},
    },
    "forget-deliveries": {
        "task": "corpus.forget_deliveries",
        "schedule": crontab(hour="3", minute="37"),
    },
    "note-configuration": {
        "task": "site.note_configuration",
        "schedule": 5 * MINUTE,
        "options": {"expires": 5 * MINUTE},
    },
    "say-where-the-chain-ends": {
        "task": "site.say_where_the_chain_ends",
        "schedule": crontab(hour="3", minute="7"),
    },
    "drill-backups": {
        "task": "site.drill_backups",
        "schedule": crontab(hour="4", minute="17", day_of_week="sunday"),
    },
    "tidy-sign-ins": {"task": "site.tidy_sign_ins", "schedule": crontab(minute="37")},
    "trim-page-images": {"task": "site.trim_page_images", "schedule": crontab(minute="47")},
    "forget-taken-messages": {
        "task": "site.forget_taken_messages",
        "schedule": crontab(hour="3", minute="27"),
    },
}


def configuration(*, broker_url: str, directory: Path) -> dict[str, Any]:
    """Return Celery's settings; without a broker's address messages are files below `directory`."""
    # Whoever rings a bell does not wait for a broker that is down: the work is recorded already.
    patience = {"max_retries": 1, "interval_start": 0.0, "interval_step": 0.2, "interval_max": 0.5}
    broker: dict[str, Any] = {"broker_url": broker_url, "broker_transport_options": patience}
    if broker_url.startswith(("redis", "sentinel")):
        # Longer than any task may take, so that Redis does not deliver a running one again.
        patience |= {"visibility_timeout": 3 * 3600, "socket_connect_timeout": 3, "socket_timeout": 30}
    elif not broker_url:
        file_broker.register()
        broker = {
            "broker_url": f"{file_broker.NAME}://localhost",
            "broker_transport_options": file_broker.options(directory),
        }
    return {
        **broker,
        "accept_content": ["json"],
        "task_serializer": "json",
        "result_accept_content": ["json"],
        "result_backend": None,
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_max_tasks_per_child": 200,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "task_soft_time_limit": 600,
        "task_time_limit": 660,
        "task_default_queue": "light",
        # A worker serves all of them unless it is told otherwise with --queues.
        "task_queues": [Queue(name, routing_key=name) for name in QUEUES],  # type: ignore[no-untyped-call]
        "broker_connection_timeout": 4,
        "broker_connection_retry_on_startup": True,
        "timezone": "UTC",
        "beat_schedule": SCHEDULE,
    }


def _application() -> Celery:
    from django.conf import settings

    application = Celery("sci_rag", include=["sci_rag_site.tasks"])
    directory = settings.VAR_DIR / "broker"
    application.conf.update(configuration(broker_url=settings.CELERY_BROKER_URL, directory=directory))
    application.autodiscover_tasks()
    return application


@signals.setup_logging.connect
def _keep_the_sites_logging(**_: object) -> None:
    """Stop Celery from setting up logs of its own: Django's are set up already, without content."""


@signals.task_postrun.connect
def _enter_what_models_were_used_for(**_: object) -> None:
    """Have the calls of a task in the ledger before its process may end, as one does without notice."""
    from corpus.usage import ledger

    ledger.settle()


@signals.worker_ready.connect
def _show_signs_of_life(**_: object) -> None:
    app.send_task("site.heartbeat")
    # What an earlier worker on this machine held is free at once.
    app.send_task("corpus.sweep_jobs")


app = _application()
