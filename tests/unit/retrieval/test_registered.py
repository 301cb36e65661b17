from django.utils.module_loading import import_string

from corpus.domain_profile import LayerProfiles
from retrieval.layers.registered import REGISTERED


def test_a_layer_is_registered_under_its_own_name() -> None:
    assert [layer.name for layer in REGISTERED] == [import_string(layer.place).name for layer in REGISTERED]


def test_the_experts_can_set_what_each_layer_of_the_product_counts() -> None:
    assert [layer.name for layer in REGISTERED] == list(LayerProfiles.model_fields)
