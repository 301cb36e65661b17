"""What a model writes, byte for byte, with the finding of each sentence, from the stream to the row."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from answers import engine
from answers.events import EventName
from answers.models import Answer
from corpus.scope import scope
from tests.loopback.fixtures import forget_clients
from tests.loopback.openai_server import OpenAIServer, says

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module", autouse=True)
def _close_clients() -> Iterator[None]:
    yield
    forget_clients()


# Three sources: 1 is about straw, the others about a digester and a table of residues.
STRAW = "The methane yield of rice straw was 210 L/kg of volatile solids"


@pytest.mark.usefixtures("small_corpus")
@pytest.mark.parametrize(
    ("text", "kinds", "cited"),
    [
        (f"{STRAW} [1]. Fact two [9]. Fact three.", ["supported", "cites_unretrieved", "uncited"], {1}),
        (f"{STRAW} [1, 2].", ["supported"], {1, 2}),
        (f"{STRAW} [1-3].", ["supported"], {1, 2, 3}),
        (f"{STRAW} [1][2].", ["supported"], {1, 2}),
        ("Fact one [0].", ["cites_unretrieved"], set()),
        (f"{STRAW} [01].", ["supported"], {1}),
        (f"{STRAW} ［1］.", ["supported"], {1}),
        (f"{STRAW} 【1】.", ["supported"], {1}),
        (f"{STRAW} `[1]`.", ["uncited"], set()),
        ("```\nx[1]\n```\n\nFact three.", ["uncited"], set()),
        ("“Rice straw was digested at 37 °C for 40 days [12].” [1]", ["supported"], {1}),
        (f"  {STRAW} [1].\r\n\r\n\tEnd [2, 9].\n ", ["supported", "cites_unretrieved"], {1, 2}),
    ],
)
def test_the_stored_text_is_the_streamed_text_and_each_sentence_has_its_finding(
    asker: User, configured_model: OpenAIServer, text: str, kinds: list[str], cited: set[int]
) -> None:
    pieces = [text[start : start + 3] for start in range(0, len(text), 3)]
    configured_model.will(says(*pieces))

    events = list(
        engine.ask(
            question="What is the methane yield of rice straw?",
            requested=scope(exclude_retracted=True),
            by=asker,
            limit=3,
        )
    )

    row = Answer.objects.get(pk=events[0].data["answer"])
    streamed = "".join(event.data["text"] for event in events if event.name == EventName.DELTA)
    assert row.sources.count() == 3
    assert row.text.encode() == streamed.encode()
    assert streamed.replace("\r", "") == text.replace("\r", "")
    assert [finding.kind for finding in row.findings.order_by("sentence", "id")] == kinds
    assert set(row.sources.filter(is_cited=True).values_list("number", flat=True)) == cited
