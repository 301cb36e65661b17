"""What is read of a provider's claims: groups in every form they come in, and names nobody here chose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.accounts.claims import LONGEST_GROUP, MOST_GROUPS, TooManyGroups, groups_in, vouched

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "groups"),
    [
        (["lab", "staff"], {"lab", "staff"}),
        ("lab", {"lab"}),
        # Nobody said that this is a list.
        ("lab,staff", {"lab,staff"}),
        ("lab staff", {"lab staff"}),
        (42, {"42"}),
        ([1, "two"], {"1", "two"}),
        (True, set()),
        (4.5, set()),
        (None, set()),
        ("", set()),
        ([], set()),
        ({"lab": True}, set()),
        ([["lab"]], set()),
        ([{"name": "lab"}, "staff"], {"staff"}),
        (["lab", None, False, "lab"], {"lab"}),
        ([" lab ", "la\0b", "la\nb", "\ud800"], set()),
        (["x" * LONGEST_GROUP, "x" * (LONGEST_GROUP + 1)], {"x" * LONGEST_GROUP}),
        (10**400, set()),
    ],
)
def test_groups_are_read_in_every_form_and_nothing_is_guessed(value, groups):
    assert groups_in({"groups": value}, "groups") == groups


def test_a_claim_may_lie_inside_objects_or_have_dots_in_its_own_name():
    claims = {"realm_access": {"roles": ["lab"]}, "https://lab.example/groups": ["staff"], "a": {"b": "c"}}

    assert groups_in(claims, "realm_access.roles") == {"lab"}
    assert groups_in(claims, "https://lab.example/groups") == {"staff"}
    assert groups_in(claims, "realm_access") == set()
    assert groups_in(claims, "a.b.c") == set()
    assert groups_in(claims, "nothing.there") == set()


def test_more_groups_than_are_read_are_an_error_and_not_some_of_them():
    assert len(groups_in({"g": [str(n) for n in range(MOST_GROUPS)]}, "g")) == MOST_GROUPS
    with pytest.raises(TooManyGroups):
        groups_in({"g": [str(n) for n in range(MOST_GROUPS + 1)]}, "g")


@given(JSON)
def test_whatever_the_claim_holds_only_short_visible_words_come_of_it(value):
    for group in groups_in({"g": value}, "g"):
        assert 0 < len(group) <= LONGEST_GROUP
        assert group.isprintable()


@given(st.dictionaries(st.sampled_from(["preferred_username", "email", "name", "given_name"]), JSON))
def test_whatever_a_person_is_called_there_is_a_name_for_them(claims):
    person = vouched({"sub": "1", **claims}, issuer="https://p.example", groups_claim="groups")

    assert 0 < len(person.username) <= 140
    assert person.username.isprintable()


def test_an_account_is_called_as_the_provider_calls_the_person():
    def name(**claims):
        return vouched({"sub": "1", **claims}, issuer="i", groups_claim="groups").username

    assert name(preferred_username="ada", email="a.l@lab.example") == "ada"
    assert name(email="ada.l@lab.example", name="Ada L") == "ada.l"
    assert name(name="Ada Lovelace") == "Ada-Lovelace"
    assert name(preferred_username="ada@lab.example") == "ada@lab.example"
    assert name() == "person"
