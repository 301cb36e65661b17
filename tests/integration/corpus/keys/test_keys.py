"""Keys: made by whom, kept as what, refused when, and never wider than their owner."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from corpus import ceilings
from corpus.accounts import sealing
from corpus.keys import actions, secret
from corpus.keys.actions import KeyActionRefused, Wanted
from corpus.keys.authentication import (
    ExpiredKey,
    InvalidKey,
    MissingKey,
    OwnerInactive,
    PermissionMissing,
    RevokedKey,
    authenticate,
)
from corpus.keys.models import ApiKey
from corpus.keys.permissions import Permission
from corpus.models import GroupCeiling
from corpus.rights import ALL_CLASSES, LicenseClass
from corpus.scope import EVERYTHING, NOTHING, Ceiling
from sci_rag_site.health import keys as doctor_keys
from tests.factories.keys import make_key

pytestmark = pytest.mark.django_db

PUBLIC = Ceiling((LicenseClass.PUBLIC,), None)


def row(owner: User, **values: Any) -> ApiKey:
    """Write a key past the action."""
    words = secret.new_secret(values.pop("prefix", None)).reveal()
    facts = {"prefix": secret.prefix_of(words), "hash": secret.hash_of(words), "name": "A row"}
    return ApiKey.objects.create(owner=owner, **(facts | values))


class TestAuthentication:
    def test_the_secret_of_a_key_tells_who_asks_and_what_for(self, asker: User) -> None:
        made = make_key(asker, permissions=[Permission.READ], requests_per_minute=7)

        caller = authenticate(made.secret.reveal())

        assert (caller.key, caller.user, caller.requests_per_minute) == (made.key.pk, asker, 7)
        assert caller.permissions == {Permission.READ}
        caller.require(Permission.READ)
        with pytest.raises(PermissionMissing):
            caller.require(Permission.QUERY)

    def test_a_key_without_permissions_may_do_nothing(self, asker: User) -> None:
        caller = authenticate(make_key(asker, permissions=[]).secret.reveal())

        for permission in Permission:
            with pytest.raises(PermissionMissing):
                caller.require(permission)

    def test_two_keys_with_one_prefix_are_independent(self, asker: User, librarian: User) -> None:
        words = [secret.new_secret("aaaaaaaa").reveal() for _ in range(2)]
        keys = [
            ApiKey.objects.create(owner=owner, name="Twin", prefix="aaaaaaaa", hash=secret.hash_of(one))
            for owner, one in zip((asker, librarian), words, strict=True)
        ]

        assert [authenticate(one).user for one in words] == [asker, librarian]
        actions.revoke(key=keys[0], by=None)
        with pytest.raises(RevokedKey):
            authenticate(words[0])
        assert authenticate(words[1]).key == keys[1].pk

    def test_each_refusal_has_its_name(self, asker: User) -> None:
        made = make_key(asker, expires_at=timezone.now() + timedelta(days=1))
        words = made.secret.reveal()

        with pytest.raises(MissingKey):
            authenticate("")
        for wrong in ("x", words[:-1], words[:-1] + ("a" if words[-1] != "a" else "b"), words.upper()):
            with pytest.raises(InvalidKey):
                authenticate(wrong)
        User.objects.filter(pk=asker.pk).update(is_active=False)
        with pytest.raises(OwnerInactive):
            authenticate(words)
        User.objects.filter(pk=asker.pk).update(is_active=True)
        ApiKey.objects.update(created_at=timezone.now() - timedelta(days=2))
        ApiKey.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        with pytest.raises(ExpiredKey):
            authenticate(words)
        actions.revoke(key=made.key, by=None)
        with pytest.raises(RevokedKey):
            authenticate(words)

    def test_nothing_of_the_secret_is_kept(self, asker: User) -> None:
        words = make_key(asker).secret.reveal()

        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT k::text FROM corpus_apikey k UNION ALL SELECT e::text FROM corpus_apikeyevent e"
            )
            kept = str(cursor.fetchall())

        assert words not in kept
        assert words.split("_", 2)[2] not in kept
        assert secret.hash_of(words) in kept


class TestTheSitesKey:
    """What becomes of keys when the key of the site is another one."""

    def test_the_hash_is_keyed(self, asker: User, settings: LazySettings) -> None:
        made = make_key(asker)
        words = made.secret.reveal()

        assert made.key.hash != secret.plain_hash_of(words)
        assert made.key.hashed_by == secret.site_key_name()
        settings.SECRET_KEY = "another" * 10
        assert secret.hash_of(words) != made.key.hash
        assert secret.site_key_name() != made.key.hashed_by

    def test_a_plain_hash_of_before_is_let_in_once_and_hashed_anew(self, asker: User) -> None:
        words = make_key(asker).secret.reveal()
        ApiKey.objects.update(hash=secret.plain_hash_of(words), hashed_by="")

        assert authenticate(words).user == asker

        kept = ApiKey.objects.get()
        assert (kept.hash, kept.hashed_by) == (secret.hash_of(words), secret.site_key_name())
        assert authenticate(words).key == kept.pk

    def test_a_hash_under_a_fallback_is_let_in_and_hashed_anew(
        self, asker: User, settings: LazySettings
    ) -> None:
        words = make_key(asker).secret.reveal()
        before, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10

        with pytest.raises(InvalidKey):
            authenticate(words)
        settings.SECRET_KEY_FALLBACKS = [before]
        authenticate(words)
        settings.SECRET_KEY_FALLBACKS = []

        assert authenticate(words).user == asker
        assert ApiKey.objects.get().hashed_by == secret.site_key_name()

    def test_hashing_anew_is_no_change_that_history_keeps(self, asker: User) -> None:
        words = make_key(asker).secret.reveal()
        ApiKey.objects.update(hash=secret.plain_hash_of(words), hashed_by="")
        events = apps.get_model("corpus", "ApiKeyEvent").objects.count()

        authenticate(words)

        assert apps.get_model("corpus", "ApiKeyEvent").objects.count() == events

    def test_one_that_does_not_count_stays_as_it_is(self, asker: User) -> None:
        made = make_key(asker)
        words = made.secret.reveal()
        ApiKey.objects.update(hash=secret.plain_hash_of(words), hashed_by="")
        actions.revoke(key=made.key, by=None)

        with pytest.raises(RevokedKey):
            authenticate(words)

        assert ApiKey.objects.get().hashed_by == ""

    @pytest.mark.parametrize(
        ("name", "told"),
        [("another", "1 open nothing"), ("", "1 in use, 1 of them not used since"), (None, "1 in use")],
    )
    def test_the_doctor_counts_what_hangs_on_a_key_of_before(
        self, asker: User, name: str | None, told: str
    ) -> None:
        make_key(asker)
        if name is not None:
            ApiKey.objects.update(hashed_by=name)

        (found,) = doctor_keys.keys()

        assert told in found.message

    def test_what_was_sealed_under_a_fallback_is_read(self, settings: LazySettings) -> None:
        kept = sealing.seal("tokens")
        before, settings.SECRET_KEY = settings.SECRET_KEY, "another" * 10

        with pytest.raises(sealing.Unreadable):
            sealing.unseal(kept)
        settings.SECRET_KEY_FALLBACKS = [before]

        assert sealing.unseal(kept) == "tokens"


class TestCeilings:
    def test_a_key_sees_what_owner_and_key_may_both_see(self, asker: User) -> None:
        caller = authenticate(make_key(asker, ceiling=PUBLIC).secret.reveal())
        wide = authenticate(make_key(asker).secret.reveal())
        nothing = authenticate(make_key(asker, ceiling=NOTHING).secret.reveal())

        assert ceilings.of(caller.user) == PUBLIC
        assert ceilings.of(wide.user) == ceilings.of(asker)
        assert ceilings.of(nothing.user).license_classes == ()

    def test_an_owner_who_loses_rights_takes_them_from_the_key(self, librarian: User) -> None:
        words = make_key(librarian).secret.reveal()
        assert ceilings.of(authenticate(words).user) == EVERYTHING

        GroupCeiling.objects.filter(group__name="librarian").update(license_classes=["public"])
        assert ceilings.of(authenticate(words).user) == PUBLIC
        librarian.groups.clear()
        assert ceilings.of(authenticate(words).user) == NOTHING

    def test_a_superusers_key_is_held_to_its_ceiling(self) -> None:
        owner = User.objects.create_superuser("root")

        caller = authenticate(make_key(owner, ceiling=PUBLIC).secret.reveal())

        assert ceilings.of(owner) == EVERYTHING
        assert ceilings.of(caller.user) == PUBLIC

    def test_the_narrower_ceiling_outlives_reading_the_row_again(self, librarian: User) -> None:
        user = authenticate(make_key(librarian, ceiling=PUBLIC).secret.reveal()).user

        user.refresh_from_db()
        user.save()

        assert ceilings.of(user) == PUBLIC
        assert ceilings.of(ceilings.narrowed(user, EVERYTHING)) == PUBLIC
        assert ceilings.of(librarian) == EVERYTHING
        assert user == librarian

    @pytest.mark.parametrize("classes", [(), (LicenseClass.PUBLIC,), ALL_CLASSES])
    @pytest.mark.parametrize("buckets", [None, (), ("a",), ("a", "b")])
    def test_narrowing_never_widens(
        self, classes: tuple[LicenseClass, ...], buckets: tuple[str, ...] | None
    ) -> None:
        group = Group.objects.create(name="some")
        GroupCeiling.objects.create(
            group=group, license_classes=["public", "restricted"], all_buckets=False, buckets=["b", "c"]
        )
        person = User.objects.create_user("person")
        person.groups.add(group)
        to = Ceiling(classes, buckets)

        met = ceilings.of(ceilings.narrowed(person, to))

        for license_class in ALL_CLASSES:
            for bucket in ("a", "b", "c"):
                both = ceilings.of(person).covers(license_class, bucket) and to.covers(license_class, bucket)
                assert met.covers(license_class, bucket) == both


class TestActions:
    def test_making_and_revoking_are_recorded_with_who_did_it(self, administrator: User, asker: User) -> None:
        made = actions.create(owner=asker, wanted=Wanted("Notebook"), by=administrator)
        assert actions.revoke(key=made.key, by=administrator)
        assert not actions.revoke(key=made.key, by=administrator)

        events = apps.get_model("corpus", "ApiKeyEvent").objects.order_by("pgh_id")
        assert [event.pgh_label for event in events] == ["insert", "update"]
        assert {event.pgh_context.metadata["user"] for event in events} == {administrator.pk}
        assert not any(hasattr(event, "hash") for event in events)

    def test_only_who_may_make_keys_makes_them(
        self, asker: User, librarian: User, administrator: User
    ) -> None:
        for by in (asker, librarian):
            with pytest.raises(KeyActionRefused):
                actions.create(owner=by, wanted=Wanted("Mine"), by=by)
        with pytest.raises(KeyActionRefused, match="superuser"):
            actions.create(owner=User.objects.create_superuser("root"), wanted=Wanted("Up"), by=administrator)

    def test_owners_and_administrators_revoke(self, asker: User, librarian: User) -> None:
        made = make_key(asker)

        with pytest.raises(KeyActionRefused):
            actions.revoke(key=made.key, by=librarian)
        assert actions.revoke(key=made.key, by=asker)

    @pytest.mark.parametrize(
        "change",
        [
            {"name": " "},
            {"name": "x" * 101},
            {"requests_per_minute": 0},
            {"requests_per_minute": 1_001},
            {"expires_at": timezone.now() - timedelta(days=1)},
            {"ceiling": Ceiling((), ("",))},
            {"ceiling": Ceiling((), ("a\0b",))},
            {"ceiling": Ceiling((), ("x" * 101,))},
        ],
    )
    def test_what_makes_no_sense_is_refused(self, asker: User, change: dict[str, Any]) -> None:
        with pytest.raises(KeyActionRefused):
            actions.create(owner=asker, wanted=replace(Wanted("A key"), **change), by=None)
        assert not ApiKey.objects.exists()

    def test_a_closed_account_gets_no_key(self, asker: User) -> None:
        asker.is_active = False

        with pytest.raises(KeyActionRefused, match="closed"):
            actions.create(owner=asker, wanted=Wanted("A key"), by=None)


@pytest.mark.parametrize(
    "values",
    [
        {"name": ""},
        {"prefix": "TOOLOUD1"},
        {"hash": "no hash"},
        {"permissions": ["corpus:everything"]},
        {"license_classes": ["secret"]},
        {"all_buckets": True, "buckets": ["a"]},
        {"requests_per_minute": 0},
        {"requests_per_minute": 100_000},
        {"expires_at": timezone.now() - timedelta(days=1)},
    ],
)
def test_the_database_refuses_what_no_key_may_be(asker: User, values: dict[str, Any]) -> None:
    facts = {"prefix": "abcdefgh", "hash": "0" * 64, "name": "A row"}

    with pytest.raises(IntegrityError), transaction.atomic():
        ApiKey.objects.create(owner=asker, **(facts | values))


def test_the_database_knows_who_revoked_only_what_is_revoked(asker: User) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        row(asker, revoked_by=asker)
