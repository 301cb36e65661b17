"""Zotero RDF, the format in which Zotero exports a library with its files. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from corpus.bibliography.items import extra_lines
from corpus.bibliography.rdf_nodes import Broken, Node
from corpus.bibliography.rdf_nodes import read as read_nodes
from corpus.bibliography.records import Attachment, Code, Draft, Library, Problem

_DECLARES = re.compile(r"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_MOST_ATTACHMENTS = 50
_MOST_CREATORS = 5_000
# What Zotero calls an item by, where a file does not say it.
_CLASSES = {
    "bib:Article": "journalArticle",
    "bib:Book": "book",
    "bib:BookSection": "bookSection",
    "bib:Thesis": "thesis",
    "bib:Report": "report",
    "bib:Manuscript": "manuscript",
    "bib:Document": "document",
    "bib:Patent": "patent",
    "bib:Legislation": "statute",
}
_NOT_WORKS = frozenset({"note", "annotation"})
_SERIES = frozenset({"bib:Series"})
_NOT_CREATORS = frozenset({"bib:editors", "bib:contributors", "z:seriesEditors", "z:translators"})


def read(text: str, most: int) -> Library:
    """Return the records of a Zotero RDF export, at most `most`.

    A file that stands in the library by itself, without a work, is a record of its own: its file is taken
    in, and its title is what the file says.
    """
    library = Library("zotero-rdf")
    if found := _DECLARES.search(text):
        line = text.count("\n", 0, found.start()) + 1
        message = "The file declares a document type or entities, which Zotero never writes; it is not read."
        library.problems.append(Problem(line, "", Code.BROKEN_ENTRY, message))
        return library
    export = _Export()
    try:
        for node in read_nodes(text):
            if len(export.works) > most:
                library.problems.append(
                    Problem(node.line, "", Code.TOO_LARGE, f"More than {most:,} records.")
                )
                break
            export.add(node)
    except Broken as broken:
        message = f"The XML breaks off here, what follows is not read: {broken}."
        library.problems.append(Problem(broken.line, "", Code.BROKEN_ENTRY, message))
    library.records += [draft.finish(library.problems) for draft in export.drafts(most)]
    if not library.records and not library.problems:
        message = "The RDF holds no works in Zotero's vocabulary; export the library as “Zotero RDF”."
        library.problems.append(Problem(0, "", Code.UNKNOWN_FORMAT, message))
    return library


@dataclass(slots=True)
class _Export:
    """The resources of an export by name, and those that may be works, in their order."""

    by_name: dict[str, Node] = field(default_factory=dict)
    works: list[Node] = field(default_factory=list)
    loose: list[Node] = field(default_factory=list)
    # How many works are part of a resource, by its name, and which files belong to one.
    parts: Counter[str] = field(default_factory=Counter)
    linked: set[str] = field(default_factory=set)

    def add(self, node: Node) -> None:
        for each in node.below():
            if each.name:
                self.by_name.setdefault(each.name, each)
        self.parts.update(node.targets.get("dcterms:isPartOf", ()))
        self.linked.update(node.targets.get("link:link", ()))
        kind = _kind(node)
        if node.kind == "z:Attachment" or kind == "attachment":
            self.loose.append(node)
        elif kind and kind not in _NOT_WORKS:
            self.works.append(node)

    def drafts(self, most: int) -> Iterator[Draft]:
        """Yield the works, then the files that belong to none."""
        # A book that chapters are part of is their container unless it says that it is an item.
        works = [node for node in self.works if node.text("z:itemType") or not self.parts[node.name]]
        loose = [node for node in self.loose if node.name not in self.linked and _paths(node)]
        for number, node in enumerate(works[:most], start=1):
            yield self._draft(node, number)
        for node in loose[: max(0, most - len(works))]:
            yield Draft(key=_key(node), line=node.line, kind="attachment", attachments=_attachments([node]))

    def _draft(self, node: Node, number: int) -> Draft:
        containers = list(self._containers(node))
        extra = extra_lines("\n".join(node.texts.get("dc:description", ())))
        url = next((uri.text("rdf:value") for uri in node.nodes.get("dc:identifier", ())), "")
        return Draft(
            key=node.text("z:citationKey") or extra.get("citation key", "") or _key(node) or f"item {number}",
            line=node.line,
            kind=_kind(node),
            title=node.text("dc:title", "z:caseName", "z:subject"),
            authors=tuple(self._creators(node)),
            dates=(node.text("dc:date"), node.text("dcterms:issued")),
            doi=self._identifier("DOI", node, containers) or extra.get("doi", ""),
            elsewhere=(url, node.name),
            arxiv=(node.text("z:archiveID"), extra.get("arxiv", ""), url),
            pmid=extra.get("pmid", ""),
            isbn=self._identifier("ISBN", node, containers) or node.name.removeprefix("urn:isbn:"),
            container=self._container_title(node, containers),
            publisher=next(filter(None, map(_named, self._at(node, "dc:publisher"))), ""),
            url=url,
            language=node.text("z:language", "dc:language"),
            version=node.text("prism:edition"),
            rights=node.text("dc:rights", "dcterms:rights"),
            attachments=_attachments(self._at(node, "link:link")),
        )

    def _at(self, node: Node, name: str) -> list[Node]:
        """Return the resources that a property leads to: those inside it, then those it names."""
        named = (self.by_name.get(target) for target in node.targets.get(name, ()))
        return [*node.nodes.get(name, ()), *(found for found in named if found is not None)]

    def _containers(self, node: Node) -> Iterator[Node]:
        """Yield what the work is part of, from near to far; whoever leads back to itself ends it."""
        seen = {id(node)}
        waiting = self._at(node, "dcterms:isPartOf")
        while waiting:
            found = waiting.pop(0)
            if id(found) not in seen:
                seen.add(id(found))
                yield found
                waiting += self._at(found, "dcterms:isPartOf")

    def _container_title(self, node: Node, containers: list[Node]) -> str:
        where = [each for each in containers if each.kind not in _SERIES and each.kind != "bib:Part"]
        events = self._at(node, "bib:presentedAt")
        series = [each for each in containers if each.kind in _SERIES]
        return next((title for each in (*where, *events, *series) if (title := each.text("dc:title"))), "")

    def _identifier(self, label: str, node: Node, containers: list[Node]) -> str:
        """Return the identifier that stands on the work, or on the container that only this work is in.

        Zotero writes the number of an article to its journal, and a journal for each article.
        """
        own = [each for each in containers if self.parts[each.name] < 2]
        for each in (node, *own):
            for value in each.texts.get("dc:identifier", ()):
                if value.upper().startswith(f"{label} "):
                    return value[len(label) + 1 :].strip()
        return ""

    def _creators(self, node: Node) -> Iterator[str]:
        roles = ["bib:authors", *(name for name in node.nodes if _is_creator(name)), "bib:editors"]
        for role in roles:
            people = [person for people in self._at(node, role) for person in self._at(people, "rdf:li")]
            names = list(filter(None, map(_person, people[:_MOST_CREATORS])))
            if names:
                yield from names
                return


def _is_creator(name: str) -> bool:
    return name.startswith("z:") and name.endswith("s") and name not in _NOT_CREATORS


def _person(node: Node) -> str:
    given, family = node.text("foaf:givenName", "foaf:givenname"), node.text("foaf:surname")
    return f"{given} {family}".strip() or node.text("foaf:name")


def _named(node: Node) -> str:
    return node.text("foaf:name", "dc:title")


def _kind(node: Node) -> str:
    return node.text("z:itemType") or _CLASSES.get(node.kind, "")


def _key(node: Node) -> str:
    return node.name.removeprefix("#")


def _paths(node: Node) -> tuple[str, ...]:
    """Return the spellings of a file's path: as it stands, and without the signs of web addresses."""
    found = [*node.targets.get("rdf:resource", ()), *node.texts.get("rdf:resource", ())]
    return tuple(dict.fromkeys(path for each in found for path in (each, unquote(each)) if path))


def _attachments(nodes: list[Node]) -> tuple[Attachment, ...]:
    found = [
        Attachment(paths, node.text("dc:title"), node.text("link:type").lower())
        for node in nodes
        if (paths := _paths(node))
    ]
    return tuple(found[:_MOST_ATTACHMENTS])
