"""A small corpus with real vectors, for tests that ask it."""

from collections.abc import Sequence

import pytest

from corpus.egress import NOTHING_HELD
from corpus.gateways.embedding import configured_embedder
from corpus.models import Chunk, Document
from corpus.rights import LicenseClass
from corpus.vectors import ensure_version, store
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory

STRAW = (
    "Rice straw was digested at 37 °C for 40 days [12]. The methane yield of rice straw was 210 L/kg of "
    "volatile solids. Grinding the straw to 2 mm raised the yield by 14 %."
)
DIGESTER = (
    "Thermophilic digesters run at 53 °C. Their hydraulic retention time is 18 days, which is half of the "
    "time that mesophilic digesters need."
)
RESTRICTED = (
    "The confidential pilot plant at Calder digests rice straw with a methane yield of 377 L/kg of volatile "
    "solids. Its operator is Zanzibar Biogas."
)
TABLE = """Table 2. Ash content of residues

| Residue | Ash (% of dry mass) | Lignin (%) |
| --- | --- | --- |
| Rice straw | 17.3 | 12.1 |
| Corn stover | 5.8 | 18.6 |"""


def passages(document: Document, *bodies: str, **values: object) -> list[Chunk]:
    """Give `document` passages with vectors, as an ingestion would."""
    chunks: Sequence[Chunk] = [
        ChunkFactory(
            document=document, ordinal=number, body=body, page_start=number + 1, page_end=number + 1, **values
        )
        for number, body in enumerate(bodies)
    ]
    Document.objects.filter(pk=document.pk).update(chunk_count=len(chunks))
    embedder = configured_embedder()
    vectors = embedder.embed([chunk.content for chunk in chunks], task="document", carries=NOTHING_HELD)
    store(version=ensure_version(embedder), chunks=chunks, vectors=vectors)
    return list(chunks)


@pytest.fixture
def straw(transactional_db: None) -> Document:
    document = DocumentFactory(title="Methane from rice straw", source=SourceFactory(), year=2021)
    passages(document, STRAW, locator="3 Results")
    return document


@pytest.fixture
def small_corpus(straw: Document) -> dict[str, Document]:
    """Three documents anyone on the staff may see, and a restricted one."""
    digester = DocumentFactory(title="Running a digester")
    passages(digester, DIGESTER)
    ash = DocumentFactory(title="Residues of the field")
    passages(ash, TABLE, locator="Table 2", is_table=True)
    secret = DocumentFactory(title="Calder pilot plant", license_class=LicenseClass.RESTRICTED.value)
    passages(secret, RESTRICTED)
    return {"straw": straw, "digester": digester, "ash": ash, "secret": secret}
