"""An address that is none of http or https is refused wherever one comes in, and by the database itself."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from answers.notebook import addresses
from corpus.admin.documents import DocumentForm
from corpus.admin.fields import WebAddressField
from corpus.enrichment import running
from corpus.gateways.crossref import Crossref
from corpus.gateways.http import Outbound
from corpus.gateways.pace import Pace
from corpus.manifest_fields import FieldError
from corpus.manifest_fields import url as manifest_url
from corpus.models import Document, Source
from corpus.webhooks.actions import WebhookError, checked_url
from tests.factories.corpus import DocumentFactory, SourceFactory
from tests.loopback.crossref_server import CrossrefServer

NONE = (
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\tscript:alert(1)", "java\nscript:alert(1)",
    " javascript:alert(1)", "\x01javascript:alert(1)", "javascript&colon;alert(1)",
    "&#106;avascript:alert(1)", "javascript%3Aalert(1)", "javascript://example.org/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>", "DATA:text/html;base64,PHNjcmlwdD4=", "vbscript:msgbox(1)",
    "file:///etc/passwd", "ftp://example.org/x", "blob:https://example.org/x", "about:blank",
    "//example.org/x", "view-source:https://example.org/", "http", "https:", "x https://example.org/",
)  # fmt: skip
GOOD = ("https://example.org/a?b=c#d", "http://example.org/", "HTTPS://EXAMPLE.ORG/x")


@pytest.mark.django_db
@pytest.mark.parametrize("address", NONE)
def test_no_row_has_one_whatever_wrote_it(address: str) -> None:
    document, source = DocumentFactory(), SourceFactory()
    for row, fields in (
        (document, {"url": address}),
        (source, {"url": address}),
        (source, {"identifier_type": "url", "identifier_value": address}),
    ):
        for name, value in fields.items():
            setattr(row, name, value)
        with pytest.raises(ValidationError):
            row.full_clean()
        with pytest.raises(IntegrityError, match="of_the_web"), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(**fields)


@pytest.mark.django_db
@pytest.mark.parametrize("address", GOOD)
def test_one_of_the_web_is_kept(address: str) -> None:
    document = DocumentFactory(url=address)
    SourceFactory(url=address, identifier_type="url", identifier_value=address)

    assert Document.objects.get(pk=document.pk).url == address
    assert WebAddressField().clean(address)
    assert manifest_url(address) == address


@pytest.mark.parametrize("address", [one for one in NONE if one not in ("http", "//example.org/x")])
def test_no_form_takes_one(address: str) -> None:
    # What has no scheme is taken for a host, over https.
    with pytest.raises(ValidationError):
        WebAddressField().clean(address)


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["javascript:alert(1)", "ftp://example.org/x"])
def test_the_form_of_a_document_says_which_field_is_wrong(address: str) -> None:
    form = DocumentForm(data={"title": "Straw", "language": "en", "url": address})

    assert "url" in form.errors


@pytest.mark.parametrize("address", NONE)
def test_no_manifest_note_or_webhook_takes_one(address: str) -> None:
    with pytest.raises(FieldError):
        manifest_url(address)
    with pytest.raises(WebhookError):
        checked_url(address)
    with pytest.raises(addresses.NoAddress):
        addresses.normalise_address(address)


@pytest.fixture
def crossref(settings) -> Iterator[CrossrefServer]:
    with CrossrefServer() as server:
        settings.SCI_RAG_CONTACT_EMAIL = "library@lab.example"
        yield server


@pytest.mark.django_db(transaction=True)
def test_enrichment_keeps_none_of_an_index(crossref: CrossrefServer) -> None:
    document = DocumentFactory(source=SourceFactory(identifier_value="10.1000/paper"), doi="10.1000/paper")
    crossref.works["10.1000/paper"] = {
        "DOI": "10.1000/paper",
        "URL": "javascript:alert(1)",
        "title": ["Straw"],
        "license": [{"URL": "javascript://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}],
        "link": [{"URL": "data:text/html,x", "content-type": "application/pdf"}],
        "resource": {"primary": {"URL": "vbscript:msgbox(1)"}},
    }
    with Outbound(contact="library@lab.example", listed=[crossref.host], pace=Pace()) as outbound:
        running.run(crossref=Crossref(outbound, base_url=crossref.base_url))

    document.refresh_from_db()
    kept = json.dumps([*Source.objects.values_list("url", flat=True), document.url])
    assert not [word for word in ("javascript", "data:", "vbscript") if word in kept]
    assert document.license_class == "open_commercial", "an address that is none establishes no licence"
