"""Signing in, the theme, health, and what is shown when something goes wrong."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db


def test_signing_in_leads_to_the_ask_page(client: Client, asker: User) -> None:
    response = client.post(
        reverse("login"), {"username": "asker", "password": "correct horse battery"}, follow=True
    )

    assert response.redirect_chain == [(reverse("ask"), 302)]
    assert response.wsgi_request.user == asker


def test_a_wrong_password_is_answered_in_words_and_keeps_the_name(client: Client, asker: User) -> None:
    response = client.post(reverse("login"), {"username": "asker", "password": "wrong"})

    assert response.status_code == 200
    assert 'role="alert"' in response.text
    assert 'value="asker"' in response.text


def test_an_unknown_name_reads_like_a_wrong_password(client: Client, asker: User) -> None:
    known = client.post(reverse("login"), {"username": "asker", "password": "wrong"})
    unknown = client.post(reverse("login"), {"username": "nobody", "password": "wrong"})

    def alert(text: str) -> str:
        found = re.search(r'role="alert".*?</div>', text, re.DOTALL)
        return found[0] if found else ""

    assert alert(known.text) == alert(unknown.text)


def test_signing_out_needs_a_post(client: Client, asker: User) -> None:
    client.force_login(asker)

    assert client.get(reverse("logout")).status_code == 405
    assert client.post(reverse("logout")).status_code == 302
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("theme", ["light", "dark", "system"])
def test_the_chosen_theme_is_rendered_by_the_server(client: Client, theme: str) -> None:
    response = client.post(reverse("theme"), {"theme": theme, "next": reverse("login")}, follow=True)

    assert f'data-theme="{theme}"' in response.text


def test_a_theme_that_does_not_exist_is_the_systems(client: Client) -> None:
    client.cookies["theme"] = '"><script>'

    assert 'data-theme="system"' in client.get(reverse("login")).text


def test_the_theme_switch_never_leads_to_another_site(client: Client) -> None:
    response = client.post(reverse("theme"), {"theme": "dark", "next": "https://example.org/"})

    assert response.headers["Location"] == reverse("ask")


def test_health_answers_without_signing_in(client: Client) -> None:
    assert client.get(reverse("healthz")).json() == {"status": "ok"}
    ready = client.get(reverse("readyz"))
    free = ready.json()["disk"]["free"]
    assert ready.status_code == 200
    assert ready.json() == {
        "status": "ok",
        "failing": [],
        "database": "ok",
        "migrations": "ok",
        "queue": {"queued": 0, "leased": 0, "oldest_seconds": 0},
        "disk": {"free": free},
    }
    assert 0.05 <= free <= 1


def test_a_form_without_its_token_is_refused_in_words(asker: User) -> None:
    client = Client(enforce_csrf_checks=True)

    response = client.post(reverse("login"), {"username": "asker", "password": "correct horse battery"})

    assert response.status_code == 403
    assert "The form had expired" in response.text


def test_an_unexpected_fault_names_the_request_and_nothing_else(
    client: Client, asker: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("canary-words-of-a-fault")

    monkeypatch.setattr("corpus.browsing.matching", broken)
    client.raise_request_exception = False
    client.force_login(asker)

    response = client.get(reverse("documents"))

    assert response.status_code == 500
    assert response.headers["X-Request-ID"] in response.text
    assert "canary" not in response.text


PAGES = ["/", "/sign-in/", "/documents/", "/answers/", "/nothing-here/", "/healthz"]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("signed_in", [False, True])
def test_every_answer_carries_the_protective_headers(
    client: Client, asker: User, path: str, signed_in: bool
) -> None:
    if signed_in:
        client.force_login(asker)

    headers = client.get(path).headers

    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == "'none'"
    assert headers["Cache-Control"].replace(" ", "").count("no-store") == 1
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]
    assert re.fullmatch(r"[0-9a-f]{32}", headers["X-Request-ID"])


def test_a_request_id_from_outside_is_not_taken_over(client: Client) -> None:
    headers = client.get("/healthz", headers={"X-Request-ID": "forged"}).headers

    assert headers["X-Request-ID"] != "forged"


@pytest.mark.parametrize("path", ["/sign-in/", "/documents/", "/nothing-here/", "/"])
def test_no_page_has_inline_script_or_style(client: Client, librarian: User, path: str) -> None:
    if path != "/sign-in/":
        client.force_login(librarian)

    text = client.get(path).text

    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert not re.search(r'(?:src|href)="https?://(?!doi\.org/)', text)


def test_static_files_are_served_whole_by_the_application(client: Client) -> None:
    response = client.get("/static/js/app.js")

    assert response.status_code == 200
    assert not response.streaming
    assert "use strict" in response.text
