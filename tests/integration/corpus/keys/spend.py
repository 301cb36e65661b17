"""A process of its own that uses one key from many threads at once: how often was it let through?

Arguments: name of the database, id of the key, its limit, threads, uses of each. Waits for a line first.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import django
from django.conf import settings

database, key, limit, threads, uses = sys.argv[1:]
settings.DATABASES["default"]["NAME"] = database
django.setup()

from django.db import connections  # noqa: E402

from corpus.keys import throttling  # noqa: E402
from corpus.keys.authentication import Caller  # noqa: E402

caller = Caller(key, None, frozenset(), int(limit))  # type: ignore[arg-type]


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def use(_: int) -> int:
    passed = 0
    for _number in range(int(uses)):
        try:
            throttling.count(caller)
            passed += 1
        except throttling.RateLimited:
            pass
        finally:
            connections.close_all()
    return passed


say("ready")
sys.stdin.readline()
with ThreadPoolExecutor(int(threads)) as pool:
    say(sum(pool.map(use, range(int(threads)))))
