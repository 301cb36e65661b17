"""Verifying what a sign-in provider signed: by its own keys, for us, for now, for this very attempt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import ECKey, Key, KeySet, RSAKey
from joserfc.jws import JWSRegistry

# Signatures that only the holder of a private key can make. "none" proves nothing, and with the HS family
# whoever knows the public key, or our secret, could sign.
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
)  # fmt: skip
_KINDS: dict[str, type[RSAKey | ECKey]] = {"RSA": RSAKey, "EC": ECKey}
# How far the two clocks may be apart, in seconds.
LEEWAY = 60


class UntrustedToken(Exception):
    """A token does not prove what it says. `code` names the part that failed and holds nothing of it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class UnknownKey(UntrustedToken):
    """It names a key that is not among those that are known: perhaps the provider has a new one."""


def keys(document: bytes) -> KeySet:
    """Return the signing keys of a JWKS document; raise ValueError when it holds none that are used here."""
    try:
        listed = json.loads(document)["keys"]
        usable = [key for key in listed if key.get("kty") in _KINDS and key.get("use", "sig") == "sig"]
        found: list[Key] = [_KINDS[key["kty"]].import_key(key) for key in usable[:100]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, JoseError) as error:
        raise ValueError("not a set of keys") from error
    if not found:
        raise ValueError("no key that is used here")
    return KeySet(found)


def verify(
    token: str, known: KeySet, *, issuer: str, client_id: str, nonce: str | None, access_token: str = ""
) -> Mapping[str, Any]:
    """Return the claims of an ID token that holds in every respect; raise `UntrustedToken`.

    `nonce` None is for tokens that come with a refresh, which answer no attempt of a browser.
    """
    try:
        decoded = jwt.decode(
            token, known, registry=JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        )
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            options={
                "iss": {"essential": True, "value": issuer},
                "aud": {"essential": True, "value": client_id},
                "exp": {"essential": True},
                "sub": {"essential": True},
            },
            params={"nonce": nonce, "client_id": client_id, "access_token": access_token},
        )
        claims.validate(leeway=LEEWAY)
    except InvalidKeyIdError:
        raise UnknownKey("unknown_key") from None
    except JoseError as error:
        claim = getattr(error, "claim", "") or getattr(error, "claims", "")
        raise UntrustedToken(f"{error.error}:{claim}" if claim else error.error) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise UntrustedToken("unreadable") from None
    if not is_subject(claims["sub"]):
        raise UntrustedToken("invalid_claim:sub")
    return dict(claims)


def is_subject(value: Any) -> bool:
    """Whether `value` can name a person at a provider."""
    return isinstance(value, str) and 0 < len(value) <= 255 and value.isprintable()
