"""JATS and PMC XML: metadata, sections, tables and references straight from the markup."""

from __future__ import annotations

import re
from html.entities import html5
from pathlib import Path

from lxml import etree

from corpus.identifiers import normalise_doi
from corpus.parsing import jats_body, jats_metadata
from corpus.parsing.blocks import ParsedDocument, ParseFailure
from corpus.parsing.decoding import decode
from corpus.parsing.limits import ParseLimits
from corpus.parsing.markup import Element, local_name
from corpus.parsing.media_types import JATS
from corpus.parsing.metadata import as_year

PARSER = "lxml-jats 1"
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_ENCODING = re.compile(r"(<\?xml[^>]{0,200}?)\s+encoding\s*=\s*[\"'][^\"'>]{0,40}[\"']")


def parse(path: Path, limits: ParseLimits) -> ParsedDocument:
    """Read one article. Entities of the document's own, DTDs and the network are never used."""
    data = path.read_bytes()
    article, warnings = article_of(data, limits)
    facts = jats_metadata.Front(article)
    jats_body.simplify(article)
    blocks = tuple(jats_body.blocks(article))
    if not blocks:
        raise ParseFailure("no_text", "The article has neither an abstract nor a body.")
    left_out = jats_body.left_out(article)
    return ParsedDocument(
        blocks=blocks,
        parser=PARSER,
        media_type=JATS,
        title=facts.title(),
        authors=facts.authors(),
        year=as_year(facts.year()),
        doi=normalise_doi(facts.identifier("doi")) or "",
        journal=facts.journal(),
        language=facts.language(),
        license_statement=facts.license_statement(),
        references=jats_metadata.references(article),
        warnings=(*warnings, *((f"Left out: {left_out}.",) if left_out else ())),
        quality={"characters": sum(len(block.text) for block in blocks)},
    )


def article_of(data: bytes, limits: ParseLimits) -> tuple[Element, tuple[str, ...]]:
    """Return the article of a file, with what to say about how it was read."""
    text, warnings = _text(data)
    if len(text) > limits.max_characters:
        raise ParseFailure("too_large", f"The XML has more than {limits.max_characters:,} characters.")
    try:
        root = etree.fromstring(text, parser=_parser(recover=False))
    except etree.XMLSyntaxError as error:
        if "depth" in str(error).lower():
            raise ParseFailure("nested_too_deep", "The XML is nested more than 250 levels deep.") from error
        root = etree.fromstring(text, parser=_parser(recover=True))
        warnings += ("The XML is not well formed; what could be read was kept.",)
    if root is None:
        raise ParseFailure("damaged", "The file cannot be read as XML.")
    _refuse_own_entities(root)
    article = root if local_name(root) == "article" else next(root.iter("{*}article"), None)
    if article is None:
        raise ParseFailure(
            "unsupported_file_type", f"The XML is not a JATS article; its root is <{local_name(root)[:40]}>."
        )
    return article, warnings


def _text(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the document as UTF-8 with the named characters of HTML and JATS in place of their entities."""
    declared = re.match(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""", data)
    warnings: tuple[str, ...] = ()
    try:
        text = data.decode(declared[1].decode("ascii") if declared is not None else "utf-8-sig")
    except (LookupError, UnicodeDecodeError):
        text, encoding = decode(data)
        warnings = () if encoding == "utf-8" else (f"The XML is not UTF-8; it was read as {encoding}.",)
    text = _ENCODING.sub(r"\1", text.lstrip("\ufeff \t\r\n"), count=1)
    return _ENTITY.sub(_character, text).encode("utf-8", "replace"), warnings


def _character(entity: re.Match[str]) -> str:
    name = entity[1]
    return entity[0] if name in _XML_ENTITIES else html5.get(f"{name};", entity[0])


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _refuse_own_entities(root: Element) -> None:
    """Refuse documents that define entities: a kilobyte can stand for gigabytes or for a local file."""
    subset = root.getroottree().docinfo.internalDTD
    if subset is not None and any(True for _ in subset.iterentities()):
        raise ParseFailure("damaged", "The XML defines entities of its own, which are not read.")
