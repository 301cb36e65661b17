"""Everything the doctor looks at, in the order of what depends on what."""

from __future__ import annotations

from collections.abc import Iterator

from sci_rag_site.health import configuration, database, findings, holdings, keeping, keys, probes, sign_in
from sci_rag_site.health.findings import Check, Finding, Status

WITHOUT_DATABASE: tuple[Check, ...] = (
    configuration.configuration,
    configuration.domain_profile,
    configuration.domain_files,
    configuration.egress,
    configuration.parser,
    configuration.models,
    configuration.credentials,
    configuration.worker,
    configuration.disk,
)
EQUIPMENT: tuple[Check, ...] = (database.pgvector, keeping.clock, database.migrations)
CONTENT: tuple[Check, ...] = (
    database.embeddings,
    database.vector_index,
    database.communities,
    database.queue,
    database.corpus,
    database.records,
    holdings.vectors,
    holdings.graph,
    holdings.attention,
    keeping.originals,
    keeping.backup,
    keys.keys,
)
PROBES: tuple[Check, ...] = (probes.one_embedding, probes.one_generation, sign_in.provider)


def examine(*, probe: bool) -> Iterator[Finding]:
    """Yield what there is to say; what rests on something broken is not looked at."""
    yield from findings.run(WITHOUT_DATABASE)
    yield from _while_sound((database.database,), EQUIPMENT, CONTENT)
    if probe:
        yield from findings.run(PROBES)


def _while_sound(*stages: tuple[Check, ...]) -> Iterator[Finding]:
    for stage in stages:
        found = list(findings.run(stage))
        yield from found
        if any(item.status is Status.FAIL for item in found):
            return
