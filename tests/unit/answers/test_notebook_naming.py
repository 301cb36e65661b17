"""What a person names a work by comes to one form; what looks like an identifier and is none is refused."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.notebook.addresses import NoAddress, normalise_address
from answers.notebook.naming import Named, NotNamed, named


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("10.1234/ABC.", "doi", "10.1234/abc"),
        ("doi:10.1234/x", "doi", "10.1234/x"),
        ("https://dx.doi.org/10.1234/X", "doi", "10.1234/x"),
        ("2101.00001v2", "arxiv", "2101.00001"),
        ("arXiv: hep-th/9901001", "arxiv", "hep-th/9901001"),
        ("https://arxiv.org/pdf/2101.00001v3.pdf", "arxiv", "2101.00001"),
        ("hep-th/9901001", "arxiv", "hep-th/9901001"),
        ("ISBN-13: 978-3-16-148410-0", "isbn", "9783161484100"),
        ("3-16-148410-X", "isbn", "9783161484100"),
        ("080442957x", "isbn", "9780804429573"),
        ("PMID: 00123456", "pmid", "123456"),
        ("https://pubmed.ncbi.nlm.nih.gov/12345/", "pmid", "12345"),
        ("https://Example.org/a", "url", "https://example.org/a"),
    ],
)
def test_an_identifier_is_known_by_its_form_and_comes_to_its_normal_form(
    text: str, kind: str, value: str
) -> None:
    assert named(text) == Named(kind, value)
    assert named(f"  {text}\n") == Named(kind, value)
    assert named(named(text).identifier if kind != "url" else value) == Named(kind, value)


@pytest.mark.parametrize(
    "text",
    [
        "10.1/x", "10.1234", "https://doi.org/11.1234/x", "978-3-16-148410-1", "3161484100", "ISBN 12345",
        "ftp://example.org/x", "http://", "https://u:p@example.org/", "http://a b/", "www.example.org/x",
        "...", "", " \u200b ", "x" * 501, "http://[::1", "https://example.org:99999/", "http://-a.org/", "http://a..b/",
        "https://example.org/" + "a" * 500, "10.1234/" + "a" * 500, "http://\ud800.org/",
    ],
)  # fmt: skip
def test_what_looks_like_an_identifier_and_is_none_is_refused_and_never_a_title(text: str) -> None:
    with pytest.raises(NotNamed):
        named(text)


@pytest.mark.parametrize(
    "text", ["The handbook of biochar", "Doing science 101", "ISBN agencies and 3 others", "PMID"]
)
def test_anything_else_is_a_title(text: str) -> None:
    assert named(f" {text.replace(' ', '  ')} ") == Named("", "", text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Biochar", "doi"),
        ("10.1234/x", "isbn"),
        ("12345678901", "pmid"),
        ("abc", "arxiv"),
        ("10.1234/x", "url"),
    ],
)
def test_a_kind_that_is_said_is_held_to(text: str, kind: str) -> None:
    with pytest.raises(NotNamed, match=r"is not a|An address begins"):
        named(text, kind=kind)


def test_a_title_can_be_said_to_be_one_whatever_it_looks_like() -> None:
    assert named("978-3-16-148410-1", kind="title") == Named("", "", "978-3-16-148410-1")


def test_an_identifier_may_have_a_title_beside_it_and_a_title_alone_will_do() -> None:
    assert named("10.1234/x", title=" A  work ") == Named("doi", "10.1234/x", "A work")
    assert named("", title="A work") == Named("", "", "A work")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("HTTP://Example.COM:80", "http://example.com/"),
        ("https://example.com:443/a?b=2&a=1#c", "https://example.com/a?b=2&a=1"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://münchen.de/ä?q=ü", "https://xn--mnchen-3ya.de/%C3%A4?q=%C3%BC"),
        ("https://example.com/?utm_source=x&id=7&fbclid=y&UTM_Medium=z", "https://example.com/?id=7"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/%7euser/%2f", "https://example.com/~user/%2F"),
        ("https://example.com./a", "https://example.com/a"),
        ("https://[2001:DB8::1]/x", "https://[2001:db8::1]/x"),
        ("https://example.com/a;b=1,2?x=%zz", "https://example.com/a;b=1,2?x=%25zz"),
        ("https://example.com?id=1", "https://example.com/?id=1"),
    ],
)
def test_an_address_loses_what_does_not_say_where_it_leads(text: str, form: str) -> None:
    assert normalise_address(text) == form


@given(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(["example.org", "EXAMPLE.org:443", "straße.example", "[::1]"]),
)
def test_the_form_of_an_address_is_its_own_form(path: str, query: str, host: str) -> None:
    try:
        form = normalise_address(f"https://{host}/{path}?{query}")
    except NoAddress:
        return

    assert normalise_address(form) == form
    assert form.isascii()
    parts = urlsplit(form)
    assert (parts.scheme, parts.username, parts.fragment) == ("https", None, "")


@given(st.text(max_size=60), st.sampled_from(["", "doi", "arxiv", "pmid", "isbn", "url", "title"]))
def test_any_text_is_named_or_refused(text: str, kind: str) -> None:
    try:
        found = named(text, kind=kind)
    except NotNamed:
        return

    assert bool(found.kind) == bool(found.value)
    assert found.kind or found.title
    assert len(found.value) <= 500
    found.identifier.encode()
