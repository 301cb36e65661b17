"""`sci-rag retrieve`."""

import json

import pytest
from click.testing import CliRunner, Result

from retrieval.cli import profile, retrieve
from tests.integration.retrieval.corpora import add

pytestmark = pytest.mark.django_db(transaction=True)

METHANE = "Rice straw gave 230 litres of methane per kilogram.\x1b[31m"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(retrieve, list(arguments))


def test_json_is_one_object_with_the_documented_keys() -> None:
    add("Paper", [METHANE])

    result = run("methane from straw", "--json")

    assert result.exit_code == 0, result.output
    value = json.loads(result.stdout)
    assert set(value) >= {
        "request_id", "profile", "scope", "eligible", "items", "traces", "degraded", "fingerprint",
    }  # fmt: skip
    assert value["items"][0]["title"] == "Paper"
    assert value["eligible"] == {"documents": 1, "passages": 1, "undated": 0}


def test_text_names_title_place_and_layers_and_passes_no_escape_sequence() -> None:
    add("A paper [bold]on straw[/bold]", [METHANE], license_class="public")

    result = run("methane from straw")

    assert result.exit_code == 0
    assert "1. A paper [bold]on straw[/bold]" in result.stdout
    assert "Public domain" in result.stdout
    assert "vector #1" in result.stdout
    assert "\x1b[31m" not in result.stdout


def test_an_empty_license_option_allows_nothing() -> None:
    add("Paper", [METHANE])

    denied = json.loads(run("methane", "--license", "", "--json").stdout)

    assert [(trace["stage"], trace["status"]) for trace in denied["traces"]] == [("scope", "denied")]
    assert denied["items"] == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--license", "public,open_commercial"], {"Open"}),
        (["--license", "restricted"], {"Closed"}),
        (["--bucket", "shelf"], {"Closed"}),
        (["--source", "local"], {"Open"}),
        (["--year-min", "2015"], {"Open"}),
        (["--year-max", "2015"], {"Closed"}),
        (["--author", "LOVELACE"], {"Open"}),
        (["--journal", "Annals"], {"Closed"}),
        (["--exclude-doi", "https://doi.org/10.1234/closed"], {"Open"}),
        ([], {"Open", "Closed"}),
    ],
)
def test_every_scope_option_narrows(options: list[str], expected: set[str]) -> None:
    add("Open", [METHANE], license_class="public", year=2020)
    add(
        "Closed", ["Straw and methane again."], license_class="restricted", bucket="shelf", year=2010,
        authors=["B. Somebody"], journal="Annals", doi="10.1234/closed",
    )  # fmt: skip

    value = json.loads(run("methane straw", "--json", *options).stdout)

    assert {item["title"] for item in value["items"]} == expected


def test_a_document_is_left_out_by_its_id() -> None:
    left_out = add("Left out", [METHANE])
    add("Kept", ["Straw and methane again."])

    value = json.loads(run("methane", "--json", "--exclude-document", str(left_out.pk)).stdout)

    assert [item["title"] for item in value["items"]] == ["Kept"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["methane", "--license", "free"],
        ["methane", "--limit", "0"],
        ["methane", "--limit", "51"],
        ["methane", "--profile", "deeper"],
        ["methane", "--year-min", "2020", "--year-max", "2010"],
        ["methane", "--exclude-doi", "not a doi"],
        ["methane", "--exclude-document", "7"],
        [""],
        [],
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(arguments: list[str]) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_routing_is_explained_with_the_words_that_decided() -> None:
    add("Paper", [METHANE])

    said = run("Why does straw yield methane?", "--explain-routing").stdout
    value = json.loads(run("straw versus hay", "--profile", "auto", "--explain-routing", "--json").stdout)

    assert "causal: it says “why”" in said
    assert value["routing"]["query_class"] == "comparison"
    assert value["profile"] == "deep"


def test_layers_are_put_in_and_left_out_by_option() -> None:
    add("Paper", [METHANE])

    value = json.loads(run("methane", "--without", "vector", "--with", "hyde", "--json").stdout)

    assert value["layers"] == ["keyword", "hyde"]


def test_a_layer_cannot_be_both_in_and_out() -> None:
    result = run("methane", "--with", "hyde", "--without", "hyde")

    assert result.exit_code == 2
    assert "hyde: both --with and --without." in result.output


def test_the_latency_of_every_stage_is_measured_over_the_titles_in_scope() -> None:
    add("Methane from straw", [METHANE], license_class="public")
    add("Closed", [METHANE], license_class="restricted")

    result = CliRunner().invoke(profile, ["--repeat", "3", "--license", "public", "--json"])

    value = json.loads(result.stdout)
    stages = {row["stage"]: row for row in value["stages"]}
    assert {"vector", "keyword", "hyde", "fusion", "total"} <= set(stages)
    assert all(row["requests"] == 3 for row in stages.values())
    assert stages["hyde"]["statuses"] == {"disabled": 3}
    assert stages["total"]["p50"] <= stages["total"]["p95"] <= stages["total"]["slowest"]
    assert "total" in CliRunner().invoke(profile, ["--repeat", "1"]).stdout


def test_a_corpus_without_titles_in_scope_is_told_to_be_given_a_question() -> None:
    result = CliRunner().invoke(profile, ["--repeat", "1"])

    assert result.exit_code == 2
    assert "--question" in result.output
