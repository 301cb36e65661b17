"""The one form of a web address by which it identifies a work. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

LONGEST = 500
_PORTS = {"http": 80, "https": 443}
# They say who sent the reader there, not what is there.
_TRACKING = re.compile(
    r"(?:utm_\w*|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|twclid|mc_[ce]id|_hs(?:enc|mi)|_ga|_gl)",
    re.IGNORECASE,
)
_UNRESERVED = re.compile(r"%(2D|2E|5F|7E|3\d|4[1-9A-F]|5[0-9A]|6[1-9A-F]|7[0-9A])", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?")
_KEPT = "!$&'()*+,;=:@/-._~%"


class NoAddress(ValueError):
    """What is no web address of a work, with the reason."""


def normalise_address(text: str) -> str:
    """Return the address without what does not say where it leads. Raises `NoAddress`.

    >>> normalise_address("HTTPS://Example.ORG:443/a/../b?utm_source=x&id=1#top")
    'https://example.org/b?id=1'
    """
    text = text.strip()
    if re.search(r"[\s\x00-\x1f\x7f\\<>\"]", text):
        raise NoAddress("An address holds no spaces, quotation marks or backslashes.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise NoAddress("This is not an address.") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not parts.hostname:
        raise NoAddress("An address begins with http:// or https:// and the name of a host.")
    if "@" in parts.netloc:
        raise NoAddress("An address with a user name or password in it is not kept. Leave them out.")
    host = _host(parts.hostname)
    place = host if port in (None, _PORTS[scheme]) else f"{host}:{port}"
    path = urljoin("http://host/", _escaped(parts.path) or "/").removeprefix("http://host")
    found = urlunsplit((scheme, place, path, _query(parts.query), ""))
    if len(found) > LONGEST:
        raise NoAddress(f"The address is longer than {LONGEST} characters.")
    return found


def _host(name: str) -> str:
    if ":" in name:
        return f"[{name.lower()}]"
    try:
        host = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = ""
    if len(host) > 253 or not _HOST.fullmatch(host):
        raise NoAddress("The address has no name of a host that could exist.")
    return host.removesuffix(".")


def _query(text: str) -> str:
    pairs = [pair for pair in text.split("&") if pair and not _TRACKING.fullmatch(pair.partition("=")[0])]
    return _escaped("&".join(pairs), also="?")


def _escaped(text: str, *, also: str = "") -> str:
    """Escape what must be, and nothing else; write escapes in one way."""
    try:
        text = quote(_STRAY_PERCENT.sub("%25", text), safe=_KEPT + also)
    except UnicodeEncodeError:
        raise NoAddress("The address holds characters that are no text.") from None
    plain = _UNRESERVED.sub(lambda found: chr(int(found[1], 16)), text)
    return _ESCAPE.sub(lambda found: found[0].upper(), plain)
