"""The profile a domain expert edits: what it promises, and how its mistakes are named."""

from pathlib import Path

import pytest
from django.conf import settings

from corpus.domain_profile import DomainProfile, InvalidProfile, active_profile, load


def _written(folder: Path, text: str) -> Path:
    path = folder / "domain.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_profile_says_what_the_code_assumes_without_one():
    shipped = load(settings.BASE_DIR / "domain" / "domain.yaml")

    assert shipped == DomainProfile()
    assert active_profile() == shipped


def test_comments_and_order_do_not_change_the_digest(tmp_path):
    first = load(_written(tmp_path, "chunk_tokens: 400\nname: A\n")).digest()
    second = load(_written(tmp_path, "# a remark\nname: A\nchunk_tokens: 400\n")).digest()
    third = load(_written(tmp_path, "name: A\nchunk_tokens: 401\n")).digest()

    assert first == second
    assert first != third


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: A\nchunk_tokens: many\n", "line 2: chunk_tokens:"),
        ("name: A\nlayers:\n  vector: {weight: -1}\n", "line 3: layers.vector.weight:"),
        ("name: A\n\ncolour: blue\n", "line 3: colour: Extra inputs"),
        ("chunk_tokens: 200\noverlap_tokens: 150\n", "at most half"),
        ("name: A\nname: B\n", "line 2: 'name' stands there twice"),
        ("a: &x [1, 2]\nb: *x\n", "aliases are not allowed"),
        ("name: !!python/object/apply:os.system [echo]\n", "line 1: "),
        ("name: !field x\n", "the tag !field is not allowed"),
        ("name: [unclosed\n", "line 2"),
        ("- a\n- b\n", "a mapping of names"),
        ("supersession_factor: .nan\n", "supersession_factor"),
        ("[" * 3000, "domain.yaml"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path, text, said):
    with pytest.raises(InvalidProfile) as caught:
        load(_written(tmp_path, text))

    assert said in str(caught.value)


def test_every_mistake_is_named_at_once(tmp_path):
    with pytest.raises(InvalidProfile) as caught:
        load(_written(tmp_path, "chunk_tokens: 1\nfusion_k: 0\nsupersession_factor: 7\n"))

    assert len(str(caught.value).splitlines()) == 3


def test_an_empty_file_is_the_default_profile(tmp_path):
    assert load(_written(tmp_path, "")) == DomainProfile()


def test_bytes_that_are_not_text_are_refused(tmp_path):
    path = tmp_path / "domain.yaml"
    path.write_bytes(b"name: \xff\xfe")

    with pytest.raises(InvalidProfile, match="not UTF-8"):
        load(path)
