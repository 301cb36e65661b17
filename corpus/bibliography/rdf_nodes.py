"""RDF/XML as nodes with their properties, read in pieces: no entities, no DTDs, no network. Pure.

No general reader of RDF: what reference managers write is a list of described resources, some of them inside
others, that point to one another by name.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

Element = Any

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
# Names are kept with the short form of the vocabulary that says them; of unknown vocabularies without.
_VOCABULARIES = {
    _RDF: "rdf",
    "http://www.zotero.org/namespaces/export#": "z",
    "http://purl.org/net/biblio#": "bib",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://purl.org/rss/1.0/modules/link/": "link",
    "http://prismstandard.org/namespaces/1.2/basic/": "prism",
}
_LONGEST_VALUE = 100_000
_LAST_COUNTED_LINE = 65_535


@dataclass(slots=True)
class Node:
    """A described resource: `texts`, `targets` (names of others) and `nodes` by property, in their order."""

    kind: str
    line: int
    name: str = ""
    texts: dict[str, list[str]] = field(default_factory=dict)
    targets: dict[str, list[str]] = field(default_factory=dict)
    nodes: dict[str, list[Node]] = field(default_factory=dict)

    def text(self, *properties: str) -> str:
        """Return the first value of the first of the properties that has one."""
        for name in properties:
            for value in self.texts.get(name, ()):
                if value:
                    return value
        return ""

    def below(self) -> Iterator[Node]:
        """Yield the node and every node inside it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [child for children in node.nodes.values() for child in children]


class Broken(ValueError):
    """The XML cannot be read any further. The message says why."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read(text: str) -> Iterator[Node]:
    """Yield the resources that stand in the RDF element, one after another.

    Each is let go before the next is read, so that a large library costs no tree. Raises `Broken` where the
    XML breaks off; what came before has been yielded by then.
    """
    root: Element = None
    events = etree.iterparse(
        io.BytesIO(text.encode("utf-8", "replace")),
        events=("start", "end"),
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for event, element in events:
            if root is None:
                root = element
            elif event == "end" and element.getparent() is root:
                if _local(element)[0] != "":
                    yield _node(element)
                element.clear()
                del root[0]
    except etree.XMLSyntaxError as error:
        line = error.lineno or 0
        raise Broken((error.msg or "it ends too early").partition(", line ")[0], line) from None


def _node(element: Element) -> Node:
    node = Node(_name(element.tag), _line(element), _own_name(element))
    for attribute, value in element.attrib.items():
        if _name(attribute).partition(":")[0] not in ("rdf", "", "xml"):
            node.texts.setdefault(_name(attribute), []).append(value[:_LONGEST_VALUE])
    for child in element:
        vocabulary, local = _local(child)
        if not local:
            continue
        name = "rdf:li" if vocabulary == _RDF and local.startswith("_") else _name(child.tag)
        target = child.get(f"{{{_RDF}}}resource") or child.get(f"{{{_RDF}}}nodeID")
        if target:
            node.targets.setdefault(name, []).append(target[:_LONGEST_VALUE])
        elif len(child):
            inside = [_node(each) for each in child if _local(each)[1]]
            node.nodes.setdefault(name, []).extend(inside)
        else:
            node.texts.setdefault(name, []).append((child.text or "").strip()[:_LONGEST_VALUE])
    return node


def _line(element: Element) -> int:
    """Return the line that an element begins on. Of a late one libxml2 tells where its first text ends."""
    line = element.sourceline or 0
    return line if line <= _LAST_COUNTED_LINE else line - (element.text or "").count("\n")


def _own_name(element: Element) -> str:
    if own := element.get(f"{{{_RDF}}}ID"):
        return f"#{own}"
    return str(element.get(f"{{{_RDF}}}about") or element.get(f"{{{_RDF}}}nodeID") or "")


def _local(element: Element) -> tuple[str, str]:
    """Return vocabulary and name of an element; nothing of an entity or what else is none."""
    tag = element.tag
    if not isinstance(tag, str):
        return "", ""
    vocabulary, _, local = tag.rpartition("}")
    return vocabulary.removeprefix("{"), local


def _name(tag: str) -> str:
    vocabulary, _, local = tag.rpartition("}")
    short = _VOCABULARIES.get(vocabulary.removeprefix("{"), "")
    return f"{short}:{local}" if short else local
