"""A secret is random, is found by its prefix, shows itself to nobody, and is told from others whole."""

import copy
import pickle

import pytest

from corpus.keys.secret import PREFIX_LENGTH, Secret, hash_of, new_secret, prefix_of, the_one


def test_secrets_are_made_of_256_random_bits_beside_their_prefix() -> None:
    words = new_secret("abcdefgh").reveal()

    head, prefix, random = words.split("_", 2)

    assert (head, prefix) == ("sr", "abcdefgh")
    assert len(random) == 43  # 32 bytes, six bits a character
    assert len({new_secret("abcdefgh").reveal() for _ in range(200)}) == 200


def test_a_prefix_is_made_when_none_is_given() -> None:
    words = new_secret().reveal()

    assert prefix_of(words) == words[3 : 3 + PREFIX_LENGTH]


@pytest.mark.parametrize(
    "words",
    ["", "sr_", "sr_abcdefgh_", "sr_abcdefgh_short", "x" * 5_000, "sr_ABCDEFGH_" + "a" * 43,
     "sr_abcdefgh_" + "a" * 44, "sr_abcdefgh_" + "é" * 43, "sr_abcdefgh_" + "a" * 43 + "\n", "\0"],
)  # fmt: skip
def test_what_cannot_be_a_secret_has_no_prefix(words: str) -> None:
    assert prefix_of(words) is None


def test_a_secret_shows_itself_only_when_it_is_revealed() -> None:
    secret = new_secret()
    words = secret.reveal()

    shown = f"{secret} {secret!r} {[secret]} {secret.__class__}"

    assert words not in shown
    assert words[-20:] not in shown
    for keeps in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            keeps(secret)


def test_of_keys_with_one_prefix_the_one_with_the_whole_secret_is_found() -> None:
    first, second = (new_secret("abcdefgh").reveal() for _ in range(2))
    kept = [(hash_of(first), "first"), (hash_of(second), "second")]

    assert the_one(first, kept) == "first"
    assert the_one(second, kept) == "second"
    assert the_one(new_secret("abcdefgh").reveal(), kept) is None
    assert the_one(first, []) is None


def test_what_is_kept_does_not_hold_the_secret() -> None:
    words = new_secret().reveal()

    assert len(hash_of(words)) == 64
    assert words.split("_", 2)[2] not in hash_of(words)
    assert isinstance(Secret(words), Secret)
