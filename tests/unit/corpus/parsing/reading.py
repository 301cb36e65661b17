"""How the parser tests read: a file written for the test, parsed in this process, shown as short strings."""

from pathlib import Path

from corpus.parsing import parsers
from corpus.parsing.blocks import BlockKind, ParsedDocument
from corpus.parsing.limits import ParseLimits
from corpus.parsing.media_types import BY_EXTENSION


def read(
    path: Path, content: str | bytes | None = None, *, limits: ParseLimits | None = None
) -> ParsedDocument:
    """Write `content` to `path` and parse it here."""
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return parsers.load(BY_EXTENSION[path.suffix])(path, limits or ParseLimits())


def shown(document: ParsedDocument) -> list[str]:
    """Return the blocks as "kind text" with the level of headings."""
    return [f"{block.kind.value}{block.level or ''} {block.text}" for block in document.blocks]


def of_kind(document: ParsedDocument, kind: BlockKind) -> list[str]:
    """Return the texts of the blocks of one kind."""
    return [block.text for block in document.blocks if block.kind is kind]
