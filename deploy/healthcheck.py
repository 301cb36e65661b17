"""Ask the site in this container whether it answers; exit with 1 when it does not."""

import os
import sys
import urllib.request

port = os.environ.get("SCI_RAG_BIND", "127.0.0.1:8000").rpartition(":")[2]
# By its public name and as over TLS: anything else is refused or redirected.
host = os.environ.get("ALLOWED_HOSTS", "127.0.0.1").partition(",")[0]
request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz")
request.add_header("Host", host)
request.add_header("X-Forwarded-Proto", "https")
try:
    with urllib.request.urlopen(request, timeout=4) as response:  # noqa: S310
        sys.exit(response.status != 200)
except OSError as error:
    sys.exit(f"The site does not answer: {error}")
