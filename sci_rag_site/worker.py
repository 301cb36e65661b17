"""The worker process of `sci-rag up`: Celery with its scheduler, ending when its parent does."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

PATIENCE = 1.0
# One reads or stores while the other embeds, and something small does not wait behind a book.
PROCESSES = 2


def _end_with(parent: int) -> None:
    """End this process group when the parent is gone: a killed `sci-rag up` leaves no worker behind."""
    while os.getppid() == parent:
        time.sleep(PATIENCE)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Run until told to stop."""
    from celery.platforms import SecurityWarning

    # Running as root is what containers do; messages are JSON, so the warned-of pickle is not accepted.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()

    from django.conf import settings

    from sci_rag_site.celery import app

    schedule = Path(settings.VAR_DIR) / "broker" / "schedule"
    schedule.parent.mkdir(parents=True, exist_ok=True)
    app.worker_main(
        [
            "--quiet", "worker", "--beat", f"--schedule={schedule}", f"--concurrency={PROCESSES}",
            "--without-gossip", "--without-mingle", "--without-heartbeat", *sys.argv[1:],
        ]
    )  # fmt: skip


if __name__ == "__main__":
    main()
