"""What one person may send within a day: counted before it is read, told in words, and never twice."""

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import LazySettings
from django.conf import settings as site_settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus import storage
from corpus.actions import upload_quota
from corpus.models import IngestionRun, UploadCharge
from sci_rag_site.upload_quota import UploadQuota

MEGABYTE = 1_000_000


@pytest.fixture(autouse=True)
def limits(settings: LazySettings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.SCI_RAG_UPLOAD_MB_PER_DAY = 3


def charged(user: User, size: int, *, hours_ago: float = 0) -> None:
    at = timezone.now() - timedelta(hours=hours_ago)
    UploadCharge.objects.create(user=user, size=size, charged_at=at)


def file(size: int, name: str = "straw.txt") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, b"Straw was stored for a year. " * (size // 29))


@pytest.mark.django_db
class TestCounting:
    def test_what_is_sent_counts_until_a_day_has_passed(self, librarian: User) -> None:
        charged(librarian, 2 * MEGABYTE, hours_ago=25)
        charged(librarian, 2 * MEGABYTE, hours_ago=2)

        assert upload_quota.charge(by=librarian, size=MEGABYTE) is None
        assert UploadCharge.objects.filter(user=librarian).count() == 2
        assert upload_quota.charge(by=librarian, size=1) is not None

    def test_a_refusal_says_when_the_request_fits(self, librarian: User) -> None:
        charged(librarian, MEGABYTE, hours_ago=20)
        charged(librarian, 2 * MEGABYTE, hours_ago=10)

        small = upload_quota.over_quota(by=librarian, size=MEGABYTE // 2)
        large = upload_quota.over_quota(by=librarian, size=2 * MEGABYTE)

        assert small is not None
        assert large is not None
        now = timezone.now()
        assert timedelta(hours=3.9) < small.free_at - now < timedelta(hours=4.1)
        assert timedelta(hours=13.9) < large.free_at - now < timedelta(hours=14.1)
        assert "3 of 3 MB within 24 hours" in str(small)
        assert "fits from" in str(small)

    def test_a_request_larger_than_a_days_quota_is_told_so(self, librarian: User) -> None:
        refusal = upload_quota.charge(by=librarian, size=4 * MEGABYTE)

        assert refusal is not None
        assert refusal.free_at is None
        assert "4.0 MB; 3 MB is what you may send" in str(refusal)

    def test_each_person_has_a_quota_of_their_own(self, librarian: User, administrator: User) -> None:
        charged(administrator, 3 * MEGABYTE)

        assert upload_quota.charge(by=librarian, size=3 * MEGABYTE) is None


@pytest.mark.django_db(transaction=True)
def test_requests_at_the_same_time_cannot_both_take_what_is_left(librarian: User) -> None:
    start, taken = threading.Barrier(6), []

    def send() -> None:
        start.wait()
        try:
            taken.append(upload_quota.charge(by=librarian, size=MEGABYTE) is None)
        finally:
            connection.close()

    senders = [threading.Thread(target=send) for _ in range(6)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()

    assert sorted(taken) == [False] * 3 + [True] * 3
    assert UploadCharge.objects.count() == 3


@pytest.mark.django_db
class TestPages:
    @pytest.fixture
    def desk(self, client: Client, librarian: User) -> Client:
        client.force_login(librarian)
        return client

    def test_a_request_with_files_counts_and_one_without_does_not(
        self, desk: Client, librarian: User
    ) -> None:
        desk.post(reverse("upload_manifest"), {"manifest": "{}"})
        assert not UploadCharge.objects.exists()

        desk.post(reverse("upload"), {"files": file(10_000)})

        (charge,) = UploadCharge.objects.all()
        assert charge.user == librarian
        assert 10_000 < charge.size < 12_000

    @pytest.mark.parametrize("route", ["upload", "upload_file"])
    def test_files_beyond_the_quota_are_refused_by_name_and_kept_nowhere(
        self, desk: Client, librarian: User, route: str
    ) -> None:
        charged(librarian, 3 * MEGABYTE)

        text = desk.post(reverse(route), {"files": file(10_000), "bucket": "reports"}).text

        assert "over_quota" in text
        assert "3 of 3 MB" in text
        assert not IngestionRun.objects.exists()
        assert not list(storage.root().glob("*/*/*"))

    def test_what_was_typed_stays(self, desk: Client, librarian: User) -> None:
        charged(librarian, 3 * MEGABYTE)

        text = desk.post(reverse("upload"), {"files": file(10_000), "bucket": "reports"}).text

        assert 'value="reports"' in text

    def test_the_other_pages_tell_it_too(self, desk: Client, librarian: User) -> None:
        charged(librarian, 3 * MEGABYTE)

        manifest = desk.post(reverse("upload_manifest"), {"manifest": "{}", "files": file(10_000)}).text
        library = desk.post(reverse("upload_library"), {"library": file(10_000, "a.bib")}).text

        assert "over_quota" in manifest
        assert "3 of 3 MB" in library

    def test_who_is_not_signed_in_is_counted_nowhere(self, client: Client) -> None:
        assert client.post(reverse("upload"), {"files": file(10_000)}).status_code == 302
        assert not UploadCharge.objects.exists()


@pytest.mark.django_db(transaction=True)
class TestBeforeTheBody:
    def served(self, cookie: str, size: int, path: str = "/documents/upload/") -> tuple[bool, list[Any]]:
        """Whether the application was reached, and what the client was sent."""
        reached: list[bool] = []
        sent: list[Any] = []

        async def application(scope: Any, receive: Any, send: Any) -> None:
            reached.append(True)

        async def receive() -> Any:
            raise AssertionError("the body was read")

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"content-length", str(size).encode()), (b"cookie", cookie.encode())]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
        async_to_sync(UploadQuota(application))(scope, receive, send)
        return bool(reached), sent

    def test_a_body_beyond_the_quota_is_refused_without_being_read(
        self, client: Client, librarian: User
    ) -> None:
        client.force_login(librarian)
        name = site_settings.SESSION_COOKIE_NAME
        cookie = f"{name}={client.cookies[name].value}"
        charged(librarian, 2 * MEGABYTE)

        reached, sent = self.served(cookie, 2 * MEGABYTE)

        assert not reached
        assert sent[0]["status"] == 413
        assert b"2 of 3 MB within 24 hours" in sent[1]["body"]
        assert (
            b"upload-line refused"
            in self.served(cookie, 2 * MEGABYTE, "/documents/upload/file/")[1][1]["body"]
        )
        assert UploadCharge.objects.count() == 1

    @pytest.mark.parametrize("cookie", ["", "sessionid=forged", "broken;;=\x00", "a=b"])
    def test_who_cannot_be_told_is_left_to_the_pages(self, cookie: str) -> None:
        assert self.served(cookie, 2 * MEGABYTE) == (True, [])
