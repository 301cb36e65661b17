"""Reading the ledger: the page of administrators, its table for spreadsheets, and the command."""

import csv
import io
import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from corpus.models import GroupCeiling
from corpus.usage import ledger, queries
from corpus.usage.cli import usage
from corpus.usage.models import ModelUse

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_calls(db: None) -> None:
    """Tests that went before may have asked models, and those calls are written in their own time."""
    ledger.settle()
    ModelUse.objects.all().delete()


@pytest.fixture
def rows(asker: User) -> None:
    today = queries.today()
    use(today, asker.pk, "answer", "theses", "openai/priced", calls=4, prompt_tokens=4000, cost_usd="0.5")
    use(today, None, "extraction", "=cmd|' /C calc'!A0", "local/free", calls=2, unpriced_calls=2, failures=1)
    use(today, 999_999, "answer", "", "openai/priced", calls=1, completion_tokens=50, unpriced_calls=0)
    use(today - timedelta(days=40), None, "judging", "", "openai/old", calls=9, estimated_calls=3)


def use(day: Any, user: int | None, purpose: str, collection: str, model: str, **counts: Any) -> None:
    values = {"cost_usd": Decimal(counts.pop("cost_usd", "0")), **counts}
    ModelUse.objects.create(
        day=day, user_id=user, purpose=purpose, collection=collection, model=model, **values
    )


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(client: Client, **asked: str) -> str:
    response = client.get(reverse("usage"), asked)
    assert response.status_code == 200
    return str(response.content.decode())


@pytest.mark.usefixtures("rows")
class TestThePage:
    def test_shows_the_last_thirty_days_by_purpose(self, administrator: User) -> None:
        page = text(signed_in(administrator))

        assert "Writing answers" in page
        assert "Extracting the graph" in page
        assert "Judging answers" not in page
        assert page.count("<meter") == 2
        assert "0.5000 USD" in page

    def test_never_shows_nothing_for_a_cost_that_nobody_knows(self, administrator: User) -> None:
        page = text(signed_in(administrator), by="model")

        assert ">unknown</td>" in page.replace("\n", "")
        assert "unknown for 2 calls" in page

    def test_names_people_and_says_whose_account_is_gone(self, administrator: User) -> None:
        page = text(signed_in(administrator), by="user")

        assert ">asker</th>" in page
        assert "account 999999, deleted" in page
        assert "the system" in page

    def test_reaches_back_as_far_as_asked(self, administrator: User) -> None:
        page = text(signed_in(administrator), by="day", days="60")

        assert (queries.today() - timedelta(days=40)).isoformat() in page
        assert "estimated for 3 calls" in page

    def test_takes_what_it_does_not_know_for_nothing(self, administrator: User) -> None:
        page = text(signed_in(administrator), by="<script>", days="-1")

        assert "Writing answers" in page
        assert "<script>alert" not in page
        assert "greater than or equal to 1" in page

    def test_is_not_there_for_others(self, librarian: User, expert: User, asker: User) -> None:
        for person in (librarian, expert, asker):
            for route in ("usage", "usage_csv"):
                assert signed_in(person).get(reverse(route)).status_code == 404
        assert Client().get(reverse("usage")).status_code == 302

    def test_is_not_there_for_whom_a_ceiling_narrows(self, administrator: User) -> None:
        """Names of collections are in it, and numbers about all of them."""
        narrow = Group.objects.create(name="narrow")
        narrow.permissions.add(Permission.objects.get(codename="view_modeluse"))
        GroupCeiling.objects.create(group=narrow, license_classes=["public"])
        administrator.groups.set([narrow])

        assert signed_in(administrator).get(reverse("usage")).status_code == 404

    def test_is_sent_as_a_table_whose_cells_do_nothing(self, administrator: User) -> None:
        response = signed_in(administrator).get(reverse("usage_csv"))

        lines = list(csv.reader(io.StringIO(response.content.decode())))
        assert response["Content-Type"].startswith("text/csv")
        assert [len(line) for line in lines] == [12] * 4
        (formula,) = [line for line in lines if "cmd" in line[3]]
        assert formula[3].startswith("'=cmd")
        assert formula[-1] == "unknown"


def test_a_page_without_calls_says_so(administrator: User) -> None:
    assert "No calls to models" in text(signed_in(administrator))


@pytest.mark.usefixtures("rows")
class TestTheCommand:
    def test_says_the_same_for_machines(self) -> None:
        result = CliRunner().invoke(usage, ["--json", "--by", "model"])

        found = json.loads(result.stdout)
        assert found["total"]["calls"] == 7
        assert [row["model"] for row in found["rows"]] == ["openai/priced", "local/free"]
        assert [row["cost_usd"] for row in found["rows"]] == [0.5, None]

    def test_says_it_in_lines(self) -> None:
        result = CliRunner().invoke(usage, [])

        assert "Writing answers\t5 calls, 4,000 + 50 tokens, 0.5000 USD" in result.stdout
        assert "Extracting the graph\t2 calls, 0 + 0 tokens, cost unknown, 1 failed" in result.stdout
        assert "2 calls without a price" in result.stdout

    def test_of_no_calls_says_so(self) -> None:
        ModelUse.objects.all().delete()

        assert "No calls in the last 30 days." in CliRunner().invoke(usage, []).stdout
