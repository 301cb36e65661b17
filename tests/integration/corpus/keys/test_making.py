"""Keys from the command line and the admin: a secret shows once, and what was asked for is what was made."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus import ceilings
from corpus.keys.authentication import RevokedKey, authenticate
from corpus.keys.models import ApiKey
from corpus.keys.permissions import Permission
from corpus.rights import ALL_CLASSES
from sci_rag_site.cli import main
from tests.factories.keys import make_key

pytestmark = pytest.mark.django_db
SECRET = re.compile(r"sr_[a-z2-7]{8}_[\w-]{43}")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["keys", *arguments])


class TestCommands:
    def test_a_key_is_made_as_it_was_asked_for_and_works(self, asker: User) -> None:
        made = run(
            "create", "Notebook", "--owner", "asker", "--permission", "corpus:read", "--license", "public",
            "--bucket", "journals", "--per-minute", "5", "--valid-through", "2999", "--json",
        )  # fmt: skip

        told = json.loads(made.stdout)
        caller = authenticate(told["secret"])
        assert (caller.user, caller.permissions, caller.requests_per_minute) == (asker, {Permission.READ}, 5)
        assert ceilings.of(caller.user).buckets == ("journals",)
        assert ApiKey.objects.get().expires_at == datetime(3000, 1, 1, tzinfo=UTC)

    def test_the_secret_stands_alone_on_the_output(self, asker: User) -> None:
        made = run("create", "Notebook", "--owner", "asker")

        assert SECRET.fullmatch(made.stdout.strip())
        assert not SECRET.search(made.stderr)
        assert authenticate(made.stdout.strip()).permissions == frozenset()

    def test_the_list_shows_everything_but_secrets(self, asker: User, librarian: User) -> None:
        made = make_key(asker)
        make_key(librarian, permissions=[])

        told = run("list", "--json")
        lines = run("list").stdout

        keys = json.loads(told.stdout)["keys"]
        assert {one["owner"] for one in keys} == {"asker", "librarian"}
        assert made.secret.reveal() not in told.stdout + lines
        assert made.key.hash not in told.stdout + lines
        assert "may nothing" in lines
        assert len(json.loads(run("list", "--owner", "asker", "--json").stdout)["keys"]) == 1

    def test_a_key_is_revoked_by_its_id_or_prefix(self, asker: User) -> None:
        first, second = make_key(asker), make_key(asker)

        assert run("revoke", str(first.key.pk)).exit_code == 0
        assert json.loads(run("revoke", second.key.prefix, "--json").stdout)["revoked"] is True
        assert json.loads(run("revoke", second.key.prefix, "--json").stdout)["revoked"] is False
        for made in (first, second):
            with pytest.raises(RevokedKey):
                authenticate(made.secret.reveal())

    def test_a_prefix_of_two_keys_revokes_neither(self, asker: User) -> None:
        for number in range(2):
            ApiKey.objects.create(owner=asker, name="Twin", prefix="aaaaaaaa", hash=f"{number}" * 64)

        refused = run("revoke", "aaaaaaaa")

        assert refused.exit_code == 1
        assert all(str(key.pk) in refused.stderr for key in ApiKey.objects.all())
        assert not ApiKey.objects.filter(revoked_at__isnull=False).exists()

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (("create", "x", "--owner", "nobody"), 1),
            (("create", " ", "--owner", "asker"), 1),
            (("create", "x", "--owner", "asker", "--permission", "everything"), 2),
            (("create", "x", "--owner", "asker", "--license", "cc-by-xyz"), 2),
            (("create", "x", "--owner", "asker", "--per-minute", "0"), 2),
            (("create", "x", "--owner", "asker", "--valid-through", "soon"), 2),
            (("create", "x", "--owner", "asker", "--valid-through", "2001"), 1),
            (("create", "x", "--owner", "asker", "--bucket", ""), 1),
            (("create", "x"), 2),
            (("revoke", "nothing"), 1),
            (("revoke", "a\udcff"), 1),
            (("list", "--owner", "no\0body"), 1),
        ],
    )
    def test_what_cannot_be_done_is_one_line_and_changes_nothing(
        self, asker: User, arguments: tuple[str, ...], code: int
    ) -> None:
        refused = run(*arguments)

        assert refused.exit_code == code
        assert "Traceback" not in refused.output
        assert not ApiKey.objects.exists()


class TestAdmin:
    ADD, LIST = "admin:corpus_apikey_add", "admin:corpus_apikey_changelist"
    FILLED = {
        "name": "Notebook", "permissions": ["corpus:read"], "license_classes": ["public", "open_commercial"],
        "buckets": "journals\nreports", "requests_per_minute": "30",
    }  # fmt: skip

    @pytest.fixture
    def desk(self, client: Client, administrator: User) -> Client:
        client.force_login(administrator)
        return client

    def test_a_secret_shows_on_one_page_and_never_again(self, desk: Client, asker: User) -> None:
        day = timezone.localdate() + timedelta(days=30)

        page = desk.post(
            reverse(self.ADD), self.FILLED | {"owner": asker.pk, "valid_through": f"{day:%Y-%m-%d}"}
        )

        secret = SECRET.findall(page.content.decode())
        assert len(secret) == 1
        key = ApiKey.objects.get()
        caller = authenticate(secret[0])
        assert "no-store" in page.headers["Cache-Control"]
        assert (caller.user, caller.permissions) == (asker, {Permission.READ})
        assert ceilings.of(caller.user).buckets == ("journals", "reports")
        assert key.expires_at is not None
        assert timezone.localdate(key.expires_at) == day + timedelta(days=1)
        for address in (
            reverse(self.LIST),
            reverse("admin:corpus_apikey_change", args=[key.pk]),
            reverse("admin:corpus_apikey_history", args=[key.pk]),
            reverse("admin:index"),
        ):
            shown = desk.get(address)
            assert shown.status_code == 200, address
            assert secret[0] not in shown.content.decode()
            assert key.hash not in shown.content.decode()

    def test_the_whole_ceiling_is_what_the_form_offers(self, desk: Client, asker: User) -> None:
        form = desk.get(reverse(self.ADD)).context["adminform"].form

        assert form["license_classes"].value() == [str(item) for item in ALL_CLASSES]
        assert form["all_buckets"].value() is True
        assert form["permissions"].value() in ([], None)

    def test_what_makes_no_sense_keeps_what_was_typed(self, desk: Client, asker: User) -> None:
        root = User.objects.create_superuser("root")

        for wrong in ({"requests_per_minute": "0"}, {"valid_through": "2001-01-01"}, {"owner": root.pk}):
            page = desk.post(reverse(self.ADD), self.FILLED | {"owner": asker.pk} | wrong)
            assert page.status_code == 200
            assert "journals" in page.content.decode()
        assert not ApiKey.objects.exists()

    def test_keys_are_revoked_and_neither_changed_nor_deleted(self, desk: Client, asker: User) -> None:
        made = make_key(asker)

        desk.post(reverse(self.LIST), {"action": "revoke", "_selected_action": [str(made.key.pk)]})

        with pytest.raises(RevokedKey):
            authenticate(made.secret.reveal())
        change, delete = (
            reverse(f"admin:corpus_apikey_{name}", args=[made.key.pk]) for name in ("change", "delete")
        )
        assert desk.post(change, {"name": "Other"}).status_code == 403
        assert desk.post(delete, {"post": "yes"}).status_code == 403

    def test_the_screen_is_closed_to_librarians(self, client: Client, librarian: User) -> None:
        User.objects.filter(pk=librarian.pk).update(is_staff=True)
        client.force_login(librarian)

        assert client.get(reverse(self.LIST)).status_code == 403
        assert client.post(reverse(self.ADD), self.FILLED | {"owner": librarian.pk}).status_code == 403
