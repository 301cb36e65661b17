"""The lists of names of this installation: the ontology's examples, and the files of `domain/thesaurus/`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from django.conf import settings

from retrieval.graph.ontology import Ontology
from retrieval.graph.resolution import thesaurus
from retrieval.graph.resolution.substances import substances
from retrieval.graph.resolution.thesaurus import InvalidThesaurus, Listing, Thesaurus
from retrieval.graph.resolution.types import Method

FOLDER = "thesaurus"
LARGEST = 8_000_000


def names_of(ontology: Ontology) -> Thesaurus:
    """Return the ontology's examples, every list of the domain folder, and substances where installed.

    Raises `InvalidThesaurus`.
    """
    examples = [example for described in ontology.entity_types.values() for example in described.examples]
    files = sorted((settings.DOMAIN_DIR / FOLDER).glob("*.txt"))
    listings = [_read(path, path.stat().st_mtime_ns) for path in files]
    packaged = substances()
    shipped = () if packaged is None else (packaged,)
    return Thesaurus((thesaurus.listing(Method.ONTOLOGY, examples), *listings, *shipped))


@lru_cache(maxsize=16)
def _read(path: Path, _changed: int) -> Listing:
    if path.stat().st_size > LARGEST:
        raise InvalidThesaurus(f"{path.name}: larger than {LARGEST:,} bytes. Divide it into several files.")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidThesaurus(f"{path.name}: not UTF-8 at byte {error.start}. Save it as UTF-8.") from None
    return thesaurus.read(text, file=path.name)
