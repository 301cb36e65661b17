"""The one place where text leaves for a model: it goes when its licence classes may, or not at all."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import structlog

from corpus.domain_profile import InvalidProfile
from corpus.egress import NOTHING_HELD, Classes, Endpoint, active_policy
from corpus.usage.purposes import Purpose

logger = structlog.get_logger(__name__)


class Withheld(Exception):
    """Text of a class that this provider may not have for this purpose. Nothing was sent."""


def endpoint(model: str, api_base: str = "") -> Endpoint:
    """Return where `model` is asked.

    Without an address of the settings it is taken for the provider's own, whatever the environment says.
    """
    try:
        parts = urlsplit(api_base)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return Endpoint(model)
    return Endpoint(model, host, port, is_proxied=bool(host) and _is_proxied(parts.scheme, host, port))


def readable(where: Endpoint, purpose: Purpose) -> Classes:
    """Return the classes that `where` may have for `purpose`: none while the table cannot be read."""
    try:
        return active_policy().allowed(where, purpose)
    except (InvalidProfile, OSError) as error:
        logger.error("egress.table_unreadable", error=type(error).__name__)  # noqa: TRY400
        return NOTHING_HELD


def cross(where: Endpoint, purpose: Purpose, carries: Classes) -> None:
    """Let text of the classes `carries` pass to `where`, or raise `Withheld`."""
    if not carries <= (readable(where, purpose) if carries else carries):
        logger.warning("egress.withheld", purpose=purpose.value, provider=where.provider)
        raise Withheld


def _is_proxied(scheme: str, host: str, port: int) -> bool:
    proxies = getproxies()
    if not (proxies.get(scheme) or proxies.get("all")):
        return False
    return not proxy_bypass(f"{host}:{port}")
