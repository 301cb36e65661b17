"""The signature of messages: only the secret makes it, for these bytes, for a few minutes."""

import hashlib
import hmac

import pytest

from corpus.webhooks.signing import WINDOW_SECONDS, BadSignature, sign, verify

SECRET, BODY, AT = "whsec_0123", b'{"event":"test"}', 1_800_000_000


def test_the_signature_is_the_hmac_of_time_and_body() -> None:
    expected = hmac.new(SECRET.encode(), b"1800000000." + BODY, hashlib.sha256).hexdigest()

    assert sign(secret=SECRET, body=BODY, at=AT) == f"t=1800000000,v1={expected}"


@pytest.mark.parametrize("away", [-WINDOW_SECONDS, 0, WINDOW_SECONDS])
def test_a_signature_holds_within_the_window(away: int) -> None:
    verify(secret=SECRET, body=BODY, header=sign(secret=SECRET, body=BODY, at=AT), now=AT + away)


@pytest.mark.parametrize("away", [-WINDOW_SECONDS - 1, WINDOW_SECONDS + 1, 10**9])
def test_an_old_message_is_refused_though_it_is_signed(away: int) -> None:
    with pytest.raises(BadSignature, match="seconds away"):
        verify(secret=SECRET, body=BODY, header=sign(secret=SECRET, body=BODY, at=AT), now=AT + away)


@pytest.mark.parametrize(
    ("secret", "body", "header"),
    [
        ("whsec_other", BODY, sign(secret=SECRET, body=BODY, at=AT)),
        (SECRET, BODY + b" ", sign(secret=SECRET, body=BODY, at=AT)),
        # Another time with the digest of this one.
        (SECRET, BODY, sign(secret=SECRET, body=BODY, at=AT).replace("t=1800000000", "t=1800000001")),
    ],
)
def test_other_bytes_secrets_and_times_are_refused(secret: str, body: bytes, header: str) -> None:
    with pytest.raises(BadSignature, match="does not belong"):
        verify(secret=secret, body=body, header=header, now=AT)


@pytest.mark.parametrize(
    "header",
    ["", "t=,v1=", "t=1,v1=abc", "t=-1,v1=" + "0" * 64, "v1=" + "0" * 64, "t=١,v1=" + "0" * 64, "\0"],
)
def test_what_is_no_signature_is_refused(header: str) -> None:
    with pytest.raises(BadSignature, match="form"):
        verify(secret=SECRET, body=BODY, header=header, now=AT)
