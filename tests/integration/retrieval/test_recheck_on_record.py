"""What a layer names beyond the scope is dropped before anybody sees it, and that it was is on record."""

import pytest

from corpus.audit.models import AuditEvent
from corpus.scope import scope
from retrieval import hydration
from tests.factories.corpus import ChunkFactory, DocumentFactory

pytestmark = pytest.mark.django_db
OPEN = scope(license_classes=["public"])


def events() -> list[dict[str, object]]:
    rows = AuditEvent.objects.filter(kind=AuditEvent.Kind.RECHECKED)
    return list(rows.order_by("id").values_list("about", flat=True))


def test_what_the_scope_does_not_allow_is_dropped_and_put_on_record_without_saying_what() -> None:
    shown = ChunkFactory(document=DocumentFactory(license_class="public"), ordinal=0)
    hidden = ChunkFactory(document=DocumentFactory(license_class="restricted"), ordinal=0)

    assert list(hydration.load([shown.pk, hidden.pk], OPEN)) == [shown.pk]

    assert events() == [{"passages": 1}]


def test_a_search_in_which_all_layers_kept_to_the_scope_leaves_no_record() -> None:
    shown = ChunkFactory(document=DocumentFactory(license_class="public"), ordinal=0)

    for _ in range(20):
        assert list(hydration.load([shown.pk], OPEN)) == [shown.pk]

    assert events() == []
