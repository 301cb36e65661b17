"""Telling the language of a document by its commonest words."""

import pytest

from corpus.language import language_of

SAMPLES = {
    "en": (
        "The loss of dry matter was measured in the shed and on the field, and it is clear from the "
        "table that bales that were wrapped lost less than bales which were left in the open for the "
        "whole of the winter."
    ),
    "de": (
        "Der Verlust an Trockenmasse wurde in der Scheune und auf dem Feld gemessen, und die Tabelle "
        "zeigt, dass die Ballen mit einer Folie weniger verloren als die, die nicht abgedeckt und den "
        "Winter über im Freien waren."
    ),
    "fr": (
        "La perte de matière sèche est mesurée dans le hangar et sur le champ, et le tableau montre "
        "que les balles avec un film perdent moins que celles qui sont restées dans la cour pour "
        "toute la durée de l'hiver."
    ),
    "es": (
        "La pérdida de materia seca se midió en el cobertizo y en el campo, y la tabla muestra que "
        "las pacas con una película pierden menos que las que se dejaron al aire libre por todo el "
        "invierno en el mismo lugar."
    ),
    "nl": (
        "Het verlies van droge stof werd in de schuur en op het veld gemeten, en de tabel laat zien "
        "dat de balen met een folie niet zo veel verliezen als de balen die voor de hele winter "
        "buiten zijn gebleven."
    ),
}


@pytest.mark.parametrize("code", SAMPLES)
def test_running_text_tells_its_language(code):
    assert language_of([SAMPLES[code]]) == code


@pytest.mark.parametrize(
    "texts", [[], ["Kurzer Text."], ["12.5 4.2 " * 400], ["Smith Jones Brackwater Quillfeather " * 50]]
)
def test_what_does_not_tell_is_taken_for_english(texts):
    assert language_of(texts) == "en"


def test_a_quotation_in_another_language_does_not_turn_the_document():
    assert language_of([SAMPLES["en"]] * 4 + [SAMPLES["de"]]) == "en"
