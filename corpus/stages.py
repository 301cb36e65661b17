"""A document between two stages, as bytes: what parsing and cutting made, before it is embedded."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from corpus.chunking import ChunkingLimits, Passage
from corpus.manifest import UNDESCRIBED, Described, Entry
from corpus.parsing import wire
from corpus.parsing.blocks import Box
from corpus.preparation import Metadata, Prepared
from corpus.rights import parse_class

# Text shrinks to a third at the quickest level.
_LEVEL = 1


def encode(prepared: Prepared) -> bytes:
    """Return everything of `prepared` but its entry, which has a row of its own."""
    head = {
        "file_sha256": prepared.file_sha256,
        "content_sha256": prepared.content_sha256,
        "metadata": asdict(prepared.metadata),
        "chunking": asdict(prepared.chunking),
        "seconds": prepared.seconds,
        "passages": [_passage_to_dict(passage) for passage in prepared.passages],
    }
    # Blocks have become passages: what is left to store of the document is beside them.
    document = wire.encode(prepared.without_blocks().parsed)
    return zlib.compress(json.dumps(head).encode() + b"\n" + document, _LEVEL)


def decode(payload: bytes, *, entry: Entry) -> Prepared:
    """Return what `encode` was given."""
    head, _, document = zlib.decompress(payload).partition(b"\n")
    values = json.loads(head)
    metadata = values["metadata"]
    return Prepared(
        entry=entry,
        file_sha256=values["file_sha256"],
        content_sha256=values["content_sha256"],
        metadata=Metadata(
            **metadata
            | {
                "authors": tuple(metadata["authors"]),
                "license_class": parse_class(metadata["license_class"]),
            }
        ),
        parsed=wire.decode(document),
        passages=tuple(_passage_from_dict(passage) for passage in values["passages"]),
        chunking=ChunkingLimits(**values["chunking"]),
        seconds=values.get("seconds", 0.0),
    )


def _passage_to_dict(passage: Passage) -> dict[str, Any]:
    values = {field.name: getattr(passage, field.name) for field in fields(Passage)}
    boxes = [[box.page, box.left, box.top, box.right, box.bottom] for box in passage.boxes]
    return values | {"boxes": boxes}


def _passage_from_dict(values: Mapping[str, Any]) -> Passage:
    lists = {name: tuple(values[name]) for name in ("section_path", "forward_references")}
    return Passage(**{**values, **lists, "boxes": tuple(Box(*edges) for edges in values["boxes"])})


def description_to_dict(described: Described) -> dict[str, Any]:
    """Return what is said about a file as JSON values; nothing for what is not said."""
    return {name: value for name, value in asdict(described).items() if value not in ("", (), None)}


def description_from_dict(values: Mapping[str, Any]) -> Described:
    """Return what `description_to_dict` was given."""
    if not values:
        return UNDESCRIBED
    read: dict[str, Any] = dict(values)
    if "authors" in read:
        read["authors"] = tuple(read["authors"])
    if "license_class" in read:
        read["license_class"] = parse_class(read["license_class"])
    return Described(**read)
