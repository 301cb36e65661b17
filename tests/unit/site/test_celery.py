"""How the worker is set up: a doorbell that may ring twice or not at all."""

from __future__ import annotations

from pathlib import Path

from sci_rag_site.celery import SCHEDULE, app, configuration


def test_messages_are_json_and_a_task_ends_before_it_is_acknowledged() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.result_backend is None


def test_a_broker_of_ones_own_replaces_the_files(tmp_path: Path) -> None:
    chosen = configuration(broker_url="redis://127.0.0.1:6379/0", directory=tmp_path / "broker")

    assert chosen["broker_url"] == "redis://127.0.0.1:6379/0"
    assert "data_folder_in" not in chosen["broker_transport_options"]
    assert not (tmp_path / "broker").exists()


def test_everything_on_the_schedule_exists() -> None:
    app.loader.import_default_modules()

    assert {entry["task"] for entry in SCHEDULE.values()} <= set(app.tasks)


def test_a_task_carries_no_countdown() -> None:
    assert not any("countdown" in entry.get("options", {}) for entry in SCHEDULE.values())
