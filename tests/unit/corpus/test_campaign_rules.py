"""Places that may be fetched from, the flow's sums, its drawing, and what files are called."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.campaigns import flow_diagram, locations, replies
from corpus.campaigns.downloads import file_name
from corpus.campaigns.prisma import Flow
from corpus.gateways import crossref_works, openalex
from corpus.gateways.unpaywall import Place

counts = st.integers(0, 5_000)


def a_place(url: str = "https://host.example/a.pdf", code: str = "cc-by", **fields) -> Place:
    values = {"version": "publishedVersion", "host": "publisher", "is_best": False, **fields}
    return Place(pdf_url=url, license_source=code, **values)


def test_versions_of_record_come_first_then_what_is_best() -> None:
    places = [
        a_place("https://a.example/1", version="submittedVersion", is_best=True),
        a_place("https://a.example/2", version="acceptedVersion"),
        a_place("https://a.example/3"),
        a_place("https://a.example/4", is_best=True),
        a_place("https://a.example/5", code="other-oa"),
        a_place("https://a.example/6", version="odd"),
    ]

    chosen = locations.choose(places)

    assert [place.url[-1] for place in chosen.places] == ["4", "3", "2", "1"]
    assert chosen.refusal == ""


@pytest.mark.parametrize("code", ["", "implied-oa", "other-oa", "publisher-specific-oa", "cc-by-xyz", "CC"])
def test_no_licence_but_a_known_open_one_lets_a_place_through(code: str) -> None:
    assert locations.choose([a_place(code=code)]).refusal == "no_explicit_license"


@given(st.text(max_size=300))
def test_no_reply_of_a_model_is_taken_for_more_than_it_is(text: str) -> None:
    try:
        judged = replies.read(text)
    except replies.MalformedReply:
        return
    assert judged.decision in {"include", "exclude"}


@given(
    counts, counts, counts, counts, counts,
    st.dictionaries(st.sampled_from(["no_doi", "timeout", "no_explicit_license"]), counts),
    st.dictionaries(st.sampled_from(["ready", "failed", "duplicate"]), counts),
)  # fmt: skip
def test_a_flow_whose_numbers_come_from_one_count_adds_up(
    duplicates, excluded, awaiting, unscreened, unsought, refused, taken_in
) -> None:
    included = unsought + sum(refused.values()) + sum(taken_in.values())
    works = included + excluded + awaiting + unscreened
    flow = Flow(
        found_by={"OpenAlex: straw": works + duplicates},
        duplicates=duplicates,
        candidates=works,
        unscreened=unscreened,
        included=included,
        excluded=excluded,
        awaiting=awaiting,
        refused=refused,
        not_sought=unsought,
        fetched=sum(taken_in.values()),
        taken_in=taken_in,
    )

    assert list(flow.differences()) == []
    drawn = ET.fromstring(flow_diagram.draw(flow, title="Straw", labels={}))  # noqa: S314 - our own
    said = "".join(drawn.itertext())
    assert f"Screened: {flow.screened:,}" in said
    assert f"Excluded: {excluded:,}" in said


def test_a_flow_that_does_not_add_up_says_where() -> None:
    flow = Flow(found_by={"a": 3}, candidates=2, included=1, excluded=0)

    assert [line.partition(":")[0] for line in flow.differences()] == [
        "identified = duplicates + unreadable + candidates",
        "candidates = screened + not screened yet",
        "included = not retrieved + not sought yet + fetched",
    ]


def test_the_drawing_says_everything_in_words_and_holds_no_marks_of_others() -> None:
    name = "</text><script>alert(1)</script>"
    flow = Flow(found_by={name: 2}, candidates=2, unscreened=2)

    drawn = flow_diagram.draw(flow, title=name, labels={})
    tree = ET.fromstring(drawn)  # noqa: S314 - our own

    assert "<script" not in drawn
    assert tree.attrib["role"] == "img"
    space = "{http://www.w3.org/2000/svg}"
    described = tree.find(f"{space}desc")
    assert described is not None
    assert "Records identified: 2" in described.text
    assert "style" not in drawn


@given(st.text(max_size=200))
def test_a_file_is_called_by_our_number_and_plain_letters(title: str) -> None:
    name = file_name(7, title)

    assert name.startswith("00007")
    assert name.endswith(".pdf")
    assert len(name) <= 80
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert ".." not in name


def test_an_abstract_by_places_is_put_together_and_hostile_places_are_left_out() -> None:
    index = {"straw": [1, 3], "Dry": [0], "bales": [2, True, -1, 10**9, "x"]}

    found = openalex.read(
        {"doi": "https://doi.org/10.5555/A", "display_name": "T", "abstract_inverted_index": index}
    )

    assert found is not None
    assert (found.key, found.abstract) == ("10.5555/a", "Dry straw bales straw")


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"DOI": "10.5555/a"},
        {"DOI": 5, "title": ["T"]},
        {"DOI": "10.5555/a", "title": [None, 3]},
        {"DOI": "none", "title": ["T"]},
    ],
)
def test_a_record_that_names_no_work_is_none(record) -> None:
    assert crossref_works.read(record) is None


def test_an_abstract_with_marks_is_read_as_words() -> None:
    words = "H<jats:sub>2</jats:sub>O &lt;b&gt;held&lt;/b&gt;\x00."
    abstract = f"<jats:title>Abstract</jats:title><jats:p>{words}</jats:p>"
    record = {
        "DOI": "10.5555/a",
        "title": ["A <i>T</i>"],
        "abstract": abstract,
        "issued": {"date-parts": [[None]]},
    }

    found = crossref_works.read(record)

    assert found is not None
    assert (found.title, found.year) == ("A T", None)
    assert found.abstract == "H2O <b>held</b>."
