"""A cross-encoder small enough to be written by hand: its score is the mean of the word numbers it reads."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors

_FLOAT, _INT64 = 1, 7


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _node(kind: str, given: str, result: str, attribute: tuple[str, int]) -> bytes:
    name, value = attribute
    held = _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, given) + _field(2, result) + _field(4, kind) + _field(5, held)


def _value(name: str, kind: int, dimensions: int) -> bytes:
    shape = b"".join(_field(1, _field(2, f"{name}{number}")) for number in range(dimensions))
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def write(folder: Path, words: list[str]) -> None:
    """Write `model.onnx` and `tokenizer.json`; `words` have the numbers 0, 1, 2 ..., others number 0."""
    graph = (
        _field(1, _node("Cast", "input_ids", "numbers", ("to", _FLOAT)))
        + _field(1, _node("ReduceMean", "numbers", "logits", ("keepdims", 1)))
        + _field(2, "mean")
        + _field(11, _value("input_ids", _INT64, 2))
        + _field(12, _value("logits", _FLOAT, 2))
    )
    model = _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))
    (folder / "model.onnx").write_bytes(model)
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token=words[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
    tokenizer.save(str(folder / "tokenizer.json"))
