"""What of an extractor's suggestions stands in the passages; the rest is left out and counted. Pure."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from retrieval.graph.extraction.locating import Located
from retrieval.graph.extraction.types import (
    Batch,
    Drop,
    Drops,
    Edge,
    Found,
    Passage,
    Spot,
    SuggestedEntity,
    SuggestedRelation,
    Suggestions,
    Verified,
)
from retrieval.graph.naming import LONGEST_NAME, key_of
from retrieval.graph.ontology import Ontology

LONGEST_QUOTE = 2_000
# For each passage: far more than anything says, and less than a model that runs wild.
MOST_ENTITIES = 200
MOST_RELATIONS = 400
# Direct statement, strong implication, inference across sentences.
_LEVELS = (1.0, 0.7, 0.4)

Identity = tuple[str, str]


def verify(suggestions: Suggestions, batch: Batch, ontology: Ontology) -> tuple[list[Verified], Drops]:
    """Return what stands in each passage of the batch, and how much was left out for which reason.

    A name that the passage itself does not spell is kept only when its document or the ontology does.
    """
    drops: Drops = Counter(suggestions.dropped)
    pages = [_Page(passage, Located(passage.text)) for passage in batch.passages]
    texts = _Texts(batch)
    most = len(pages) * MOST_ENTITIES, len(pages) * MOST_RELATIONS
    entities, relations = suggestions.entities, suggestions.relations
    drops[Drop.TOO_MANY] += max(0, len(entities) - most[0]) + max(0, len(relations) - most[1])
    for entity in entities[: most[0]]:
        if page := _page_of(entity.passage, pages, drops):
            _place(entity, page, texts, ontology, drops)
    for relation in relations[: most[1]]:
        if page := _page_of(relation.passage, pages, drops):
            _join(relation, page, ontology, drops)
    return [page.verified() for page in pages], +drops


@dataclass(slots=True)
class _Page:
    """One passage while it is verified."""

    passage: Passage
    located: Located
    found: dict[Identity, Found] = field(default_factory=dict)
    # Which things a name in this passage may mean.
    named: dict[str, set[Identity]] = field(default_factory=dict)
    edges: dict[tuple[Identity, Identity, str], Edge] = field(default_factory=dict)

    def verified(self) -> Verified:
        return Verified(
            self.passage,
            tuple(self.found[identity] for identity in sorted(self.found)),
            tuple(self.edges[triple] for triple in sorted(self.edges)),
        )


class _Texts:
    """The document's other passages, searched only when a passage does not spell a name itself."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._located: list[Located] | None = None

    def spelling(self, name: str) -> str:
        """Return the name as the document spells it, or nothing."""
        if self._located is None:
            self._located = [Located(text) for text in self._batch.texts]
        spots = (located.name(name) for located in self._located)
        return next((spot.text for spot in spots if spot and key_of(spot.text) == key_of(name)), "")


def _page_of(index: int, pages: list[_Page], drops: Drops) -> _Page | None:
    if 0 <= index < len(pages):
        return pages[index]
    drops[Drop.NO_PASSAGE] += 1
    return None


def _place(entity: SuggestedEntity, page: _Page, texts: _Texts, ontology: Ontology, drops: Drops) -> None:
    if entity.type not in ontology.entity_types:
        drops[Drop.UNKNOWN_TYPE] += 1
        return
    if not key_of(entity.name):
        drops[Drop.EMPTY_NAME] += 1
        return
    spots = _spots(entity, page, drops)
    name = _name(entity, spots, texts, ontology)
    if not spots or not name:
        drops[Drop.UNVERIFIED_MENTION] += 1
        return
    identity = (entity.type, key_of(name))
    description = _description(entity, page, drops)
    page.found[identity] = _union(
        page.found.get(identity), Found(*identity, name=name, spots=tuple(spots), description=description)
    )
    for said in (entity.name, name, *(spot.text for spot in spots)):
        page.named.setdefault(key_of(said), set()).add(identity)


def _spots(entity: SuggestedEntity, page: _Page, drops: Drops) -> list[Spot]:
    """Return where the name and each alias stand; count aliases that stand nowhere."""
    spots: dict[str, Spot] = {}
    for alias in dict.fromkeys((entity.name, *entity.aliases)):
        spot = page.located.name(alias)
        if spot is not None and len(spot.text) <= LONGEST_NAME and key_of(spot.text):
            spots.setdefault(spot.text, spot)
        elif alias != entity.name:
            drops[Drop.UNVERIFIED_ALIAS] += 1
    return list(spots.values())


def _name(entity: SuggestedEntity, spots: list[Spot], texts: _Texts, ontology: Ontology) -> str:
    """Return the name the thing is known by: never one that only the extractor spells."""
    key = key_of(entity.name)
    spelled = next((spot.text for spot in spots if key_of(spot.text) == key), "")
    if spelled or not spots:
        return spelled
    if ontology.knows(entity.name, entity.type):
        return ontology.examples[key][1]
    return texts.spelling(entity.name)[:LONGEST_NAME]


def _description(entity: SuggestedEntity, page: _Page, drops: Drops) -> Spot | None:
    if not entity.description:
        return None
    spot = page.located.quote(entity.description)
    if spot is None or len(spot.text) > LONGEST_QUOTE:
        drops[Drop.UNVERIFIED_DESCRIPTION] += 1
        return None
    return spot


def _union(held: Found | None, new: Found) -> Found:
    if held is None:
        return new
    spots = {spot.text: spot for spot in (*held.spots, *new.spots)}
    return Found(held.type, held.key, held.name, tuple(spots.values()), held.description or new.description)


def _join(relation: SuggestedRelation, page: _Page, ontology: Ontology, drops: Drops) -> None:
    declared = ontology.relation_types.get(relation.type)
    confidence = _level(relation.confidence)
    quote = page.located.quote(relation.quote) if relation.quote else None
    if declared is None:
        drops[Drop.UNKNOWN_TYPE] += 1
    elif confidence is None:
        drops[Drop.MISSING_CONFIDENCE] += 1
    elif quote is None or len(quote.text) > LONGEST_QUOTE:
        drops[Drop.UNVERIFIED_QUOTE] += 1
    elif (ends := _ends(relation, page)) is None:
        drops[Drop.DANGLING_END] += 1
    elif ends[0] == ends[1]:
        drops[Drop.SELF_EDGE] += 1
    elif not declared.allows(ends[0][0], ends[1][0]):
        drops[Drop.WRONG_ENDS] += 1
    else:
        edge = Edge(*ends, type=relation.type, quote=quote, confidence=confidence)
        held = page.edges.get((*ends, relation.type))
        if held is None or _rank(edge) < _rank(held):
            page.edges[(*ends, relation.type)] = edge


def _rank(edge: Edge) -> tuple[float, int, str]:
    """Surest first, then the first in the passage: the same choice in whatever order edges come."""
    return (-edge.confidence, edge.quote.start, edge.quote.text)


def _ends(relation: SuggestedRelation, page: _Page) -> tuple[Identity, Identity] | None:
    """Return the two things; None when a name means nothing in the passage, or more than one thing."""
    source, target = (page.named.get(key_of(name), set()) for name in (relation.source, relation.target))
    if len(source) != 1 or len(target) != 1:
        return None
    return next(iter(source)), next(iter(target))


def _level(confidence: float | None) -> float | None:
    """Return the nearest level; None for what is no share of one."""
    if confidence is None or not math.isfinite(confidence) or not 0 <= confidence <= 1:
        return None
    return min(_LEVELS, key=lambda level: (abs(level - confidence), -level))
