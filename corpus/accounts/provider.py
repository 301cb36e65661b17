"""The provider that signs people in here, and what a session asks it again: whether it still vouches."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import NoReturn
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from corpus import connections
from corpus.accounts import claims
from corpus.accounts.claims import TooManyGroups, Vouched
from corpus.accounts.identities import Identity, ProviderSession
from corpus.accounts.sealing import Unreadable, seal, unseal
from corpus.accounts.sessions import PersonSession
from corpus.actions import identities
from corpus.actions.identities import NotAdmitted
from corpus.gateways.oidc import Provider
from corpus.gateways.oidc_types import ProviderError, Tokens, Vouching, registration

logger = structlog.get_logger(__name__)

# Longer than all the requests of one question take together.
_ASKING = timedelta(seconds=60)
# How long a request waits for another one of its session that is asking already.
_PATIENCE, _STEP = 15.0, 0.1


class SessionOver(Exception):
    """The provider no longer vouches, or cannot be asked about this session ever. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class CannotAsk(Exception):
    """The provider says neither yes nor no at the moment. Nothing is shown meanwhile."""


def current() -> Provider | None:
    """Return the provider of the settings; None where people sign in with passwords only."""
    known_as = registration()
    return None if known_as is None else Provider(known_as)


def name() -> str:
    """Return what the provider is called on pages, nothing where there is none."""
    return str(settings.SCI_RAG_OIDC_NAME) if registration() is not None else ""


def person_of(vouching: Vouching, provider: Provider) -> Vouched:
    """Return whom verified claims are about; raise `TooManyGroups`."""
    return claims.vouched(
        vouching.claims, issuer=provider.issuer, groups_claim=settings.SCI_RAG_OIDC_GROUPS_CLAIM
    )


def begin(*, identity: Identity, tokens: Tokens) -> UUID:
    """Keep what a new session asks the provider with; return what the session remembers of it."""
    row = ProviderSession.objects.create(identity=identity, tokens=_sealed(tokens), checked_at=timezone.now())
    return row.pk


def require_standing(key: UUID) -> None:
    """Ask the provider again if that is due. Raises `SessionOver`, and `CannotAsk` when nobody answers."""
    until = time.monotonic() + _PATIENCE
    while True:
        row = ProviderSession.objects.select_related("identity__user").filter(pk=key).first()
        if row is None:
            raise SessionOver("ended")
        if not _is_due(row):
            return
        if _take_turn(row):
            _ask(row)
            return
        # Another request of this session asks. A refresh token that came twice would count as stolen.
        if time.monotonic() > until:
            raise CannotAsk
        connections.release()
        time.sleep(_STEP)


def forget_ended() -> int:
    """Remove what nobody's session asks with any more."""
    living = PersonSession.objects.filter(provider_session__isnull=False, expire_date__gt=timezone.now())
    old = ProviderSession.objects.filter(created_at__lt=timezone.now() - timedelta(hours=1))
    return old.exclude(pk__in=living.values("provider_session")).delete()[0]


def _is_due(row: ProviderSession) -> bool:
    age = timezone.now() - row.checked_at
    # A clock that was put back makes a check look as if it were to come.
    return not timedelta(0) <= age < timedelta(seconds=settings.SCI_RAG_OIDC_CHECK_SECONDS)


def _take_turn(row: ProviderSession) -> bool:
    now = timezone.now()
    free = Q(asking_until__isnull=True) | Q(asking_until__lt=now) | Q(asking_until__gt=now + 2 * _ASKING)
    mine = ProviderSession.objects.filter(free, pk=row.pk, checked_at=row.checked_at)
    return mine.update(asking_until=now + _ASKING) == 1


def _ask(row: ProviderSession) -> None:
    provider = current()
    if provider is None or provider.issuer != row.identity.issuer:
        _end(row, "other_provider")
    try:
        vouching = provider.ask_again(_unsealed(row), subject=row.identity.subject)
    except ProviderError as error:
        logger.warning(
            "provider.not_vouching", user=row.identity.user_id, code=error.code, detail=error.detail
        )
        if error.passes:
            ProviderSession.objects.filter(pk=row.pk).update(asking_until=None)
            raise CannotAsk from None
        _end(row, error.code)
    except Unreadable:
        _end(row, "other_key")
    # First of all: a refresh token is good for one time only.
    ProviderSession.objects.filter(pk=row.pk).update(
        tokens=_sealed(vouching.tokens), checked_at=timezone.now(), asking_until=None
    )
    try:
        identities.confirm(row.identity, person_of(vouching, provider))
    except TooManyGroups:
        _end(row, "too_many_groups")
    except NotAdmitted as refusal:
        _end(row, refusal.code)


def _end(row: ProviderSession, code: str) -> NoReturn:
    ProviderSession.objects.filter(pk=row.pk).delete()
    logger.info("session.ended", user=row.identity.user_id, code=code)
    raise SessionOver(code)


def _sealed(tokens: Tokens) -> bytes:
    return seal(json.dumps([tokens.access, tokens.access_until, tokens.refresh]))


def _unsealed(row: ProviderSession) -> Tokens:
    access, until, refresh = json.loads(unseal(bytes(row.tokens)))
    return Tokens(access, until, refresh)
