"""The demo: its documents, what publishers said about them, its accounts and its question."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from corpus import ingestion
from corpus.actions.editorial import record_event
from corpus.identifiers import normalise_doi
from corpus.inputs import Batch, NothingFound, Refusal, from_manifest
from corpus.models import Document, Source
from corpus.reports import Outcome, Progress
from corpus.roles import ASKER, EXPERT, LIBRARIAN
from corpus.scope import RetrievalScope
from evaluation.actions.importing import import_questions
from evaluation.actions.questions import Writing, add_set
from evaluation.ground_truth.models import QuestionSet
from evaluation.questions import QuestionFileError, read_questions
from retrieval.graph.communities import building, scopes
from retrieval.graph.communities.queries import current_build_of, is_stale
from retrieval.graph.communities.summarising import Extractive
from retrieval.graph.extraction import choosing, running
from retrieval.graph.extraction.running import Reach
from retrieval.graph.ontology import InvalidOntology, active_ontology
from sci_rag_site import accounts

QUESTIONS = "demo"
ROLES = {"demo-librarian": LIBRARIAN, "demo-asker": ASKER, "demo-expert": EXPERT}


class DemoIncomplete(RuntimeError):
    """The demo's files are not all there, or not all usable. The message names the first."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the demo holds now."""

    documents: int
    new: int


def load(progress: Progress) -> Loaded:
    """Take in the demo documents that are missing, and what was asserted about them."""
    batch = _batch()
    dois = {normalise_doi(file.described.doi) for file in batch.files if not isinstance(file, Refusal)} - {
        None
    }
    held = Document.objects.filter(doi_normalised__in=dois, bucket__startswith="demo").count()
    new = 0
    if held < len(batch.files):
        report = ingestion.ingest(batch, progress=progress)
        for item in report.reports:
            if item.outcome == Outcome.FAILED:
                raise DemoIncomplete(f"{item.path}: {item.detail}")
        new = report.counts[Outcome.READY]
        _record_events()
    return Loaded(documents=len(batch.files), new=new)


def read_graph() -> int:
    """Read the demo's passages into the knowledge graph by rules, new ones only; return how many."""
    try:
        ontology = active_ontology()
    except InvalidOntology as error:
        raise DemoIncomplete(str(error)) from None
    demo = Document.objects.filter(bucket__startswith="demo")
    extractor, reach = choosing.rules(ontology), Reach(documents=demo)
    # A demo of an earlier version has documents and no graph yet; one that was read needs no run.
    if not running.count(extractor, reach):
        return 0
    return running.extract(extractor=extractor, ontology=ontology, reach=reach).passages_done


def build_communities() -> int:
    """Group the graph for each named scope where it has changed; return how many communities are new."""
    new = 0
    for name in scopes.named():
        current = current_build_of(name)
        # What a model wrote stays as long as it is true.
        if current is None or is_stale(current):
            new += building.build(name=name, summariser=Extractive()).communities.total()
    return new


def load_questions() -> int:
    """Take the demo's seed questions into the set `demo` once; return how many that were.

    A set that is there is left alone: an expert may have changed and signed what is in it.
    """
    if QuestionSet.objects.filter(name=QUESTIONS).exists():
        return 0
    try:
        seeds = read_questions(_folder() / "seed_questions.jsonl")
    except QuestionFileError as error:
        raise DemoIncomplete(str(error)) from None
    taken = import_questions(
        question_set=add_set(name=QUESTIONS, description="Questions about the demo corpus.", by=None),
        seeds=seeds,
        writing=Writing(RetrievalScope(), must_be_found=False),
        origin="seed_questions.jsonl",
        by=None,
    )
    return taken.added


def _batch() -> Batch:
    try:
        return from_manifest(_folder() / "manifest.jsonl")
    except NothingFound as error:
        raise DemoIncomplete(str(error)) from None


def _folder() -> Path:
    return Path(settings.DOMAIN_DIR) / "demo"


def _records(name: str) -> list[dict[str, Any]]:
    lines = (_folder() / name).read_text().splitlines()
    return [json.loads(line) for line in lines if line.strip() and not line.startswith("#")]


def _record_events() -> None:
    for event in _records("editorial_events.jsonl"):
        source = Source.objects.filter(
            identifier_type=Source.IdentifierType.DOI, identifier_value=normalise_doi(event["doi"])
        ).first()
        if source is None:
            raise DemoIncomplete(f"No document of the demo has the DOI {event['doi']}.")
        record_event(
            source=source,
            kind=event["kind"],
            origin=event["origin"],
            happened_on=date.fromisoformat(event["happened_on"]),
            note=event.get("note", ""),
            notice_doi=event.get("notice_doi", ""),
        )


def question() -> str:
    """Return the first seed question that the demo answers."""
    return next(str(row["question"]) for row in _records("seed_questions.jsonl") if not row["unanswerable"])


def passwords_file() -> Path:
    return Path(settings.VAR_DIR) / "demo-accounts.txt"


@transaction.atomic
def ensure_accounts() -> dict[str, str]:
    """Return the demo's accounts with their passwords, made once and kept in a file of the owner's."""
    path = passwords_file()
    known = dict(line.split() for line in path.read_text().splitlines()) if path.exists() else {}
    present = {user.username: user for user in User.objects.filter(username__in=ROLES)}
    if set(known) == set(present) == set(ROLES):
        return known
    passwords = {name: known.get(name, accounts.new_password()) for name in ROLES}
    for name, group in ROLES.items():
        if name not in present:
            accounts.create(name=name, groups=[group], password=passwords[name])
        elif name not in known:
            present[name].set_password(passwords[name])
            present[name].save()
    _keep(path, "".join(f"{name} {password}\n" for name, password in passwords.items()))
    return passwords


def _keep(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)
