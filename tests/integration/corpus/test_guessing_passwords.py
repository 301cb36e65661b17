"""What guessing passwords comes to: how many are compared, what asking for a name costs, which are taken."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth import authenticate, password_validation
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client, RequestFactory
from django.urls import reverse

GUESSES, AT_ONCE = 1_000, 50


class Counting(PBKDF2PasswordHasher):
    """The site's own way to hash, which counts its rounds."""

    iterations = 1_000
    lock = threading.Lock()
    done: list[int] = []

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with self.lock:
            self.done.append(iterations or self.iterations)
        return super().encode(password, salt, iterations)


@pytest.fixture
def rounds(settings) -> Iterator[list[int]]:
    settings.PASSWORD_HASHERS = [f"{__name__}.Counting"]
    Counting.done.clear()
    yield Counting.done
    Counting.done.clear()


def _guess(name: str, number: int, address: str) -> None:
    request = RequestFactory().post("/sign-in/", REMOTE_ADDR=address)
    try:
        authenticate(request, username=name, password=f"guess {number}")
    finally:
        connection.close()


def _guess_all(name: str, address_of, guesses: int) -> None:
    with ThreadPoolExecutor(AT_ONCE) as crowd:
        list(crowd.map(lambda number: _guess(name, number, address_of(number)), range(guesses)))


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_of_a_thousand_guesses_fifty_at_once_twelve_at_most_are_compared(rounds: list[int]) -> None:
    User.objects.create_user("librarian", password="correct horse battery")
    rounds.clear()

    _guess_all("librarian", lambda _: "203.0.113.9", GUESSES)
    from_one = len(rounds)
    rounds.clear()
    _guess_all("librarian", lambda number: f"198.51.{number // 200}.{number % 200}", GUESSES)

    print(f"{GUESSES} guesses from one address: {from_one} compared, from {GUESSES}: {len(rounds)}")  # noqa: T201
    assert from_one <= 12
    # Of a name that everybody guesses at, so many may be its owner.
    assert len(rounds) <= 50


@pytest.mark.django_db
def test_a_name_that_exists_costs_as_much_hashing_as_one_that_does_not(rounds: list[int]) -> None:
    User.objects.create_user("known", password="correct horse battery")
    User.objects.create_user("without-password")
    User.objects.create_user("switched-off", password="correct horse battery", is_active=False)

    def work(name: str) -> int:
        rounds.clear()
        Client().post(reverse("login"), {"username": name, "password": "wrong"})
        return sum(rounds)

    costs = {name: work(name) for name in ("known", "unknown", "without-password", "switched-off")}

    assert costs["unknown"] > 0
    assert max(costs.values()) <= 1.1 * min(costs.values()), costs


@pytest.mark.django_db
@pytest.mark.parametrize("length", [12, 64, 128, 1_000])
def test_a_long_password_is_allowed_and_works(length: int) -> None:
    words = ("Straw under å roof, " * 60)[:length]
    password_validation.validate_password(words)
    User.objects.create_user("librarian", password=words)
    client = Client()

    assert client.post(reverse("login"), {"username": "librarian", "password": words}).status_code == 302


@pytest.mark.parametrize("words", ["", "short", "elevenchars", "åßçdéfghijk"])
def test_a_short_password_is_refused(words: str) -> None:
    with pytest.raises(ValidationError):
        password_validation.validate_password(words)


@pytest.mark.django_db
def test_a_password_like_the_name_is_refused() -> None:
    with pytest.raises(ValidationError):
        password_validation.validate_password("librarian-smith", User(username="librarian-smith"))


def test_no_password_of_the_list_is_allowed() -> None:
    """The list holds twenty thousand; those that are long enough are refused because they are on it."""
    listed = password_validation.CommonPasswordValidator().passwords
    allowed = []
    for words in sorted(one for one in listed if len(one) >= 12):
        try:
            password_validation.validate_password(words)
        except ValidationError:
            continue
        allowed.append(words)
    assert len(listed) >= 10_000
    assert allowed == []
