"""Reading passages into the knowledge graph by rules: how fast, and whether every word kept stands there.

    python -m benchmarks.graph_extraction [--fast] [FOLDER]

Takes the demo corpus and the papers of FOLDER, where one is given. Gates on what must hold: mentions, quotes
and descriptions verbatim, nothing added by a second reading, 50 passages a second of one core. The last is
measured in processor time, which other programs on the machine do not stretch.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks import database

LEAST_PER_SECOND = 50
# Enough papers for a gate; all of a folder are a matter of parsing, not of what is measured here.
PAPERS = 30


def main() -> int:
    """Print the figures; return 1 when one is missed."""
    database.start()
    from corpus.models import Chunk
    from retrieval.graph.extraction.rules import RuleExtractor
    from retrieval.graph.extraction.running import Reach, extract
    from retrieval.graph.ontology import active_ontology

    _take_in([Path(argument) for argument in sys.argv[1:] if not argument.startswith("--")])
    ontology = active_ontology()
    extractor = RuleExtractor(ontology)
    started, used = time.perf_counter(), time.process_time()
    first = extract(extractor=extractor, ontology=ontology)
    wall, used = time.perf_counter() - started, time.process_time() - used
    second = extract(extractor=extractor, ontology=ontology, reach=Reach(again=True))
    words, strays = _strays()
    added = second.entities_added + second.mentions_added + second.relationships_added
    speed = first.passages_done / used

    print(
        f"{first.passages_done} of {Chunk.objects.count()} passages read in {wall:.2f} s, "
        f"{used:.2f} s of a core"
    )
    print(
        f"found: {first.entities_added} entities, {first.mentions_added} mentions, "
        f"{first.relationships_added} relationships; left out: {first.dropped or 'nothing'}"
    )
    print(f"speed: {speed:.0f} passages/s/core (at least {LEAST_PER_SECOND})")
    print(f"verbatim: {words - strays} of {words} mentions, quotes and descriptions (all)")
    print(f"second reading: {added} rows added (none)")
    return int(bool(strays or added or speed < LEAST_PER_SECOND or not words))


def _take_in(folders: list[Path]) -> None:
    from corpus.ingestion import ingest
    from corpus.inputs import from_paths
    from sci_rag_site.commands.demo_corpus import load

    load(_Silent())
    for folder in folders:
        papers = [path for path in sorted(folder.iterdir()) if path.suffix in {".xml", ".html", ".md"}]
        report = ingest(from_paths(papers[:PAPERS]))
        print(f"{folder.name}: {report.counts}")


class _Silent:
    """Progress that nobody watches."""

    def begin(self, total: int) -> None: ...

    def file(self, name: str) -> None: ...

    def done(self, report: object) -> None: ...


def _strays() -> tuple[int, int]:
    """Return how many words were kept, and how many of them stand nowhere in their passage."""
    from corpus.models import Chunk
    from corpus.normalise import matching_form
    from retrieval.models import Description, Mention, Relationship

    texts = {chunk: matching_form(body) for chunk, body in Chunk.objects.values_list("pk", "body")}
    kept = [
        *Mention.objects.values_list("chunk_id", "surface"),
        *Relationship.objects.values_list("chunk_id", "quote"),
        *Description.objects.values_list("chunk_id", "quote"),
    ]
    return len(kept), sum(matching_form(words) not in texts[chunk] for chunk, words in kept)


if __name__ == "__main__":
    sys.exit(main())
