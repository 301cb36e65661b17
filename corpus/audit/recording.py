"""Recording what happened, in the transaction of its cause. The database seals it when that commits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import CharField, Func, Value
from django.db.models.functions import Concat, Now

from corpus.accounts import attempts
from corpus.audit.models import AuditEvent

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User
    from django.http import HttpRequest

Kind = AuditEvent.Kind
_LONGEST_PLACE = 16
# The minute of the database: statements about a refusal do not differ by when they are made.
_MINUTE = Func(Now(), Value(":YYYYMMDDHH24MI"), function="to_char", output_field=CharField())


def record(
    kind: Kind,
    *,
    by: User | AnonymousUser | None,
    about: Mapping[str, Any],
    request: HttpRequest | None = None,
    once: str = "",
) -> None:
    """Record it. With `once`, what stands there already of this minute, doer, place and `once` is enough.

    `about` holds ids, codes and counts. Nobody did what the operator did at the command line, or a visitor.
    """
    known = by is not None and by.is_authenticated
    row = AuditEvent(
        kind=kind,
        by=str(by.pk) if known and by is not None else "",
        by_name=by.get_username() if known and by is not None else "",
        place="" if request is None else place_of(request),
        about=dict(about),
    )
    if once:
        row.once = Concat(Value(f"{kind}:{row.by or row.place}:{once}"[:180]), _MINUTE)
    AuditEvent.objects.bulk_create([row], ignore_conflicts=bool(once))


def place_of(request: HttpRequest) -> str:
    """Return what stands for the network of a request: the same for the same, and nobody reads it back."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    return attempts.hashed("place", attempts.network_of(address))[:_LONGEST_PLACE] if address else ""


def denied(request: HttpRequest, why: str, *, by: User | AnonymousUser | None = None) -> None:
    """Record that a request was refused: which route, and why. Once in a minute for each person and route."""
    match = request.resolver_match
    route = "" if match is None else str(match.view_name or match.route)
    doer = by if by is not None else getattr(request, "user", None)
    about = {"route": route[:100], "method": str(request.method)[:10], "why": why}
    record(Kind.DENIED, by=doer, about=about, request=request, once=f"{route}:{why}")
