"""How gunicorn serves the site, in a container and as a service alike: `gunicorn -c deploy/gunicorn.conf.py`.

WEB_CONCURRENCY says how many processes; gunicorn reads it itself.
"""

import os
from pathlib import Path

wsgi_app = "sci_rag_site.asgi:application"
worker_class = "uvicorn_worker.UvicornWorker"
bind = os.environ.get("SCI_RAG_BIND", "127.0.0.1:8000")
# Answers stream for minutes: what counts is that the process is alive, which it says between two events.
timeout = 120
# A stop lets answers that are being written end, within the patience of who stops it.
graceful_timeout = 25
keepalive = 75
# What leaks is given back some time, and not by all processes at once.
max_requests = 20_000
max_requests_jitter = 2_000
# Addresses hold questions: the site notes each request itself, by the name of its route.
accesslog = None
errorlog = "-"
# Files that tell a process is alive: in memory, so that a slow disk kills none.
_memory = Path("/dev/shm")  # noqa: S108
worker_tmp_dir = str(_memory) if _memory.is_dir() else None
control_socket_disable = True
