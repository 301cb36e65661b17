"""XML and HTML: entities that swell or reach out, nesting, tables of any size, encodings that lie."""

from __future__ import annotations

from collections.abc import Iterator

from tests.reliability.hostile.cases import Case, file

_BODY = "<body><sec><title>Storage</title><p>Straw was stored for ninety days. {}</p></sec></body>"
_PAPER = "<article><front><article-meta><title-group><article-title>Straw{}</article-title></title-group>"
_FRONT = _PAPER + "</article-meta></front>"


def cases() -> Iterator[Case]:
    """Yield the hostile XML and HTML documents."""
    yield from _xml()
    yield from _html()


def _jats(inner: str = "", *, before: str = "", title: str = "") -> str:
    return f"{before}{_FRONT.format(title)}{_BODY.format(inner)}</article>"


def _xml() -> Iterator[Case]:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    yield file("laughs.xml", _jats("&l11;", before=f'<!DOCTYPE article [<!ENTITY l0 "ha">{laughs}]>'))
    long = "x" * 50_000
    yield file("quadratic.xml", _jats("&b;" * 20_000, before=f'<!DOCTYPE article [<!ENTITY b "{long}">]>'))
    loop = '<!ENTITY a "&b;"><!ENTITY b "&a;">'
    yield file("entity-loop.xml", _jats("&a;", before=f"<!DOCTYPE article [{loop}]>"))
    for name, target in (
        ("file", "file:///etc/passwd"),
        ("relative", "../../../../etc/passwd"),
        ("http", "http://127.0.0.1:9/x"),
        ("device", "file:///dev/zero"),
        ("process", "file:///proc/self/environ"),
    ):
        entity = f'<!DOCTYPE article [<!ENTITY e SYSTEM "{target}">]>'
        yield file(f"outside-{name}.xml", _jats("&e;", before=entity))
        yield file(f"title-{name}.xml", _jats(before=entity, title="&e;"))
    yield file("dtd-outside.xml", _jats(before='<!DOCTYPE article SYSTEM "http://127.0.0.1:9/a.dtd">'))
    yield file("parameter.xml", _jats(before='<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>'))
    include = (
        '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" parse="text" href="file:///etc/passwd"/>'
    )
    yield file("include.xml", _jats(include))
    yield file(
        "style-sheet.xml", _jats(before='<?xml-stylesheet type="text/xsl" href="file:///etc/passwd"?>')
    )
    for depth in (300, 5_000, 100_000):
        yield file(f"deep-{depth}.xml", _jats("<b>" * depth + "x" + "</b>" * depth))
        yield file(f"sections-{depth}.xml", _jats("</p>" + "<sec>" * depth + "</sec>" * depth + "<p>"))
    yield file("never-closed.xml", _FRONT.format("") + "<body>" + "<sec>" * 50_000)
    yield file("attributes.xml", _jats("<b " + " ".join(f'a{n}="1"' for n in range(60_000)) + ">x</b>"))
    yield file("attribute-long.xml", _jats(f'<b a="{"y" * 2_500_000}">x</b>'))
    yield file("text-long.xml", _jats("straw " * 400_000))
    yield file("names-long.xml", _jats(f"<{'n' * 100_000}/>"))
    yield file("namespaces.xml", _jats("".join(f'<b xmlns:n{n}="u:{n}"/>' for n in range(20_000))))
    yield file("table-wide.xml", _jats(_table(2, 20_000)))
    yield file("table-tall.xml", _jats(_table(30_000, 2)))
    span = '<td colspan="999999999" rowspan="999999999">9</td>'
    yield file(
        "table-spans.xml", _jats(f"</p><table-wrap><table><tr>{span * 40}</tr></table></table-wrap><p>")
    )
    yield file("says-utf-16.xml", '<?xml version="1.0" encoding="UTF-16"?>' + _jats())
    yield file("says-ascii.xml", '<?xml version="1.0" encoding="ascii"?>' + _jats("\u00e9" * 50))
    yield file("says-nonsense.xml", '<?xml version="1.0" encoding="x-klingon"?>' + _jats())
    yield file("is-utf-16.xml", _jats().encode("utf-16"))
    yield file("is-utf-32.xml", _jats().encode("utf-32"))
    yield file("utf-7.xml", '<?xml version="1.0" encoding="UTF-7"?>' + _jats("+ADw-script+AD4-"))
    yield file("nul-inside.xml", _jats("a\0b"))
    yield file("controls.xml", _jats("".join(map(chr, range(1, 32)))))
    yield file("only-prologue.xml", '<?xml version="1.0"?>')
    yield file("two-roots.xml", _jats() * 2)
    yield file("comment-long.xml", _jats(f"<!--{'-x' * 500_000}-->"))


def _table(rows: int, columns: int) -> str:
    row = "<tr>" + "<td>1</td>" * columns + "</tr>"
    return f"</p><table-wrap><table>{row * rows}</table></table-wrap><p>"


def _html() -> Iterator[Case]:
    page = (
        "<html><head><title>Straw</title></head><body><h1>Straw</h1><p>Straw was stored.</p>{}</body></html>"
    )
    for name, inner in (
        ("deep-div", "<div>" * 100_000),
        ("deep-list", "<ul><li>" * 30_000),
        ("deep-table", "<table><tr><td>" * 20_000),
        ("deep-inline", "<b><i>" * 50_000 + "x"),
        ("deep-quote", "<blockquote>" * 40_000),
        ("spans-huge", "<table><tr><td colspan=2000000000 rowspan=2000000000>9</td></tr></table>"),
        ("spans-negative", "<table><tr><td colspan=-7 rowspan=x>9</td><td>8</td></tr></table>"),
        ("spans-many", "<table>" + "<tr>" + "<td colspan=1000 rowspan=1000>9</td>" * 30 + "</tr></table>"),
        ("rows-many", "<table>" + "<tr><td>1</td><td>2</td></tr>" * 60_000 + "</table>"),
        ("columns-many", "<table><tr>" + "<td>1</td>" * 150_000 + "</tr></table>"),
        ("headings-many", "<h2>Straw</h2>" * 60_000),
        ("attributes-many", "<p " + " ".join(f"a{n}=1" for n in range(80_000)) + ">x</p>"),
        ("data-address", f'<img src="data:image/png;base64,{"A" * 2_000_000}">'),
        ("script", "<script>" + "document.write('x');" * 50_000),
        ("entities", "&amp;" * 400_000),
        ("entity-numbers", "&#0;&#xD800;&#x110000;&#999999999999;" * 1_000),
        ("comment-open", "<!--" * 100_000),
        ("tag-open", "<p " * 100_000),
        ("template", "<template>" * 20_000),
        ("frames", '<iframe src="file:///etc/passwd"></iframe><object data="file:///etc/passwd">' * 100),
        ("svg", "<svg><foreignObject>" * 20_000),
        ("meta-refresh", '<meta http-equiv=refresh content="0;url=file:///etc/passwd">'),
    ):
        yield file(f"{name}.html", page.format(inner))
    yield file("says-utf-16.html", '<meta charset="utf-16">' + page.format("\u00e9"))
    yield file("says-latin.html", b'<meta charset="iso-8859-1">' + page.format("\u00e9\u20ac").encode())
    yield file("nothing-but-tags.html", "<html><body>" + "<br>" * 10_000, refused="no_text")
