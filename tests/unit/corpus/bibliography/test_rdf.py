"""Zotero RDF: the vocabulary as Zotero writes it, and what hostile or broken RDF comes to."""

from pathlib import Path
from time import monotonic

import pytest

from corpus.bibliography.reading import read
from corpus.bibliography.records import Attachment, Code, Library

HEAD = """<rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#"
 xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/"
 xmlns:link="http://purl.org/rss/1.0/modules/link/"
 xmlns:dcterms="http://purl.org/dc/terms/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/">
"""
ARTICLE = """
    <bib:Article rdf:about="https://example.org/straw">
        <z:itemType>journalArticle</z:itemType>
        <dcterms:isPartOf rdf:resource="urn:issn:1234-5678"/>
        <bib:editors><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Ed</foaf:surname></foaf:Person></rdf:li></rdf:Seq></bib:editors>
        <bib:authors>
            <rdf:Seq>
                <rdf:li><foaf:Person><foaf:surname>Müller</foaf:surname><foaf:givenName>Jörg</foaf:givenName></foaf:Person></rdf:li>
                <rdf:li><foaf:Person><foaf:surname>The Straw Board</foaf:surname></foaf:Person></rdf:li>
            </rdf:Seq>
        </bib:authors>
        <link:link rdf:resource="#item_12"/>
        <link:link rdf:resource="#item_13"/>
        <dc:subject><z:AutomaticTag><rdf:value>straw</rdf:value></z:AutomaticTag></dc:subject>
        <dc:title>Storing &lt;i&gt;Straw&lt;/i&gt; &amp; reed</dc:title>
        <dcterms:abstract>Long.</dcterms:abstract>
        <dc:date>2010-05-01</dc:date>
        <z:language>en-GB</z:language>
        <dc:identifier><dcterms:URI><rdf:value>https://example.org/straw</rdf:value></dcterms:URI></dc:identifier>
        <dcterms:dateSubmitted>2022-07-22 06:36:31</dcterms:dateSubmitted>
        <dc:rights>CC BY 4.0</dc:rights>
        <dc:description>PMID: 123456
Citation Key: mueller2010</dc:description>
    </bib:Article>
    <bib:Journal rdf:about="urn:issn:1234-5678">
        <dc:title>Journal of Straw</dc:title>
        <prism:volume>7</prism:volume>
        <dc:identifier>DOI 10.1000/ABC</dc:identifier>
        <dc:identifier>ISSN 1234-5678</dc:identifier>
    </bib:Journal>
    <z:Attachment rdf:about="#item_12">
        <z:itemType>attachment</z:itemType>
        <rdf:resource rdf:resource="files/12/Müller - 2010 - Storing%20Straw.pdf"/>
        <dc:title>Full Text PDF</dc:title>
        <link:type>application/pdf</link:type>
    </z:Attachment>
    <z:Attachment rdf:about="#item_13">
        <z:itemType>attachment</z:itemType><dc:title>A link</dc:title></z:Attachment>
    <z:Collection rdf:about="#collection_1">
        <dc:title>All</dc:title><dcterms:hasPart rdf:resource="#item_12"/></z:Collection>
    <bib:Memo rdf:about="#item_99"><rdf:value>&lt;p&gt;A note&lt;/p&gt;</rdf:value></bib:Memo>
"""


def wrapped(body: str, head: str = '<?xml version="1.0"?>\n') -> str:
    return f"{head}{HEAD}{body}</rdf:RDF>\n"


def library(tmp_path: Path, text: str | bytes, name: str = "lib.rdf") -> Library:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path)


def codes(found: Library) -> list[Code]:
    return [problem.code for problem in found.problems]


def test_an_article_has_the_words_its_journal_and_its_files_are_written_apart_from(tmp_path):
    found = library(tmp_path, wrapped(ARTICLE))

    assert found.format == "zotero-rdf"
    assert codes(found) == []
    (record,) = found.records
    assert record.key == "mueller2010"
    assert record.line == 12
    assert record.title == "Storing Straw & reed"
    assert record.authors == ("Jörg Müller", "The Straw Board")
    assert (record.year, record.language, record.rights) == (2010, "en", "CC BY 4.0")
    assert (record.container, record.doi, record.pmid) == ("Journal of Straw", "10.1000/ABC", "123456")
    assert record.url == "https://example.org/straw"
    assert record.attachments == (
        Attachment(
            ("files/12/Müller - 2010 - Storing%20Straw.pdf", "files/12/Müller - 2010 - Storing Straw.pdf"),
            "Full Text PDF",
            "application/pdf",
        ),
    )


def test_resources_inside_others_are_read_like_those_that_are_named(tmp_path):
    found = library(
        tmp_path,
        wrapped("""
    <rdf:Description rdf:about="#item_1">
        <z:itemType>conferencePaper</z:itemType>
        <dcterms:isPartOf><bib:Journal><dc:identifier>DOI 10.1000/x</dc:identifier>
          <dcterms:isPartOf><bib:Series><dc:title>A series</dc:title></bib:Series></dcterms:isPartOf>
        </bib:Journal></dcterms:isPartOf>
        <bib:presentedAt><bib:Conference><dc:title>Straw days</dc:title></bib:Conference></bib:presentedAt>
        <z:presenters><rdf:Seq><rdf:li><foaf:Person><foaf:surname>Doe</foaf:surname>
          <foaf:givenname>Ann</foaf:givenname></foaf:Person></rdf:li></rdf:Seq></z:presenters>
        <dc:publisher><foaf:Organization><foaf:name>Press</foaf:name></foaf:Organization></dc:publisher>
        <dc:title>Talk</dc:title>
        <link:link><z:Attachment rdf:about="#item_2">
          <rdf:resource rdf:resource="files/2/a.pdf"/></z:Attachment></link:link>
    </rdf:Description>"""),
    )

    (record,) = found.records
    assert (record.key, record.authors, record.container) == ("item_1", ("Ann Doe",), "Straw days")
    assert (record.doi, record.publisher) == ("10.1000/x", "Press")
    assert [item.paths for item in record.attachments] == [("files/2/a.pdf",)]


def test_a_book_says_its_number_and_a_chapter_that_of_its_book(tmp_path):
    found = library(
        tmp_path,
        wrapped("""
    <bib:Book rdf:about="urn:isbn:0-306-40615-2"><z:itemType>book</z:itemType><dc:title>B</dc:title>
        <dc:identifier>ISBN 0-306-40615-2</dc:identifier></bib:Book>
    <bib:BookSection rdf:about="#item_5"><z:itemType>bookSection</z:itemType><dc:title>C</dc:title>
        <dcterms:isPartOf><bib:Book><dc:title>The book</dc:title>
        <dc:identifier>ISBN 0-306-40615-2</dc:identifier></bib:Book></dcterms:isPartOf></bib:BookSection>"""),
    )

    book, chapter = found.records
    assert book.identifier == ("isbn", "9780306406157")
    assert chapter.container == "The book"
    assert chapter.identifier is None


def test_a_number_on_a_journal_that_several_articles_share_is_of_none_of_them(tmp_path):
    two = "".join(
        f'<bib:Article rdf:about="#{n}"><z:itemType>journalArticle</z:itemType><dc:title>{n}</dc:title>'
        '<dcterms:isPartOf rdf:resource="#j"/></bib:Article>'
        for n in (1, 2)
    )
    journal = '<bib:Journal rdf:about="#j"><dc:identifier>DOI 10.1000/x</dc:identifier></bib:Journal>'

    assert [record.doi for record in library(tmp_path, wrapped(two + journal)).records] == ["", ""]


def test_a_file_that_stands_by_itself_is_a_record_that_says_nothing_else(tmp_path):
    found = library(
        tmp_path,
        wrapped("""<z:Attachment rdf:about="#item_7"><z:itemType>attachment</z:itemType>
          <rdf:resource rdf:resource="files/7/scan.pdf"/><dc:title>scan.pdf</dc:title></z:Attachment>"""),
    )

    (record,) = found.records
    assert (record.title, record.identifier) == ("", None)
    assert record.attachments[0].paths == ("files/7/scan.pdf",)


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-8"])
def test_the_encoding_that_the_xml_declares_is_believed(tmp_path, encoding):
    text = wrapped(ARTICLE, f'<?xml version="1.0" encoding="{encoding}"?>\n')

    found = library(tmp_path, text.encode(encoding))

    assert codes(found) == []
    assert found.records[0].authors[0] == "Jörg Müller"


@pytest.mark.parametrize(
    "prolog",
    [
        '<!DOCTYPE rdf:RDF [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE rdf:RDF [<!ENTITY f SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE rdf:RDF SYSTEM "http://127.0.0.1:9/x.dtd">',
        "<!-- a comment --><!doctype x>",
    ],
)
def test_a_file_that_declares_entities_or_a_document_type_is_not_read(tmp_path, prolog):
    body = "<bib:Book rdf:about='#1'><z:itemType>book</z:itemType><dc:title>&f;</dc:title></bib:Book>"

    found = library(tmp_path, f'<?xml version="1.0"?>\n{prolog}\n{HEAD}{body}</rdf:RDF>')

    assert found.records == []
    assert codes(found) == [Code.BROKEN_ENTRY]
    assert "declares a document type" in found.problems[0].message


def test_what_stands_before_the_place_where_the_xml_breaks_off_counts(tmp_path):
    found = library(tmp_path, wrapped(ARTICLE + "<bib:Book><dc:title>cut & off</dc:title>"))

    assert [record.title for record in found.records] == ["Storing Straw & reed"]
    assert codes(found) == [Code.BROKEN_ENTRY]
    assert found.problems[0].line > 40


def test_a_circle_of_containers_ends(tmp_path):
    found = library(
        tmp_path,
        wrapped("""<bib:Article rdf:about="#a"><z:itemType>journalArticle</z:itemType><dc:title>T</dc:title>
          <dcterms:isPartOf rdf:resource="#b"/></bib:Article>
          <bib:Journal rdf:about="#b"><dcterms:isPartOf rdf:resource="#c"/></bib:Journal>
          <bib:Journal rdf:about="#c"><dcterms:isPartOf rdf:resource="#b"/>
            <dc:title>C</dc:title></bib:Journal>"""),
    )

    assert found.records[0].container == "C"


@pytest.mark.parametrize(
    "text",
    [
        wrapped("<a>" * 5_000),
        wrapped(
            "<bib:Book><z:itemType>book</z:itemType><dc:title>" + "x" * 11_000_000 + "</dc:title></bib:Book>"
        ),
        wrapped("&undefined;<bib:Book>"),
        "<rdf:RDF",
        "<RDF >",
    ],
    ids=["deep", "long", "entity", "cut", "bare"],
)
def test_hostile_xml_is_told_and_never_raised(tmp_path, text):
    started = monotonic()

    found = library(tmp_path, text)

    assert found.problems
    assert monotonic() - started < 10


def test_rdf_of_another_vocabulary_is_told_what_to_export(tmp_path):
    found = library(
        tmp_path, '<x:RDF xmlns:x="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><x:Description/></x:RDF>'
    )

    assert codes(found) == [Code.UNKNOWN_FORMAT]
    assert "Zotero RDF" in found.problems[0].message


def test_ten_thousand_items_are_read_in_seconds_and_their_lines_are_right(tmp_path):
    item = (
        '<bib:Article rdf:about="#i{n}">\n<z:itemType>journalArticle</z:itemType>\n'
        '<dc:title>Title {n}</dc:title>\n<link:link rdf:resource="#f{n}"/>\n</bib:Article>\n'
        '<z:Attachment rdf:about="#f{n}">\n'
        '<z:itemType>attachment</z:itemType>\n<rdf:resource rdf:resource="files/{n}/a.pdf"/>\n'
        "</z:Attachment>\n"
    )
    text = wrapped("".join(item.format(n=n) for n in range(10_000)))
    started = monotonic()

    found = library(tmp_path, text)

    assert monotonic() - started < 10
    assert len(found.records) == 10_000
    last = found.records[-1]
    assert last.attachments[0].paths == ("files/9999/a.pdf",)
    assert text.split("\n")[last.line - 1].startswith('<bib:Article rdf:about="#i9999"')
