"""Settings, the domain profile, the parser, models, the worker and the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from django.conf import settings
from django.core import checks as system_checks

from corpus.domain_profile import InvalidProfile, active_profile
from corpus.egress import FILE as EGRESS_FILE
from corpus.egress import active_policy
from corpus.gateways import border
from corpus.gateways.embedding import EmbeddingError, configured_embedder
from corpus.gateways.embedding.minilm import MODEL as MINILM
from corpus.prompt_files import InvalidPrompt, prompt_file
from corpus.rights import ALL_CLASSES
from corpus.usage.purposes import LABELS, Purpose
from retrieval.graph.ontology import InvalidOntology, active_ontology
from sci_rag_site import file_broker
from sci_rag_site.health.findings import Finding, fail, ok, warn
from sci_rag_site.tasks import heartbeat_file

PROMPTS = (
    "answer", "community_summary", "compress", "draft_manifest", "draft_ontology", "draft_question",
    "extract_graph", "followup", "hyde", "judge_correctness", "judge_grounding", "name_entities", "rerank",
    "resolve_entities", "screen",
)  # fmt: skip
# Those of providers that litellm reads itself.
_KEYS = "{}_API_KEY"
SAMPLE = "# Sample\n\nA paragraph that is long enough to be kept as one block of prose by the parser.\n"


def configuration() -> Iterator[Finding]:
    """Run Django's checks, and those for deployment where others reach the site."""
    public = settings.HTTPS
    problems = system_checks.run_checks(include_deployment_checks=public)
    serious = [item for item in problems if item.level >= system_checks.WARNING and not item.is_silenced()]
    for item in serious:
        make = fail if item.level >= system_checks.ERROR else warn
        fix = " ".join((item.hint or "Run 'python manage.py check --deploy'.").split())
        yield make("configuration", " ".join(item.msg.split()), fix)
    if settings.DEBUG:
        yield warn("configuration", "DEBUG is on: error pages show code.", "Remove DEBUG from .env.")
    elif not serious:
        yield ok("configuration", "for others, over https" if public else "for this machine only")


def domain_profile() -> Iterator[Finding]:
    """Read the profile and the prompts an expert edits."""
    folder = Path(settings.DOMAIN_DIR)
    try:
        profile = active_profile()
    except (InvalidProfile, OSError) as error:
        yield fail("domain profile", " ".join(str(error).split()), f"Correct {folder / 'domain.yaml'}.")
        return
    yield ok("domain profile", f"{profile.name}, version {profile.digest()[:12]}")


def domain_files() -> Iterator[Finding]:
    """Read the prompts and the ontology, which are not looked at before they are needed."""
    folder = Path(settings.DOMAIN_DIR)
    broken = [why for name in PROMPTS if (why := _fault_of(name))]
    if broken:
        yield fail("prompts", broken[0], f"Restore or correct it in {folder / 'prompts'}.")
    else:
        yield ok("prompts", f"{len(PROMPTS)}, each with its two parts")
    try:
        ontology = active_ontology()
    except (InvalidOntology, OSError) as error:
        yield fail("ontology", " ".join(str(error).split()), f"Correct {folder / 'ontology.yaml'}.")
    else:
        kinds = f"{len(ontology.entity_types)} types of things, {len(ontology.relation_types)} of relations"
        yield ok("ontology", kinds)


def _fault_of(prompt: str) -> str:
    try:
        prompt_file(prompt)
    except InvalidPrompt as error:
        return str(error)
    except OSError as error:
        return f"prompts/{prompt}.md cannot be read: {error.strerror}."
    return ""


def egress() -> Iterator[Finding]:
    """Read what may leave for models, and say what does."""
    try:
        policy = active_policy()
    except (InvalidProfile, OSError) as error:
        where = Path(settings.DOMAIN_DIR) / EGRESS_FILE
        yield fail("what may leave", f"{' '.join(str(error).split())} Nothing does.", f"Correct {where}.")
        return
    used = {
        Purpose.ANSWER: (settings.SCI_RAG_LLM_MODEL, settings.SCI_RAG_LLM_API_BASE),
        Purpose.PASSAGE_VECTORS: _outside_embedder(),
    }
    for purpose, (model, address) in used.items():
        if model:
            allowed = policy.allowed(border.endpoint(model, address), purpose)
            names = ", ".join(each for each in ALL_CLASSES if each in allowed) or "nothing"
            yield ok("what may leave", f"to {model}, {LABELS[purpose].lower()}: {names}")
    if not any(model for model, _ in used.values()):
        yield ok("what may leave", "nothing: no model is elsewhere")


def _outside_embedder() -> tuple[str, str]:
    model = settings.SCI_RAG_EMBEDDING_MODEL
    return ("", "") if model == MINILM else (model, settings.SCI_RAG_EMBEDDING_API_BASE)


def parser() -> Iterator[Finding]:
    """Parse a sample the way documents are: in a process of its own."""
    from corpus.parsing.blocks import ParseFailure
    from corpus.parsing.registry import parse

    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder, "sample.md")
        sample.write_text(SAMPLE)
        try:
            parsed = parse(sample)
        except ParseFailure as failure:
            yield fail("parser", f"A sample could not be parsed: {failure.code}.", "Run 'make setup' again.")
            return
    yield ok(
        "parser", f"{len(parsed.blocks)} blocks of a sample; pypdfium2 {version('pypdfium2')}; {_docling()}"
    )


def _docling() -> str:
    try:
        installed = f"docling {version('docling-slim')}"
    except PackageNotFoundError:
        return "no docling: Word, PowerPoint, Excel and LaTeX files are refused"
    return f"{installed} with models for PDFs" if settings.DOCLING_ARTIFACTS_PATH else installed


def models() -> Iterator[Finding]:
    """Say which models are set; only `--probe` calls one that is elsewhere."""
    try:
        embedder = configured_embedder()
    except EmbeddingError as error:
        yield fail(
            "embedding model",
            " ".join(str(error).split()),
            "Correct SCI_RAG_EMBEDDING_MODEL, or 'make setup'.",
        )
    else:
        yield ok("embedding model", f"{embedder.version}, {embedder.dimensions} dimensions")
    if not settings.SCI_RAG_LLM_MODEL:
        yield ok("answering model", "none: answers quote passages (SCI_RAG_LLM_MODEL sets one)")
        return
    where = "an address of its own" if settings.SCI_RAG_LLM_API_BASE else "the provider's address"
    key = "a key" if settings.SCI_RAG_LLM_API_KEY else "no key"
    yield ok("answering model", f"{settings.SCI_RAG_LLM_MODEL}, {where}, {key}; --probe tries it")


def credentials() -> Iterator[Finding]:
    """Say for each role whether what it needs to be let in is set, and never what."""
    chat, embedding = settings.SCI_RAG_LLM_MODEL, _outside_embedder()[0]
    said, missing = [], []
    for role, model, address, key, setting in (
        ("models that write", chat, settings.SCI_RAG_LLM_API_BASE, settings.SCI_RAG_LLM_API_KEY, "LLM"),
        (
            "the embedding model", embedding, settings.SCI_RAG_EMBEDDING_API_BASE,
            settings.SCI_RAG_EMBEDDING_API_KEY, "EMBEDDING",
        ),
    ):  # fmt: skip
        if not model:
            continue
        own = _KEYS.format(model.partition("/")[0].upper())
        if not key and not address and not os.environ.get(own):
            missing.append((role, f"Set SCI_RAG_{setting}_API_KEY, or {own}."))
        said.append(f"{role}: {'a key' if key or os.environ.get(own) else 'none'}")
    said.append(f"Crossref and its like: {'an address' if settings.SCI_RAG_CONTACT_EMAIL else 'not asked'}")
    said.append(f"OpenAlex: {'a key' if settings.SCI_RAG_OPENALEX_API_KEY else 'no key'}")
    if missing:
        role, fix = missing[0]
        yield warn("credentials", f"There is none for {role}.", fix)
    else:
        yield ok("credentials", "; ".join(said))


def worker() -> Iterator[Finding]:
    """See when the worker last did something, and what waits for it."""
    start = "Run 'sci-rag up', or 'celery -A sci_rag_site worker --beat'."
    broker = "files" if not settings.CELERY_BROKER_URL else settings.CELERY_BROKER_URL.partition("://")[0]
    if settings.CELERY_BROKER_URL:
        from sci_rag_site.celery import app

        try:
            with app.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, timeout=3)
        except Exception as error:  # noqa: BLE001 - each broker's library has errors of its own
            yield fail(
                "broker", f"{broker} is not reached: {type(error).__name__}.", "Check CELERY_BROKER_URL."
            )
            return
        yield ok("broker", broker)
    else:
        count, age = file_broker.waiting(Path(settings.VAR_DIR) / "broker")
        if age > 300:
            yield warn("broker", f"{count} messages wait, the oldest for {age / 60:.0f} minutes.", start)
        else:
            yield ok("broker", f"{broker}, {count} messages wait")
    beat = heartbeat_file()
    if not beat.exists():
        yield warn("worker", "It has never run here.", start)
    elif (silent := time.time() - beat.stat().st_mtime) > 300:
        yield warn("worker", f"It has done nothing for {silent / 60:.0f} minutes.", start)
    else:
        yield ok("worker", f"worked {max(0, silent):.0f} s ago")


def disk() -> Iterator[Finding]:
    """See that the database and the originals have room to grow."""
    place = Path(settings.VAR_DIR)
    place.mkdir(parents=True, exist_ok=True)
    usage = shutil.disk_usage(place)
    share, free = usage.free / usage.total, f"{usage.free / 1e9:.1f} GB free at {place}"
    fix = "Free some, or set SCI_RAG_VAR_DIR to a larger disk."
    if usage.free < 200_000_000:
        yield fail("disk", f"{free}.", fix)
    elif share < 0.05 or usage.free < 2_000_000_000:
        yield warn("disk", f"{free}, {share:.0%} of it.", fix)
    else:
        yield ok("disk", free)
