"""Whether passages of PDFs open marked on the picture of their page, and the marks are where they stand.

    python -m benchmarks.page_marks FOLDER

Takes the PDFs of FOLDER in and looks at every passage as a reader's page does: at the first page with a mark.
What stands under a mark is read from the PDF's own characters; a mark is wrong when less than half of its
words are words of the passage. Marks over fewer than four words, formulas mostly, cannot be judged that way.
Gates: 95 % of the passages are marked, and at most one mark in a thousand is wrong.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import database

if TYPE_CHECKING:
    from corpus.models import Chunk
    from corpus.page_views import Mark

LEAST_MARKED, MOST_WRONG = 0.95, 0.001
FEWEST_WORDS, ENOUGH_SHARED = 4, 0.5
_WORD = re.compile(r"\w{3,}")


def main() -> int:
    """Print the shares and each wrong mark; return 1 when a gate is missed."""
    folder = Path(sys.argv[1])
    database.start()
    from corpus.ingestion import ingest
    from corpus.inputs import from_paths
    from corpus.models import Chunk

    ingest(from_paths(sorted(folder.glob("*.pdf"))))
    passages = Chunk.objects.filter(document__state="ready").select_related("document")
    counts: Counter[str] = Counter()
    for passage in passages.order_by("document__file_name", "ordinal"):
        counts["passages"] += 1
        counts.update(_looked_at(passage))
    share = counts["marked"] / max(1, counts["passages"])
    print(
        f"{counts['passages']} passages, {share:.1%} marked; {counts['marks']} marks,"
        f" {counts['wrong']} wrong, {counts['too few words']} over too few words to tell"
    )
    return int(share < LEAST_MARKED or counts["wrong"] > MOST_WRONG * counts["marks"])


def _looked_at(passage: Chunk) -> Iterator[str]:
    from corpus import page_views

    first = page_views.of_passage(passage, passage.document)
    if first is None or not first.pages:
        return
    yield "marked"
    said = set(_words(f"{passage.content} {passage.body}"))
    for number in first.pages:
        view = page_views.of_passage(passage, passage.document, page=number)
        for mark in view.marks if view else ():
            yield "marks"
            under = list(_words(_under(passage, number, mark)))
            if len(under) < FEWEST_WORDS:
                yield "too few words"
            elif sum(word in said for word in under) < ENOUGH_SHARED * len(under):
                yield "wrong"
                print(f"wrong: {passage.document.file_name}, page {number}, {mark}, “{' '.join(under[:12])}”")


def _words(text: str) -> Iterator[str]:
    from corpus.normalise import matching_form

    return (match[0] for match in _WORD.finditer(matching_form(text)))


def _under(passage: Chunk, number: int, mark: Mark) -> str:
    import pypdfium2

    from corpus import storage

    with pypdfium2.PdfDocument(storage.path_of(passage.document.file_sha256)) as document:
        page = document[number - 1]
        width, height = page.get_size()
        return str(
            page.get_textpage().get_text_bounded(
                left=mark.left * width / 1000,
                right=(mark.left + mark.width) * width / 1000,
                top=height - mark.top * height / 1000,
                bottom=height - (mark.top + mark.height) * height / 1000,
            )
        )


if __name__ == "__main__":
    sys.exit(main())
