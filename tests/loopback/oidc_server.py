"""A sign-in provider on 127.0.0.1: OpenID Connect with codes, PKCE and rotating refresh tokens.

It is strict where a provider is: a code is good once and only with its verifier, a refresh token that comes
twice ends everything that came of it. `faults` names what it does wrong on purpose; `down` makes it hang up.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

CLIENT, SECRET = "sci-rag", "client-secret-canary-83b1f2"
# How a token can be wrong. Each is one thing; the rest of the token is right.
# With what is noticed of it.
TOKEN_FAULTS = {
    "wrong_nonce": "invalid_claim:nonce",
    "no_nonce": "missing_claim:nonce",
    "wrong_audience": "invalid_claim:aud",
    "second_audience": "invalid_claim:azp",
    "wrong_issuer": "invalid_claim:iss",
    "expired": "expired_token:exp",
    "no_expiry": "missing_claim:exp",
    "from_the_future": "invalid_claim:iat",
    "alg_none": "unsupported_algorithm",
    "hs256_public_key": "unsupported_algorithm",
    "hs256_secret": "unsupported_algorithm",
    "bad_signature": "bad_signature",
    "unknown_key": "unknown_key",
    "wrong_at_hash": "invalid_claim:at_hash",
    "no_subject": "missing_claim:sub",
    "number_subject": "invalid_claim:sub",
    "garbage_token": "decode_error",
    "no_id_token": "no_id_token",
    "other_userinfo": "userinfo_of_another",
}


@dataclass
class Grant:
    """What one sign-in was granted."""

    subject: str
    redirect: str = ""
    challenge: str = ""
    nonce: str = ""
    refresh: str = ""
    used: list[str] = field(default_factory=list)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: object) -> None:
        """Stay silent: clients hang up on purpose here."""


class OidcServer:
    """Start with `with OidcServer() as server`. `people`: claims by subject; `signed_in`: who browses."""

    def __init__(self) -> None:
        self.people: dict[str, dict[str, Any]] = {}
        self.signed_in = ""
        self.faults: set[str] = set()
        self.down = False
        self.claims_in = {"id_token", "userinfo"}
        self.life = 300
        self.gives_refresh = True
        self.wait = 0.0
        self.seen: list[tuple[str, str, dict[str, str], dict[str, str]]] = []
        self.revoked: set[str] = set()
        # Every ID token that was handed out.
        self.issued: list[str] = []
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self._codes: dict[str, Grant] = {}
        self._access: dict[str, tuple[Grant, float]] = {}
        self._refresh: dict[str, Grant] = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def issuer(self) -> str:
        return f"http://{self.host}"

    def __enter__(self) -> OidcServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def add(self, subject: str, **claims: Any) -> None:
        """Let there be a person, who is at the browser from now on."""
        self.people[subject] = {"preferred_username": subject, **claims}
        self.signed_in = subject

    def approve(self, address: str) -> str:
        """Do what a browser does at the page where one signs in; return the address it is sent back to."""
        page = httpx.get(address, trust_env=False)
        assert page.status_code == 200, page.text
        reply = httpx.get(f"{self.issuer}/approve?{urlsplit(address).query}", trust_env=False)
        return str(reply.headers["location"])

    def asked(self, path: str) -> int:
        return sum(1 for seen in self.seen if seen[1] == path)

    # --- What the endpoints answer ------------------------------------------------------------

    def discovery(self) -> dict[str, Any]:
        found = {
            "issuer": self.issuer + ("/other" if "discovery_of_another" in self.faults else ""),
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "end_session_endpoint": f"{self.issuer}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }
        if "keys_inside" in self.faults:
            found["jwks_uri"] = "http://169.254.169.254/latest/meta-data/"
        if "only_form" in self.faults:
            found["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
        if "no_sign_out" in self.faults:
            del found["end_session_endpoint"]
        return found

    def keys(self) -> dict[str, Any]:
        return {"keys": [self.key.as_dict(private=False)]}

    def authorized(self, query: dict[str, str]) -> str:
        """Return where the browser is sent back to, with a code."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = Grant(
                self.signed_in, query["redirect_uri"], query.get("code_challenge", ""), query.get("nonce", "")
            )
        reply = {"code": code, "state": query.get("state", ""), "iss": self.issuer}
        if "denied" in self.faults:
            reply = {"error": "access_denied", "state": query.get("state", "")}
        if "other_iss" in self.faults:
            reply["iss"] = "https://evil.example"
        return f"{query['redirect_uri']}?{urlencode(reply)}"

    def token(self, form: dict[str, str], headers: dict[str, str]) -> tuple[int, Any]:
        if not self._is_client(form, headers):
            return 401, {"error": "invalid_client"}
        if "token_error" in self.faults:
            return 500, {"error": "server_error"}
        with self._lock:
            grant = self._granted(form)
            if grant is None or grant.subject in self.revoked:
                return 400, {"error": "invalid_grant", "error_description": f"no grant for {form}"[:100]}
            access = secrets.token_urlsafe(24)
            self._access[access] = (grant, time.time() + self.life)
            told: dict[str, Any] = {"access_token": access, "token_type": "Bearer", "expires_in": self.life}
            if self.gives_refresh:
                grant.used.append(grant.refresh)
                grant.refresh = secrets.token_urlsafe(24)
                self._refresh[grant.refresh] = grant
                told["refresh_token"] = grant.refresh
        nonce = grant.nonce if form["grant_type"] == "authorization_code" else ""
        told["id_token"] = self.id_token(grant.subject, nonce, access)
        self.issued.append(told["id_token"])
        if "no_id_token" in self.faults:
            del told["id_token"]
        return 200, told

    def userinfo(self, headers: dict[str, str]) -> tuple[int, Any]:
        grant, until = self._access.get(headers.get("authorization", "").removeprefix("Bearer "), (None, 0.0))
        if grant is None or until < time.time() or grant.subject in self.revoked:
            return 401, {"error": "invalid_token"}
        subject = "somebody-else" if "other_userinfo" in self.faults else grant.subject
        person = self.people[grant.subject] if "userinfo" in self.claims_in else {}
        return 200, {"sub": subject, **person}

    def id_token(self, subject: str, nonce: str, access: str) -> str:
        now, faults = int(time.time()), self.faults
        digest = hashlib.sha256(access.encode()).digest()[:16]
        claims: dict[str, Any] = {
            "iss": self.issuer, "sub": subject, "aud": CLIENT, "iat": now, "exp": now + 300,
            "at_hash": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            **({"nonce": nonce} if nonce else {}),
            **(self.people[subject] if "id_token" in self.claims_in else {}),
        }  # fmt: skip
        wrong = {
            "wrong_nonce": {"nonce": "another"}, "wrong_audience": {"aud": "another-site"},
            "second_audience": {"aud": [CLIENT, "another-site"], "azp": "another-site"},
            "wrong_issuer": {"iss": "https://evil.example"}, "expired": {"exp": now - 3600},
            "from_the_future": {"iat": now + 3600}, "wrong_at_hash": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
            "number_subject": {"sub": 42},
        }  # fmt: skip
        for name in faults & wrong.keys():
            claims |= wrong[name]
        for name, claim in (("no_nonce", "nonce"), ("no_expiry", "exp"), ("no_subject", "sub")):
            if name in faults:
                claims.pop(claim, None)
        return self._signed(claims)

    def _signed(self, claims: dict[str, Any]) -> str:
        if "garbage_token" in self.faults:
            return "no.token"
        if "alg_none" in self.faults:
            parts = [{"alg": "none", "kid": "one"}, claims]
            texts = [
                base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
            ]
            return ".".join([*texts, ""])
        header = {"alg": "RS256", "kid": "one"}
        if "hs256_public_key" in self.faults:
            public = OctKey.import_key(
                self.key.as_pem(private=False).rstrip(b"\n").decode().replace("-", "+")
            )
            return jwt.encode({"alg": "HS256", "kid": "one"}, claims, public, algorithms=["HS256"])
        if "hs256_secret" in self.faults:
            return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET * 2), algorithms=["HS256"])
        key: RSAKey | ECKey = self.key
        if "bad_signature" in self.faults:
            key = RSAKey.generate_key(2048, {"kid": "one"})
        if "unknown_key" in self.faults:
            key, header = RSAKey.generate_key(2048, {"kid": "two"}), {"alg": "RS256", "kid": "two"}
        return jwt.encode(header, claims, key)

    def _granted(self, form: dict[str, str]) -> Grant | None:
        if form.get("grant_type") == "refresh_token":
            grant = self._refresh.get(form.get("refresh_token", ""))
            if grant is not None and grant.refresh != form["refresh_token"]:
                # Used before: whoever has it may have stolen it.
                self.revoked.add(grant.subject)
            return grant
        grant = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if grant is None or grant.redirect != form.get("redirect_uri") or grant.challenge != challenge:
            return None
        return grant

    def _is_client(self, form: dict[str, str], headers: dict[str, str]) -> bool:
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        in_form = form.get("client_id") == CLIENT and form.get("client_secret") == SECRET
        return in_form if "only_form" in self.faults else headers.get("authorization") == f"Basic {basic}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    provider: OidcServer

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self._answer({name: values[0] for name, values in parse_qs(body).items()})

    def _answer(self, form: dict[str, str]) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.provider.seen.append((self.command, path, form, headers))
        if self.provider.down:
            self.close_connection = True
            return
        time.sleep(self.provider.wait)
        asked = {name: values[0] for name, values in query.items()}
        # A client that has hung up by now is part of the test.
        with contextlib.suppress(OSError):
            self._route(path, asked, form, headers)

    def _route(self, path: str, query: dict[str, str], form: dict[str, str], headers: dict[str, str]) -> None:
        here = self.provider
        match path:
            case "/.well-known/openid-configuration":
                self._json(200, here.discovery())
            case "/jwks":
                self._json(200, here.keys())
            case "/token":
                self._json(*here.token(form, headers))
            case "/userinfo":
                self._json(*here.userinfo(headers))
            case "/authorize":
                asked = quote(urlsplit(self.path).query, safe="=&%+")
                self._page(f"<a href='/approve?{asked}'>Yes, it is me</a>")
            case "/approve":
                self._send(302, b"", {"Location": here.authorized(query)})
            case "/logout":
                self._page(f"<p>Signed out there</p><a href='{query['post_logout_redirect_uri']}'>Back</a>")
            case _:
                self._json(404, {})

    def _json(self, status: int, told: Any) -> None:
        body = b"{" if "garbage" in self.provider.faults else json.dumps(told).encode()
        self._send(status, body, {"Content-Type": "application/json"})

    def _page(self, inside: str) -> None:
        body = f"<!doctype html><title>Provider</title><link rel=icon href=data:,><h1>Provider</h1>{inside}"
        self._send(200, body.encode(), {"Content-Type": "text/html"})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent: the tests read `seen`."""
