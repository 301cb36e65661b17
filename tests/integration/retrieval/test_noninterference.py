"""Scope precedes ranking: what one may not see changes nothing in what one gets.

Every example stores a corpus, retrieves, deletes the ineligible documents and retrieves again. The two
results must be the same to the byte: ids, scores, counts, traces, fingerprint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.models import Document, Source
from corpus.rights import ALL_CLASSES
from corpus.scope import RetrievalScope, scope
from retrieval.layers import keyword, vector
from retrieval.retriever import retrieve
from tests.factories.corpus import SourceFactory
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db(transaction=True)

SENTENCES = (
    "Rice straw gave 230 litres of methane per kilogram of volatile solids.",
    "Biochar at 20 t/ha raised the yield of maize.",
    "IL-6R was blocked and β-catenin fell.",
    "PM2.5 rose after the burning of stubble.",
    "The soil held more water after two years.",
    "Samples were stored at \u221280 °C.",
    "Methane yield of wheat straw, ensiled and dry.",
    "Das Stroh wurde im Herbst gesammelt.",
    "An unrelated remark about libraries.",
)
QUESTIONS = (
    "How much methane does rice straw give?",
    "biochar yield",
    "stored at -80 C",
    '"methane yield"',
    "what did il6r and beta-catenin do",
    "Stroh im Herbst",
)


@dataclass(frozen=True)
class Row:
    """What decides about a document, so that eligibility can be worked out without the code under test."""

    license_class: str
    bucket: str
    year: int | None
    retracted: bool
    superseded: bool
    language: str
    bodies: tuple[str, ...]


rows = st.builds(
    Row,
    license_class=st.sampled_from([str(c) for c in ALL_CLASSES]),
    bucket=st.sampled_from(["local", "campaign:a"]),
    year=st.sampled_from([None, 1990, 2020]),
    retracted=st.booleans(),
    superseded=st.booleans(),
    language=st.sampled_from(["en", "en", "de", "xx"]),
    bodies=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3).map(tuple),
)
scopes = st.builds(
    scope,
    license_classes=st.none() | st.sets(st.sampled_from([str(c) for c in ALL_CLASSES]), min_size=1),
    buckets=st.none() | st.just(["local"]),
    year_min=st.none() | st.just(2000),
    exclude_retracted=st.booleans(),
)


def allows(wanted: RetrievalScope, row: Row) -> bool:
    """Decide eligibility by the words of the specification, in Python."""
    return (
        (wanted.license_classes is None or row.license_class in wanted.license_classes)
        and (wanted.buckets is None or row.bucket in wanted.buckets)
        and (wanted.year_min is None or (row.year is not None and row.year >= wanted.year_min))
        and not (wanted.exclude_retracted and row.retracted)
    )


def store(corpus: list[Row]) -> list[Document]:
    documents = [
        add(
            f"Document {number}",
            row.bodies,
            heading=f"Document {number}",
            language=row.language,
            license_class=row.license_class,
            bucket=row.bucket,
            year=row.year,
            source=SourceFactory(is_retracted=row.retracted),
        )
        for number, row in enumerate(corpus)
    ]
    for number, (document, row) in enumerate(zip(documents, corpus, strict=True)):
        if row.superseded and len(documents) > 1:
            document.status = Document.Status.SUPERSEDED
            document.superseded_by = documents[number - 1]
            document.save()
    return documents


def outcome(question: str, wanted: RetrievalScope) -> dict[str, Any]:
    """Return a whole result without what differs from one request to the next."""
    result = retrieve(question=question, scope=wanted, limit=10).as_dict()
    del result["request_id"]
    for trace in result["traces"]:
        del trace["milliseconds"]
    return result


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    corpus=st.lists(rows, min_size=1, max_size=6),
    wanted=scopes,
    question=st.sampled_from(QUESTIONS),
    read_all_up_to=st.sampled_from([keyword.READ_ALL_UP_TO, 0]),
    enough=st.sampled_from([keyword.ENOUGH_CANDIDATES[0], 0]),
)
def test_a_result_is_what_it_would_be_had_the_ineligible_never_been_ingested(
    corpus: list[Row],
    wanted: RetrievalScope,
    question: str,
    read_all_up_to: int,
    enough: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Both forms of the keyword layer: the one for few passages and the one for many, with words that are
    # all rare or all common. And both of the vector layer that a scope may have.
    monkeypatch.setattr(keyword, "READ_ALL_UP_TO", read_all_up_to)
    monkeypatch.setattr(keyword, "ENOUGH_CANDIDATES", (enough, enough))
    monkeypatch.setattr(keyword, "_FEW", keyword._FEW if enough else 1)
    monkeypatch.setattr(keyword, "_COMMON", keyword._COMMON if enough else 0)
    monkeypatch.setattr(vector, "exact_bound", lambda _: 20_000 if read_all_up_to else 0)
    monkeypatch.setattr(vector, "_NEAREST", 2)
    Document.objects.all().delete()
    Source.objects.all().delete()
    documents = store(corpus)
    eligible = {
        str(document.pk) for document, row in zip(documents, corpus, strict=True) if allows(wanted, row)
    }

    with_all = outcome(question, wanted)
    Document.objects.exclude(pk__in=eligible).delete()
    without = outcome(question, wanted)

    # A year bound tells how many undated documents it leaves out: of those the rest of the scope allows.
    if wanted.year_min is not None:
        with_all["eligible"].pop("undated")
        without["eligible"].pop("undated")
    assert with_all == without
    assert {item["document_id"] for item in with_all["items"]} <= eligible
    assert with_all["eligible"]["documents"] == len(eligible)
    assert not with_all["degraded"]


def test_the_same_corpus_without_a_scope_shows_what_the_scope_hid() -> None:
    """The control: were nothing ever ineligible, the property above would hold of broken code."""
    public = add("Public", [SENTENCES[8]], license_class="public")
    restricted = add("Restricted", [SENTENCES[0], SENTENCES[6]], license_class="restricted")
    question = QUESTIONS[0]

    everything = outcome(question, scope())
    narrowed = outcome(question, scope(license_classes=["public"]))

    assert everything["items"][0]["document_id"] == str(restricted.pk)
    assert [item["document_id"] for item in narrowed["items"]] == [str(public.pk)]
    assert narrowed["eligible"] == {"documents": 1, "passages": 1, "undated": 0}
    assert {trace["eligible"] for trace in narrowed["traces"] if trace["stage"] != "fusion"} == {1}


def test_the_successor_one_may_not_see_is_not_named() -> None:
    new = add("The secret new edition", [SENTENCES[1]], license_class="restricted")
    add(
        "The old edition",
        [SENTENCES[0]],
        license_class="public",
        status=Document.Status.SUPERSEDED,
        superseded_by=new,
    )

    narrowed = retrieve(question=QUESTIONS[0], scope=scope(license_classes=["public"])).items[0]
    seen = {item.title: item for item in retrieve(question=QUESTIONS[0], scope=scope()).items}

    assert (narrowed.superseded, narrowed.superseded_by_id, narrowed.superseded_by_title) == (True, "", "")
    assert seen["The old edition"].superseded_by_title == "The secret new edition"
