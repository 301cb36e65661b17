"""Keys of programs: kept under a key of the site that is still known."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Q
from django.utils import timezone

from corpus.keys.models import ApiKey
from corpus.keys.secret import known_site_keys, site_key_name
from sci_rag_site.health.findings import Finding, ok, warn


def keys() -> Iterator[Finding]:
    """Say which keys open nothing since the site's key changed, and which still hang on one of before."""
    alive = ApiKey.objects.filter(
        Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now()), revoked_at__isnull=True
    )
    known = known_site_keys()
    lost = alive.exclude(hashed_by__in=["", *known]).count()
    old = alive.filter(hashed_by__in=["", *known]).exclude(hashed_by=site_key_name()).count()
    if lost:
        yield warn(
            "keys",
            f"{lost:,} open nothing: the SECRET_KEY they were made under is not known here.",
            "Put that key into SECRET_KEY_FALLBACKS, or revoke them and make new ones.",
        )
    elif old:
        yield ok("keys", f"{alive.count():,} in use, {old:,} of them not used since the site's key changed")
    else:
        yield ok("keys", f"{alive.count():,} in use")
