"""JSON that is too large, too deep, ambiguous or no text for a column is refused in linear time."""

import json
import time

import pytest

from corpus.api.hygiene import MOST_BYTES, MOST_DEPTH, UnusableJson, checked


@pytest.mark.parametrize(
    "value", [{}, {"a": [1, 2.5, -3, None, True, "é\n\t😀"]}, {"a": {"b": {"c": []}}}, {"[": "]]]{{{\\"}]
)
def test_clean_json_comes_back_as_it_was_sent(value: dict[str, object]) -> None:
    text = json.dumps(value, ensure_ascii=False)

    assert checked(text.encode()) == text


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"[]", b"null", b'"text"', b"1", b"{", b"{]", b'{"a":1}{"b":2}', b'{"a":1,}',
        b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}', b'{"a": 1e999}', b'{"a": -1e999}',
        b'{"a": 1, "a": 2}', b'{"x": {"a": 1, "\\u0061": 2}}',
        b'{"a": "\\u0000"}', b'{"a\\u0000": 1}', b'{"a": ["\\ud800"]}', b'{"\\udfff": 1}',
        b'{"a": "\\udc00\\ud800"}',
        b"\xef\xbb\xbf{}", b'{"a": "\xff"}', '{"a": 1}'.encode("utf-16"), b'{"a": "\x00"}', b'{"a": "\n"}',
        b'{"a": ' + b"9" * 41 + b"}", b'{"a": ' + b"9" * 5_000 + b"}",
        b'{"a": ' + b"[" * MOST_DEPTH + b"]" * MOST_DEPTH + b"}",
        b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", b"[" * 100_000, b'{"a":' * 100_000,
        b'{"a": "' + b"x" * MOST_BYTES + b'"}',
    ],
)  # fmt: skip
def test_what_is_not_taken_is_refused_without_repeating_it(body: bytes) -> None:
    with pytest.raises(UnusableJson) as refused:
        checked(body)

    assert len(str(refused.value)) < 120


def test_json_as_deep_as_it_may_be_is_taken() -> None:
    depth = MOST_DEPTH - 1

    assert checked(b'{"a": ' + b"[" * depth + b"]" * depth + b"}")


@pytest.mark.parametrize("piece", [b'"', b'\\"', b'"\\', b"{", b'["', b"\\", b'{"a":"'])
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: bytes) -> None:
    body = b"{" + piece * ((MOST_BYTES - 1) // len(piece))

    started = time.process_time()
    with pytest.raises(UnusableJson):
        checked(body)

    assert time.process_time() - started < 2.0
