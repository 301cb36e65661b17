"""How fast PDFs are read and in how much memory, beside pypdf's plain text of the same pages.

    python -m benchmarks.parse_pdf [--fast] [--folder PDFS]

A book of 500 pages in two columns with a ruled table on each is drawn first. Every file is read in a
process of its own with one core: pages per second of processor time, the best of three, and the peak of
the process's memory. The parser returns paragraphs, headings, tables and boxes; pypdf returns the words.
Gates: at least 10 pages a second and core, and less than 600 MB for the book. Shared PDFs, where there are
any beside the checkout, are read too and are no gate for memory.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

PAGES, FAST_PAGES = 500, 60
FEWEST_PAGES_PER_SECOND = 10.0
MOST_MEGABYTES = 600.0
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "pdf"
WORDS = (
    "straw silage yield biogas reactor steam enzyme glucan lignin feed load rate mean trial batch sample "
    "heat time acid base water solid liquid phase gas flow model fit test plot error range study field"
).split()
READER = """
import json, resource, sys, time
from pathlib import Path
how, paths = sys.argv[1], sys.argv[2:]
pages, started = 0, None
if how == "layout":
    from corpus.parsing.blocks import ParseFailure
    from corpus.parsing.limits import ParseLimits
    from corpus.parsing import pdf_layout
    def read(path):
        try:
            return pdf_layout.parse(path, ParseLimits()).page_count
        except ParseFailure:
            return 0
else:
    import logging
    from pypdf import PdfReader
    logging.disable(logging.CRITICAL)
    def read(path):
        try:
            found = PdfReader(path).pages
            for page in found:
                page.extract_text()
            return len(found)
        except Exception:  # whatever it trips over counts as unread
            return 0
started = time.process_time()
for path in paths:
    pages += read(Path(path))
seconds = time.process_time() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
print(json.dumps({"pages": pages, "seconds": seconds, "megabytes": peak}))
"""


def draw_book(path: Path, pages: int) -> None:
    """Draw a book of `pages` pages in two columns with a table each, the same one every time."""
    choose = random.Random(3)  # noqa: S311 - reproducible, not secret
    canvas = Canvas(str(path), pagesize=A4, pageCompression=1, invariant=1)
    for number in range(1, pages + 1):
        canvas.setFont("Times-Roman", 10)
        canvas.drawCentredString(297, 810, f"Journal of Straw, volume {number}")
        for left in (50, 310):
            for line in range(40):
                canvas.drawString(left, 780 - 12 * line, " ".join(choose.choices(WORDS, k=8)))
        canvas.drawString(50, 280, f"Table {number}. Losses of the lots.")
        canvas.line(50, 272, 545, 272)
        for row in range(12):
            for column in range(6):
                text = WORDS[row] if column == 0 else f"{choose.uniform(0, 90):.1f}"
                canvas.drawString(54 + 82 * column, 258 - 14 * row, text)
        canvas.line(50, 254, 545, 254)
        canvas.line(50, 98, 545, 98)
        canvas.drawCentredString(297, 30, str(number))
        canvas.showPage()
    canvas.save()


def measure(how: str, paths: list[Path], *, rounds: int) -> dict[str, float]:
    """Return pages, the least seconds of processor time, and the largest memory of `rounds` runs."""
    runs = []
    for _ in range(rounds):
        command = [sys.executable, "-c", READER, how, *map(str, paths)]
        runs.append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    return {
        "pages": runs[0]["pages"],
        "seconds": min(run["seconds"] for run in runs),
        "megabytes": max(run["megabytes"] for run in runs),
    }


def show(name: str, how: str, found: dict[str, float]) -> float:
    """Print one line and return the pages per second."""
    speed = found["pages"] / found["seconds"]
    memory = f"{found['megabytes']:>7.0f} MB"
    print(f"{name:<18} {how:<8} {found['pages']:>5} pages {speed:>8.1f} pages/s/core {memory}")
    return speed


def main() -> int:
    """Measure, print, and return 1 when a gate is missed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--fast", action="store_true", help="a book of 60 pages, one round")
    arguments.add_argument("--folder", type=Path, default=SHARED, help="a folder of PDFs to read too")
    chosen = arguments.parse_args()
    rounds = 1 if chosen.fast else 3
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book.pdf"
        draw_book(book, FAST_PAGES if chosen.fast else PAGES)
        sets = {book.stem: [book]}
        if chosen.folder.is_dir() and not chosen.fast:
            sets[chosen.folder.name + " (shared)"] = sorted(chosen.folder.glob("*.pdf"))
        for name, paths in sets.items():
            found = measure("layout", paths, rounds=rounds)
            speed = show(name, "layout", found)
            is_good = is_good and speed >= FEWEST_PAGES_PER_SECOND
            is_good = is_good and (name != book.stem or found["megabytes"] < MOST_MEGABYTES)
            show(name, "pypdf", measure("pypdf", paths, rounds=rounds))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
