"""HTML to blocks."""

from pathlib import Path

import pytest

from corpus.parsing.blocks import BlockKind, ParseFailure
from tests.unit.corpus.parsing.reading import of_kind, read, shown

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Site | Straw</title>
<meta name="citation_title" content="Steam explosion of straw">
<meta name="citation_author" content="Ada Green"><meta name="citation_author" content="Bo Lind">
<meta name="citation_doi" content="10.1000/ABC.9"><meta name="citation_publication_date" content="2021/05/03">
<meta name="citation_journal_title" content="Journal of Straw">
<script>var secret = "never text";</script><style>p { color: red }</style></head><body>
<header>Site name</header><nav><a href="/">Home</a></nav>
<main><article><header><h1>Steam explosion of straw</h1></header>
<p>Yields rose to 10<sup>-3</sup> of <i>dry</i>
matter<br>per hour.</p><aside>Advertisement</aside>
<h2>Methods</h2><ul><li>chopped <b>straw</b></li><li><p>steam</p></li></ul>
<p hidden>invisible order to the reader</p><p style="display: none">another</p>
<table><caption>Table 1. Yields</caption><thead><tr><th>Feedstock</th><th colspan="2">Yield</th></tr></thead>
<tbody><tr><td rowspan="2">Straw</td><td>210</td><td>±5</td></tr>
<tr><td>220</td><td>±6</td></tr></tbody></table>
<pre>x = 1
  y = 2</pre><figure><img src="x" alt="a reactor"><figcaption>Fig. 1. The reactor.</figcaption></figure>
<h2>References</h2><ol><li>Smith J. Straw. doi:10.1000/xyz</li></ol>
</article></main>
<form><input value="search"><label>Search</label></form><footer>Imprint</footer></body></html>"""


def test_words_stay_and_furniture_goes(tmp_path: Path) -> None:
    assert shown(read(tmp_path / "page.html", PAGE)) == [
        "heading1 Steam explosion of straw",
        "paragraph Yields rose to 10\u207b\u00b3 of dry matter per hour.",
        "heading2 Methods",
        "list_item chopped straw",
        "list_item steam",
        "table Table 1. Yields",
        "code x = 1\n  y = 2",
        "paragraph a reactor",
        "caption Fig. 1. The reactor.",
    ]


def test_spanning_cells_stand_in_every_place_they_cover(tmp_path: Path) -> None:
    table = next(block for block in read(tmp_path / "p.html", PAGE).blocks if block.kind is BlockKind.TABLE)

    assert table.rows == (("Feedstock", "Yield", "Yield"), ("Straw", "210", "±5"), ("Straw", "220", "±6"))
    assert table.header_rows == 1


def test_citation_tags_are_the_metadata(tmp_path: Path) -> None:
    document = read(tmp_path / "page.html", PAGE)

    assert document.title == "Steam explosion of straw"
    assert document.authors == ("Ada Green", "Bo Lind")
    assert (document.doi, document.year, document.journal) == ("10.1000/abc.9", 2021, "Journal of Straw")
    assert [entry.doi for entry in document.references] == ["10.1000/xyz"]


def test_a_page_wrapped_in_a_form_is_still_read(tmp_path: Path) -> None:
    document = read(tmp_path / "f.html", "<html><body><form><p>All of the page.</p></form></body></html>")

    assert of_kind(document, BlockKind.PARAGRAPH) == ["All of the page."]


def test_a_layout_table_is_running_text(tmp_path: Path) -> None:
    page = (
        "<html><body><table><tr><td><table><tr><td>a</td></tr></table></td></tr></table>"
        "<p>b</p></body></html>"
    )

    assert [block.text or block.rows for block in read(tmp_path / "l.html", page).blocks] == [(("a",),), "b"]


def test_link_lists_go_where_no_main_part_is_declared(tmp_path: Path) -> None:
    page = (
        "<html><body><ul><li><a href='/'>Home</a></li><li><a href='/a'>About us</a></li></ul>"
        "<p>The text.</p><ul><li>See <a href='/d'>data</a> for all of the yields.</li><li>More.</li></ul>"
        "</body></html>"
    )

    blocks = read(tmp_path / "n.html", page).blocks

    assert [block.text for block in blocks] == ["The text.", "See data for all of the yields.", "More."]


def test_a_licence_in_the_words_is_kept_as_stated(tmp_path: Path) -> None:
    page = "<html><body><p>Text. This article is under a Creative Commons BY 4.0 licence.</p></body></html>"

    stated = read(tmp_path / "c.html", page).license_statement

    assert stated == "This article is under a Creative Commons BY 4.0 licence."


def test_the_declared_encoding_is_used(tmp_path: Path) -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body><p>Größe</p></body></html>'.encode("latin-1")

    assert of_kind(read(tmp_path / "e.html", page), BlockKind.PARAGRAPH) == ["Größe"]


def test_ten_thousand_nested_elements_are_named(tmp_path: Path) -> None:
    page = "<html><body>" + "<div>" * 10_000 + "text" + "</div>" * 10_000

    with pytest.raises(ParseFailure) as failure:
        read(tmp_path / "d.html", page)

    assert failure.value.code == "nested_too_deep"


def test_a_page_of_scripts_has_no_text(tmp_path: Path) -> None:
    with pytest.raises(ParseFailure) as failure:
        read(tmp_path / "s.html", "<html><body><script>1</script></body></html>")

    assert failure.value.code == "no_text"
