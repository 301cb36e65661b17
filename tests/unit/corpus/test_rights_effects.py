"""What a change of class would do, in numbers."""

from corpus.actions.rights import effects
from corpus.rights import LicenseClass


def test_effects_count_what_is_raised_lowered_and_left():
    result = effects(
        ["unknown", "unknown", "restricted", "public", "open_noncommercial"], LicenseClass.OPEN_NONCOMMERCIAL
    )

    assert (result.raised, result.lowered, result.unchanged, result.changed) == (3, 1, 1, 4)
    assert result.before == (
        (LicenseClass.PUBLIC, 1),
        (LicenseClass.OPEN_NONCOMMERCIAL, 1),
        (LicenseClass.RESTRICTED, 1),
        (LicenseClass.UNKNOWN, 2),
    )


def test_effects_of_nothing_are_nothing():
    result = effects([], LicenseClass.PUBLIC)

    assert (result.changed, result.unchanged, result.before) == (0, 0, ())


def test_declaring_rights_unknown_is_lowering_even_from_restricted():
    assert effects(["restricted"], LicenseClass.UNKNOWN).lowered == 1
