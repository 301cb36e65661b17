"""Looking for hidden text in a file, whatever its kind: done by the parsing process, after parsing or alone.

Other kinds have no looks that could hide anything (plain text, Markdown, LaTeX as it is read here), or none
that are looked at (slides, sheets).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

from corpus.parsing import media_types
from corpus.parsing.blocks import ParseFailure
from corpus.parsing.hidden import Hidden, kept

# Beyond this a file is parsed as before: whoever hides text behind so many pages hides it from askers, too.
_SECONDS = 20.0


def find(path: Path, media_type: str) -> tuple[Hidden, ...]:
    """Return what `path` holds and does not show; nothing for a file that cannot be looked into."""
    look = _LOOKS.get(media_type)
    return () if look is None else kept(look(path))


def _in_pdf(path: Path) -> Iterator[Hidden]:
    from corpus.parsing import pdf_hidden, pdf_layout

    try:
        document = pdf_layout.open_pdf(path)
    except ParseFailure:
        # The other parser may have read it, and knows nothing of looks.
        return
    until = process_time() + _SECONDS
    try:
        for index in range(len(document)):
            page = document[index]
            try:
                yield from pdf_hidden.on_page(page, index + 1)
            finally:
                page.close()
            if process_time() > until:
                return
    finally:
        document.close()


def _in_html(path: Path) -> Iterator[Hidden]:
    from corpus.parsing import hidden_markup

    yield from hidden_markup.in_html(path)


def _in_jats(path: Path) -> Iterator[Hidden]:
    from corpus.parsing import hidden_markup

    yield from hidden_markup.in_jats(path)


def _in_docx(path: Path) -> Iterator[Hidden]:
    from corpus.parsing import hidden_word

    yield from hidden_word.in_docx(path)


_LOOKS: dict[str, Callable[[Path], Iterator[Hidden]]] = {
    media_types.PDF: _in_pdf,
    media_types.HTML: _in_html,
    media_types.JATS: _in_jats,
    media_types.DOCX: _in_docx,
}
