"""The licence classes that text of documents has, as they stand now: what a request to a model carries."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from corpus.egress import Classes, classes_of
from corpus.models import Document
from corpus.rights import LicenseClass


def of_documents(ids: Collection[UUID | str]) -> Classes:
    """Return the classes of these documents; one that is gone counts as unknown."""
    rows = dict(Document.objects.filter(pk__in=ids).order_by().values_list("pk", "license_class"))
    found = classes_of(rows.values())
    return found if len(rows) == len({str(each) for each in ids}) else found | {LicenseClass.UNKNOWN}
