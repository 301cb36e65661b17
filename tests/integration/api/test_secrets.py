"""A key's secret is nowhere but with whoever has it: not in logs, rows, reprs, errors or pages."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from corpus import browsing
from corpus.keys.authentication import authenticate
from corpus.keys.secret import hidden, new_secret
from sci_rag_site.logging import configuration
from tests.factories.keys import make_key
from tests.integration.api.calling import ROOT, Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[list[str]]:
    """What the site's own handler writes, as it is set up in production."""
    lines: list[str] = []
    made = logging.config.DictConfigurator(configuration(level="DEBUG", form="json")).configure_formatter(
        configuration(level="DEBUG", form="json")["formatters"]["events"]
    )

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    handler = Kept()
    handler.setFormatter(made)
    logging.getLogger().addHandler(handler)
    yield lines
    logging.getLogger().removeHandler(handler)


def test_a_secret_that_is_sent_everywhere_is_written_nowhere(
    asker: User, monkeypatch: pytest.MonkeyPatch, written: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    made = make_key(asker)
    secret = made.secret.reveal()
    body = secret.split("_", 2)[2]
    api = Api(secret)

    def fails(*_: object) -> None:
        raise RuntimeError(secret)

    answers = [
        api.get("/documents"),
        api.get("/documents", key=secret),
        api.get("/documents", q=secret),
        api.get(f"/chunks/{secret}"),
        api.get(f"/{secret}"),
        api.post("/query", {secret: 1}),
        api.post("/query", {"query": "x", "top_k": secret}),
        api.post("/query", secret),
        api.client.post(f"{ROOT}/query", secret, content_type=f"text/{secret}"),
        api.client.get(f"{ROOT}/status", headers={"Host": secret}),
        Api(secret + "x").get("/status"),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(browsing, "matching", fails)
        answers.append(api.get("/documents"))

    codes = [answer.status_code for answer in answers]
    assert codes == [200, 422, 200, 404, 404, 422, 422, 400, 422, 400, 401, 500]
    assert len(written) > 8
    assert [line for line in written if body in line] == []
    # Django names addresses and hosts as they were sent; the line above is what becomes of that.
    raw = [record.getMessage() for record in caplog.records if not record.name.startswith("django.")]
    assert [said for said in raw if body in said] == []
    # Back to the sender comes at most the name of a field that they made up.
    assert [answer.status_code for answer in answers if body in answer.content.decode()] == [422]
    assert body not in answers[-1].content.decode()


def test_no_table_holds_it(asker: User) -> None:
    made = make_key(asker)
    secret = made.secret.reveal()
    api = Api(secret)
    for call in ("/documents", "/status", "/nothing"):
        api.get(call)
    api.post("/notes", {"text": "Straw."})

    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_stat_user_tables ORDER BY relname")
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE %s', [f"%{secret[-20:]}%"])  # noqa: S608
            assert cursor.fetchone() == (0,), table


def test_no_repr_shows_it(asker: User) -> None:
    made = make_key(asker)
    secret = made.secret.reveal()

    shown = f"{made!r} {made.secret!r} {made.key!r} {authenticate(secret)!r} {made.key.__dict__}"

    assert secret not in shown
    assert secret.split("_", 2)[2] not in shown


def test_what_a_library_says_of_it_is_cut_off(written: list[str]) -> None:
    secret = new_secret("abcdefgh").reveal()

    logging.getLogger("django.some.library").warning("sent %s", {"headers": [f"Bearer {secret}"]})

    line = json.loads(written[-1])
    assert secret not in written[-1]
    assert "sr_abcdefgh_hidden" in line["event"]


@pytest.mark.parametrize("words", ["", "sr_abcdefgh", "no secret", "sr_abcdefgh_short"])
def test_other_words_stay_as_they_are(words: str) -> None:
    assert hidden(words) == words
    assert settings.LOGGING["handlers"]["stderr"]["formatter"] == "events"
