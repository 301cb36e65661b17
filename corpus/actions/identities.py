"""Accounts of people for whom a provider vouches: found, made, connected, and kept in the roles it names."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING

import pghistory
import structlog
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.accounts.claims import Vouched
from corpus.accounts.identities import GroupMapping, Identity, ProviderGrant
from corpus.roles import STAFF_ROLES

if TYPE_CHECKING:
    from django.db.models import QuerySet

logger = structlog.get_logger(__name__)

# What a provider granted holds for as long as a session may, and no longer without its word.
LAPSES_AFTER = timedelta(days=7)
# Any number that no other advisory lock of the database has.
_LOCK = 6_120_471_905
_PROCESS = "sign-in provider"


class NotAdmitted(Exception):
    """The provider vouched, and yet the person may not come in. `code` is for logs, the text for them."""

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


def admit(vouched: Vouched) -> Identity:
    """Return the account of a person, made if it is their first time and a group of theirs stands for a role.

    Nobody is found by name or e-mail address: an account that is here already is connected by its owner, who
    knows its password.
    """
    try:
        with transaction.atomic():
            return _admit(vouched)
    except IntegrityError:
        # Signed in twice at the same moment: the other was first.
        with transaction.atomic():
            return _admit(vouched)


def connect(vouched: Vouched, *, by: User) -> Identity:
    """Let `by` sign in through the provider as well. Raises `NotAdmitted`."""
    _require_no_superuser(by)
    with transaction.atomic():
        _share_lock()
        identity = _find(vouched)
        if identity is not None and identity.user_id != by.pk:
            raise NotAdmitted(
                "taken", _("There is an account here for this sign-in already: sign in with it.")
            )
        if identity is None and by.identities.filter(issuer=vouched.issuer).exists():
            raise NotAdmitted("connected", _("Your account is connected with another sign-in already."))
        identity = identity or Identity(user=by, issuer=vouched.issuer, subject=vouched.subject)
        _confirm(identity, vouched)
    return identity


def confirm(identity: Identity, vouched: Vouched) -> bool:
    """Take over what the provider says of somebody now; say whether it changed their roles."""
    with transaction.atomic():
        _share_lock()
        row = Identity.objects.select_for_update(of=("self",)).select_related("user").get(pk=identity.pk)
        _require_may_sign_in(row.user)
        return _confirm(row, vouched)


def withdraw(*, identities: Collection[int]) -> None:
    """Take back whatever the provider granted to these."""
    with transaction.atomic():
        _share_lock()
        for row in Identity.objects.select_for_update().filter(pk__in=identities).order_by("pk"):
            row.claimed = []
            row.save(update_fields=["claimed"])
            synchronise(row)


def lapse() -> int:
    """Take back what providers granted to people of whom they have not said so for long."""
    then = timezone.now() - LAPSES_AFTER
    silent = Identity.objects.filter(confirmed_at__lt=then, grants__isnull=False).distinct()
    keys = list(silent.values_list("pk", flat=True))
    withdraw(identities=keys)
    return len(keys)


def roles_for(claimed: Collection[str]) -> set[int]:
    """Return the roles that the provider's groups stand for."""
    found = GroupMapping.objects.filter(claimed__in=list(claimed))
    return set(found.values_list("group_id", flat=True))


def synchronise(identity: Identity) -> bool:
    """Make the memberships that the provider granted equal to what it claims; say whether that changed any.

    What was granted by hand stays. What a person took away by hand stays away while it is claimed. Within a
    transaction that holds the lock of mappings.
    """
    wanted = roles_for(identity.claimed)
    granted = {row.group_id: row for row in identity.grants.all()}
    there = set(identity.user.groups.values_list("pk", flat=True))
    new = wanted - granted.keys()
    gone = granted.keys() - wanted
    ends = {key for key in gone if not granted[key].also_by_hand}
    with pghistory.context(process=_PROCESS):
        ProviderGrant.objects.bulk_create(
            ProviderGrant(identity=identity, group_id=key, also_by_hand=key in there) for key in sorted(new)
        )
        identity.grants.filter(group_id__in=gone).delete()
        identity.user.groups.add(*Group.objects.filter(pk__in=new - there).order_by("pk"))
        identity.user.groups.remove(*Group.objects.filter(pk__in=ends).order_by("pk"))
        settle_staff(identity.user)
    changed = bool((new - there) | (ends & there))
    if changed:
        logger.info(
            "membership.changed", user=identity.user_id, added=len(new - there), removed=len(ends & there)
        )
    return changed


def settle_staff(user: User) -> None:
    """Let into the admin whom a role lets in, and nobody else."""
    curates = user.groups.filter(name__in=STAFF_ROLES).exists()
    is_staff = curates or user.is_superuser
    User.objects.filter(pk=user.pk).exclude(is_staff=is_staff).update(is_staff=is_staff)
    user.is_staff = is_staff


def lock_mappings() -> None:
    """Keep everybody's sign-in waiting while the mappings change."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def _share_lock() -> None:
    # Mappings do not change between being read and being applied; people do not wait for each other.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [_LOCK])


def _admit(vouched: Vouched) -> Identity:
    _share_lock()
    identity = _find(vouched)
    if identity is None:
        if not roles_for(vouched.groups):
            raise NotAdmitted(
                "no_role",
                _("None of your groups there stands for a role here, so there is no account for you."),
            )
        with pghistory.context(process=_PROCESS):
            user = _new_account(vouched)
        identity = Identity(user=user, issuer=vouched.issuer, subject=vouched.subject)
    else:
        _require_may_sign_in(identity.user)
    _confirm(identity, vouched)
    return identity


def _find(vouched: Vouched) -> Identity | None:
    rows: QuerySet[Identity] = Identity.objects.select_for_update(of=("self",)).select_related("user")
    return rows.filter(issuer=vouched.issuer, subject=vouched.subject).first()


def _confirm(identity: Identity, vouched: Vouched) -> bool:
    identity.claimed, identity.confirmed_at = sorted(vouched.groups), timezone.now()
    identity.save()
    return synchronise(identity)


def _require_may_sign_in(user: User) -> None:
    _require_no_superuser(user)
    if not user.is_active:
        raise NotAdmitted("inactive", _("Your account here is switched off."))


def _require_no_superuser(user: User) -> None:
    # Whoever runs the provider would otherwise be superuser here.
    if user.is_superuser:
        raise NotAdmitted("superuser", _("Superusers sign in with their password only."))


def _new_account(vouched: Vouched) -> User:
    user = User(
        username=_free_name(vouched.username),
        first_name=vouched.first_name,
        last_name=vouched.last_name,
        email=vouched.email,
    )
    user.set_unusable_password()
    user.save()
    logger.info("account.made", user=user.pk, by="provider")
    return user


def _free_name(wanted: str) -> str:
    taken = set(User.objects.filter(username__istartswith=wanted).values_list("username", flat=True))
    folded = {name.casefold() for name in taken}
    if wanted.casefold() not in folded:
        return wanted
    return next(
        name
        for number in range(2, len(folded) + 3)
        if (name := f"{wanted}-{number}").casefold() not in folded
    )
