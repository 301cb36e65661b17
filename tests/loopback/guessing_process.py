"""Twenty threads that try passwords at once, in a process of their own on the tests' database.

Arguments: name of the database, the account's name, how many threads. Waits for a line on standard input, so
that several processes begin together, and prints how many attempts reached the comparison of passwords.
"""

import sys
import threading

import django
from django.conf import settings

database, name, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
settings.DATABASES["default"]["NAME"] = database
django.setup()

from django.contrib.auth import authenticate  # noqa: E402
from django.contrib.auth.hashers import MD5PasswordHasher  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import RequestFactory  # noqa: E402

reached: list[str] = []
compare, make = MD5PasswordHasher.verify, MD5PasswordHasher.encode


def verify(self: MD5PasswordHasher, password: str, encoded: str) -> bool:
    reached.append(password)
    return compare(self, password, encoded)


MD5PasswordHasher.verify = verify  # type: ignore[method-assign]


def guess(number: int, start: threading.Barrier) -> None:
    request = RequestFactory().post("/sign-in/")
    start.wait()
    try:
        authenticate(request, username=name, password=f"guess {number}")
    finally:
        connection.close()


def main() -> None:
    start = threading.Barrier(threads)
    crowd = [threading.Thread(target=guess, args=(number, start)) for number in range(threads)]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    sys.stdout.write(f"{len(reached)}\n")


if __name__ == "__main__":
    main()
