"""Asking a provider over real HTTP: what it must prove, and every way in which it may fail to."""

import time
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from corpus.gateways import oidc
from corpus.gateways.oidc import Provider
from corpus.gateways.oidc_documents import BadDocument, description
from corpus.gateways.oidc_types import ProviderError, Registration, Tokens
from tests.loopback.oidc_server import CLIENT, SECRET, TOKEN_FAULTS, OidcServer

BACK = "http://site.example/sign-in/provider/done/"
VERIFIER = "v" * 64


@pytest.fixture(scope="module")
def running() -> Iterator[OidcServer]:
    with OidcServer() as server:
        yield server


@pytest.fixture
def server(running: OidcServer) -> Iterator[OidcServer]:
    running.faults.clear()
    running.revoked.clear()
    running.down, running.gives_refresh, running.life = False, True, 300
    running.claims_in = {"id_token", "userinfo"}
    running.add("ada", groups=["lab"], email="ada@lab.example")
    running.seen.clear()
    oidc.forget()
    yield running
    oidc.forget()


def provider(server: OidcServer, **changes) -> Provider:
    values = {
        "issuer": server.issuer,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "scopes": "openid profile",
        "hosts": (server.host,),
    }
    return Provider(Registration(**(values | changes)))


def code_of(server: OidcServer, here: Provider, nonce: str = "nonce") -> str:
    address = here.authorization_address(redirect=BACK, state="state", nonce=nonce, verifier=VERIFIER)
    return parse_qs(urlsplit(server.approve(address)).query)["code"][0]


def redeemed(server: OidcServer, here: Provider | None = None, **changes):
    here = here or provider(server)
    asked = {"code": code_of(server, here), "redirect": BACK, "verifier": VERIFIER, "nonce": "nonce"}
    return here.redeem(**(asked | changes))


def refusal(call, *args, **kwargs) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        call(*args, **kwargs)
    return raised.value


def test_a_person_is_vouched_for_with_claims_and_tokens(server):
    vouching = redeemed(server)

    assert (vouching.claims["sub"], vouching.claims["groups"]) == ("ada", ["lab"])
    assert vouching.tokens.refresh
    assert vouching.tokens.access_until > time.time() + 200


def test_the_browser_is_sent_with_a_challenge_a_state_and_a_nonce(server):
    address = provider(server).authorization_address(
        redirect=BACK, state="state", nonce="nonce", verifier=VERIFIER
    )

    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert asked.pop("code_challenge") not in {"", VERIFIER}
    assert asked == {
        "response_type": "code", "client_id": CLIENT, "redirect_uri": BACK, "scope": "openid profile",
        "state": "state", "nonce": "nonce", "code_challenge_method": "S256",
    }  # fmt: skip


@pytest.mark.parametrize("fault", TOKEN_FAULTS)
def test_a_token_that_is_wrong_in_one_thing_proves_nothing(server, fault):
    server.faults.add(fault)

    error = refusal(redeemed, server)

    assert (error.code, error.detail, error.passes) == ("untrusted", TOKEN_FAULTS[fault], False)


def test_keys_are_looked_up_again_once_for_a_name_that_is_not_known(server, monkeypatch):
    redeemed(server)
    assert server.asked("/jwks") == 1
    monkeypatch.setattr(oidc, "LOOK_AGAIN_SECONDS", -1)
    server.faults.add("unknown_key")

    refusal(redeemed, server)

    assert server.asked("/jwks") == 2


def test_whoever_names_unknown_keys_does_not_make_us_ask_for_keys_each_time(server):
    redeemed(server)
    server.faults.add("unknown_key")

    for _ in range(5):
        refusal(redeemed, server)

    assert server.asked("/jwks") == 1


def test_a_code_is_good_for_one_time_only(server):
    here = provider(server)
    code = code_of(server, here)
    redeemed(server, here, code=code)

    error = refusal(redeemed, server, here, code=code)

    assert (error.code, error.detail) == ("refused", "invalid_grant")


@pytest.mark.parametrize(
    "wrong", [{"verifier": "w" * 64}, {"redirect": "http://site.example/other/"}, {"code": "guessed"}]
)
def test_a_code_is_good_with_its_verifier_and_its_address_only(server, wrong):
    assert refusal(redeemed, server, **wrong).code == "refused"


def test_a_code_of_another_attempt_does_not_match_the_nonce(server):
    here = provider(server)

    assert refusal(redeemed, server, here, code=code_of(server, here, nonce="other")).code == "untrusted"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("token_error", "unavailable"),
        ("garbage", "unreadable"),
        ("discovery_of_another", "unreadable"),
        ("keys_inside", "unreadable"),
    ],
)
def test_a_provider_that_cannot_be_understood_may_vouch_another_time(server, fault, code):
    server.faults.add(fault)

    error = refusal(redeemed, server)

    assert (error.code, error.passes) == (code, True)


def test_a_provider_that_hangs_up_may_vouch_another_time(server):
    server.down = True

    assert refusal(redeemed, server).code in {"unreachable", "unreadable"}


def test_a_wrong_secret_is_the_sites_fault_and_not_the_persons(server):
    error = refusal(redeemed, server, provider(server, client_secret="wrong"))

    assert (error.code, error.detail, error.passes) == ("misconfigured", "invalid_client", True)


def test_the_secret_goes_into_the_form_where_the_provider_takes_it_nowhere_else(server):
    server.faults.add("only_form")

    redeemed(server)

    form, headers = next((form, headers) for _, path, form, headers in server.seen if path == "/token")
    assert form["client_secret"] == SECRET
    assert "authorization" not in headers


def test_the_secret_goes_to_the_token_endpoint_and_nowhere_else(server):
    redeemed(server)

    told = [(path, form, headers) for _, path, form, headers in server.seen]
    assert [path for path, form, headers in told if "Basic" in headers.get("authorization", "")] == ["/token"]
    assert not any(SECRET in str(form) for _, form, _ in told)
    assert all("cookie" not in headers for _, _, headers in told)


def test_a_private_provider_nobody_listed_is_never_asked(server):
    error = refusal(redeemed, server, provider(server, hosts=()))

    assert (error.code, error.detail) == ("unreachable", "bad_address")
    assert server.seen == []


def test_asking_again_brings_the_groups_of_now_and_another_refresh_token(server):
    here = provider(server)
    first = redeemed(server, here)
    server.people["ada"]["groups"] = []

    second = here.ask_again(first.tokens, subject="ada")

    assert second.claims["groups"] == []
    assert second.tokens.refresh not in {"", first.tokens.refresh}


@pytest.mark.parametrize("claims_in", [{"id_token"}, {"userinfo"}])
def test_asking_again_reads_the_groups_from_wherever_the_provider_says_them(server, claims_in):
    server.claims_in, here = claims_in, provider(server)
    tokens = redeemed(server, here).tokens
    server.people["ada"]["groups"] = ["other"]

    assert here.ask_again(tokens, subject="ada").claims["groups"] == ["other"]


def test_without_a_refresh_token_the_access_token_asks_until_it_ends(server):
    server.gives_refresh, here = False, provider(server)
    tokens = redeemed(server, here).tokens

    assert here.ask_again(tokens, subject="ada").claims["groups"] == ["lab"]
    assert refusal(here.ask_again, Tokens(tokens.access, time.time() - 1), subject="ada").code == "refused"


def test_a_person_whom_the_provider_let_go_is_refused_and_not_put_off(server):
    here = provider(server)
    tokens = redeemed(server, here).tokens
    server.revoked.add("ada")

    assert not refusal(here.ask_again, tokens, subject="ada").passes
    assert not refusal(here.ask_again, Tokens(tokens.access, tokens.access_until), subject="ada").passes


def test_another_person_than_the_sessions_is_refused(server):
    here = provider(server)
    tokens = redeemed(server, here).tokens

    assert not refusal(here.ask_again, tokens, subject="grace").passes


def test_no_error_and_no_repr_holds_a_token_or_the_secret(server):
    here = provider(server)
    vouching = redeemed(server, here)
    server.revoked.add("ada")
    error = refusal(here.ask_again, vouching.tokens, subject="ada")

    said = f"{vouching!r} {vouching.tokens!r} {error!r} {here._known_as!r}"
    assert not any(word in said for word in (SECRET, vouching.tokens.access, vouching.tokens.refresh, "ada"))


@pytest.mark.parametrize(
    "told",
    [
        b"[]",
        b"{}",
        b"[" * 100_000,
        b"\xff",
        b'{"issuer": "https://p.example"}',
        b'{"issuer": "https://p.example/", "authorization_endpoint": "https://p.example/a"}',
        (
            b'{"issuer": "https://p.example", "authorization_endpoint": "http://p.example/a",'
            b' "token_endpoint": "https://p.example/t", "jwks_uri": "https://p.example/k"}'
        ),
        (
            b'{"issuer": "https://p.example", "authorization_endpoint": "javascript:alert(1)",'
            b' "token_endpoint": "https://p.example/t", "jwks_uri": "https://p.example/k"}'
        ),
        (
            b'{"issuer": "https://p.example", "authorization_endpoint": ["https://p.example/a"],'
            b' "token_endpoint": "https://p.example/t", "jwks_uri": "https://p.example/k"}'
        ),
    ],
)
def test_a_description_that_is_not_whole_is_refused(told):
    with pytest.raises(BadDocument):
        description(told, issuer="https://p.example", listed=())
