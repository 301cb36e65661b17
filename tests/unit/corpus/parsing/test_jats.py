"""JATS to blocks."""

from datetime import date
from pathlib import Path

import pytest

from corpus.licensing import normalise
from corpus.parsing.blocks import BlockKind, ParseFailure
from tests.unit.corpus.parsing.reading import of_kind, read, shown

ARTICLE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS v1.1//EN" "JATS-archivearticle1.dtd">
<article xml:lang="en" xmlns:xlink="http://www.w3.org/1999/xlink"
xmlns:mml="http://www.w3.org/1998/Math/MathML">
<front><journal-meta><journal-title-group>
<journal-title>Journal of Straw</journal-title></journal-title-group>
</journal-meta><article-meta><article-id pub-id-type="doi">10.1000/ABC.9</article-id>
<title-group><article-title>Steam explosion of <italic>Triticum</italic> straw<xref ref-type="fn">*</xref>
</article-title></title-group>
<contrib-group><contrib contrib-type="author">
<name><surname>Green</surname><given-names>Ada</given-names></name>
</contrib><contrib contrib-type="author"><collab>The Straw Group</collab></contrib>
<contrib contrib-type="editor"><name><surname>Editor</surname><given-names>An</given-names></name></contrib>
</contrib-group><pub-date pub-type="collection"><year>2020</year></pub-date>
<pub-date pub-type="epub"><year>2021</year></pub-date>
<permissions>
<license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Open access.</license-p>
</license></permissions>
<abstract><p>Yields rose &alpha;-fold.</p></abstract></article-meta></front>
<body><sec><label>2</label><title>Methods</title>
<sec><label>2.1</label><title>Feedstock</title>
<p>Straw at 10<sup>-3</sup> g<sup><xref ref-type="bibr">1,2</xref></sup> with
<inline-formula><alternatives><tex-math>\\documentclass{x}\\begin{document}$x^2$\\end{document}</tex-math>
<mml:math><mml:mi>x</mml:mi></mml:math></alternatives></inline-formula> was used:
<list><list-item><p>chopped</p></list-item></list> and dried.</p>
<table-wrap><label>Table 1</label><caption><title>Yields.</title><p>Per hour.</p></caption>
<table><thead><tr><th>Feedstock</th><th>Yield</th></tr></thead>
<tbody><tr><td>Straw</td><td>210</td></tr></tbody>
</table><table-wrap-foot><p>n = 3</p></table-wrap-foot></table-wrap>
<fig><label>Figure 1</label><caption><p>The reactor.</p></caption><graphic xlink:href="x"/></fig>
</sec></sec></body>
<back><ack><p>We thank everyone.</p></ack><ref-list><title>References</title>
<ref><label>1</label><element-citation><person-group>
<name><surname>Smith</surname><given-names>J</given-names></name>
</person-group><year>2019</year><article-title>Straw</article-title>
<pub-id pub-id-type="doi">10.1000/XYZ</pub-id>
</element-citation></ref></ref-list></back>
<sub-article article-type="decision-letter"><body><p>Dear author.</p></body></sub-article></article>"""


def test_sections_tables_captions_and_back_matter_in_order(tmp_path: Path) -> None:
    assert shown(read(tmp_path / "a.xml", ARTICLE)) == [
        "heading1 Abstract",
        "paragraph Yields rose \u03b1-fold.",
        "heading1 2 Methods",
        "heading2 2.1 Feedstock",
        "paragraph Straw at 10\u207b\u00b3 g [1,2] with x^2 was used:",
        "list_item chopped",
        "paragraph and dried.",
        "table Table 1 Yields. Per hour.",
        "footnote n = 3",
        "caption Figure 1 The reactor.",
        "heading1 Acknowledgements",
        "paragraph We thank everyone.",
    ]


def test_the_front_matter_is_the_metadata(tmp_path: Path) -> None:
    document = read(tmp_path / "a.xml", ARTICLE)

    assert document.title == "Steam explosion of Triticum straw"
    assert document.authors == ("Ada Green", "The Straw Group")
    assert (document.year, document.doi, document.journal) == (2021, "10.1000/abc.9", "Journal of Straw")
    assert document.license_statement == "https://creativecommons.org/licenses/by/4.0/ Open access."
    assert document.language == "en"


@pytest.mark.parametrize(
    ("start", "said", "now", "later"),
    [
        ("2027-01-01", " (from 2027-01-01)", "unknown", "open_commercial"),
        ("2027-01", " (from 2027-01-31)", "unknown", "open_commercial"),
        ("2027", " (from 2027-12-31)", "unknown", "open_commercial"),
        ("2020-01-01", " (from 2020-01-01)", "open_commercial", "open_commercial"),
        ("soon", " (from 0000-00-00)", "unknown", "unknown"),
        ("2027-13-01", " (from 0000-00-00)", "unknown", "unknown"),
        ("", "", "open_commercial", "open_commercial"),
    ],
)
def test_a_licence_that_begins_on_a_later_day_opens_nothing_until_then(
    tmp_path: Path, start: str, said: str, now: str, later: str
) -> None:
    address = "http://creativecommons.org/licenses/by/4.0/"
    reference = f'<ali:license_ref xmlns:ali="http://www.niso.org/schemas/ali/1.0/" start_date="{start}">'
    article = ARTICLE.replace(
        '<license xlink:href="https://creativecommons.org/licenses/by/4.0/">',
        f"<license>{reference}{address}</ali:license_ref>",
    )

    statement = read(tmp_path / "a.xml", article).license_statement

    assert statement == f"{address}{said} Open access."
    readings = [normalise(statement, on=day).license_class for day in (date(2026, 6, 1), date(2028, 1, 1))]
    assert [reading.value for reading in readings] == [now, later]


def test_references_carry_their_doi_and_are_no_blocks(tmp_path: Path) -> None:
    document = read(tmp_path / "a.xml", ARTICLE)

    assert [(entry.text, entry.doi) for entry in document.references] == [
        ("Smith J 2019 Straw 10.1000/XYZ", "10.1000/xyz")
    ]
    assert "Left out: decision-letter." in document.warnings


def test_rows_and_header_of_a_table(tmp_path: Path) -> None:
    table = next(block for block in read(tmp_path / "a.xml", ARTICLE).blocks if block.kind is BlockKind.TABLE)

    assert (table.rows, table.header_rows) == ((("Feedstock", "Yield"), ("Straw", "210")), 1)


def _laughs() -> str:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE article [<!ENTITY e0 "ha">{entities}]><article><body><p>&e9;</p></body></article>'


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (_laughs(), "damaged"),
        (
            '<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]><article><body><p>&x;</p></body></article>',
            "damaged",
        ),
        (
            "<article><body>" + "<sec>" * 10_000 + "<p>x</p>" + "</sec>" * 10_000 + "</body></article>",
            "nested_too_deep",
        ),
        ("<art><fm/></art>", "unsupported_file_type"),
        ("<article><front/></article>", "no_text"),
    ],
    ids=["billion laughs", "external entity", "nested", "another vocabulary", "empty"],
)
def test_what_cannot_be_taken_is_named(tmp_path: Path, content: str, code: str) -> None:
    with pytest.raises(ParseFailure) as failure:
        read(tmp_path / "h.xml", content)

    assert failure.value.code == code


def test_broken_markup_is_repaired_and_said(tmp_path: Path) -> None:
    document = read(tmp_path / "b.xml", "<article><body><p>kept words<p></body>")

    assert of_kind(document, BlockKind.PARAGRAPH) == ["kept words"]
    assert document.warnings == ("The XML is not well formed; what could be read was kept.",)
