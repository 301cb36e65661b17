"""Messages to the worker as files: the broker of a site on one machine.

Celery's file transport, with messages that appear whole: the original writes them in place, where a
quick reader finds half of one. It keeps no count of what a killed worker had taken, so a task is a
reminder only and what is to be done stands in the database.
"""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem

NAME = "files"
KEEP_TAKEN = 24 * 3600
# Looking into a folder is cheap; the usual second would stand between two tasks.
POLL_SECONDS = 0.1


class Channel(filesystem.Channel):
    """Where messages are put and taken."""

    def _put(self, queue: str, payload: dict[str, Any], **_: Any) -> None:  # type: ignore[override]
        # Nanoseconds of the wall clock keep the order over a restart of the machine.
        name = f"{time.time_ns():020d}_{uuid.uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        draft = folder / f".{name}"
        draft.write_text(json.dumps(payload))
        draft.replace(folder / name)


class Transport(filesystem.Transport):
    """The file transport with `Channel`."""

    Channel = Channel


def register() -> None:
    """Make the transport known under its name."""
    TRANSPORT_ALIASES[NAME] = f"{__name__}:Transport"


def options(directory: Path) -> dict[str, Any]:
    """Return the transport's options for messages below `directory`, which is made private."""
    folders = {name: directory / name for name in ("messages", "taken", "control")}
    for folder in (directory, *folders.values()):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "data_folder_in": str(folders["messages"]),
        "data_folder_out": str(folders["messages"]),
        "processed_folder": str(folders["taken"]),
        "control_folder": str(folders["control"]),
        "store_processed": True,
        "polling_interval": POLL_SECONDS,
    }


def waiting(directory: Path) -> tuple[int, float]:
    """Return how many messages wait and the age of the oldest in seconds."""
    written = [int(path.name.partition("_")[0]) for path in (directory / "messages").glob("*.msg")]
    written = [moment for moment in written if moment > 0]
    return len(written), max(0.0, time.time() - min(written) / 1e9) if written else 0.0


def forget_taken(directory: Path) -> int:
    """Remove messages that were taken long ago; return how many."""
    removed = 0
    for path in (directory / "taken").glob("*.msg"):
        if time.time() - path.stat().st_mtime > KEEP_TAKEN:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
