"""Which addresses may be asked for something. Decided before a request, again at every redirect."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

import httpx

LONGEST = 2_048

_PLAIN = re.compile(r"https?://[!-\[\]-~]+", re.IGNORECASE)
# At least two labels and a last one that begins with a letter: no notation of a number has that.
_PUBLIC_NAME = re.compile(r"(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_DEFAULT_PORTS = {"http": 80, "https": 443}

# What Python calls global and yet ends inside: addresses that translate to another one (NAT64, 6to4,
# Teredo), the old site-local range, and what carriers keep to themselves.
_LEADS_INSIDE = tuple(
    ipaddress.ip_network(text)
    for text in (
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2002::/16",
        "2001::/32",
        "fec0::/10",
        "192.88.99.0/24",
        "100.64.0.0/10",
    )
)


class BadAddress(ValueError):
    """An address that is not asked for anything, whatever it leads to."""


def is_public(address: str) -> bool:
    """Whether the IP address `address` belongs to the public internet, in every form it can be written in."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    ip = mapped or found
    if not ip.is_global or ip.is_multicast or ip.is_reserved or ip.is_unspecified:
        return False
    return not any(ip in network for network in _LEADS_INSIDE if network.version == ip.version)


def parse(address: str) -> httpx.URL:
    """Return `address` in parts; raise `BadAddress` unless it is a plain one of http or https.

    The same parser makes the request, so that what was checked is what is asked.
    """
    if len(address) > LONGEST or _PLAIN.fullmatch(address) is None:
        raise BadAddress("not a plain address")
    try:
        url = httpx.URL(address).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise BadAddress("not an address") from None
    if url.userinfo or not url.host:
        raise BadAddress("names a user or no host")
    return url


def host_of(url: httpx.URL) -> str:
    """Return the host of `url` as it goes over the wire, in lower case."""
    return url.raw_host.decode("ascii").lower()


def port_of(url: httpx.URL) -> int:
    """Return the port of `url`, said or not."""
    return url.port or _DEFAULT_PORTS[url.scheme]


def is_listed(url: httpx.URL, listed: Collection[str]) -> bool:
    """Whether the operator listed the host of `url`, which may then be a private one and speak plain http.

    An entry is `host:port`, or a `host` alone for its usual port.
    """
    port = port_of(url)
    named = {f"{host_of(url)}:{port}"} | ({host_of(url)} if port == _DEFAULT_PORTS[url.scheme] else set())
    return not named.isdisjoint(listed)


def require_public(url: httpx.URL) -> None:
    """Raise `BadAddress` unless `url` is https at a public name and the usual port."""
    if url.scheme != "https" or port_of(url) != _DEFAULT_PORTS["https"]:
        raise BadAddress("not https at its usual port")
    if _PUBLIC_NAME.fullmatch(host_of(url)) is None:
        raise BadAddress("not the name of a public host")
