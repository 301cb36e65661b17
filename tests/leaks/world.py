"""A corpus in which every document carries a word of its own, in every place a page could show."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from io import BytesIO

import numpy as np
from django.contrib.auth.models import Group, Permission, User
from django.utils import timezone
from reportlab.pdfgen.canvas import Canvas

from answers.conversations import Conversation
from answers.feedback import AcquisitionRequest, WrongReport, WrongReportSource
from answers.models import Answer, AnswerSource
from answers.notebook.deleted import as_kept
from answers.notebook.models import DeletedNote, Observation, ObservationSource
from answers.notices import Notice
from corpus import storage, vectors
from corpus.campaigns.models import Campaign, CampaignRun
from corpus.curation import ReviewItem
from corpus.gateways.embedding import configured_embedder
from corpus.identity import rank_key
from corpus.models import (
    Chunk,
    Document,
    DocumentCitation,
    GroupCeiling,
    IngestionItem,
    IngestionRun,
    RightsDecision,
)
from corpus.rights import ALL_CLASSES, LicenseClass
from corpus.usage.models import ModelUse
from evaluation.models import CalibrationQueue, CompressionDecision, EvaluationRun, Question
from retrieval.graph.models import Entity, ExtractionRun
from tests.factories.corpus import ChunkFactory, DocumentFactory, EditorialEventFactory, SourceFactory
from tests.factories.graph import DescriptionFactory, EntityFactory, MentionFactory, RelationshipFactory
from tests.integration.retrieval.corpora import vector_of
from tests.leaks import api_rows, calibration_rows, campaign_rows, evaluation_rows

OPEN = (LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL)


@dataclass(frozen=True)
class Case:
    """Why a document may be kept from somebody. One that is a scan has pages and no passages."""

    license_class: LicenseClass
    embargoed: bool = False
    retracted: bool = False
    scanned: bool = False


# One document of each class, named by it, and one for everything else that keeps a document back.
CASES: dict[str, Case] = {
    **{item.value: Case(item) for item in ALL_CLASSES},
    "embargoed": Case(LicenseClass.RESTRICTED, embargoed=True),
    "retracted": Case(LicenseClass.OPEN_NONCOMMERCIAL, retracted=True),
    "scanned": Case(LicenseClass.RESTRICTED, scanned=True),
}
READABLE = tuple(name for name, case in CASES.items() if not case.scanned)
# Who may see the documents of which classes.
CEILINGS: dict[str, tuple[LicenseClass, ...]] = {
    "anonymous": (),
    "without_role": (),
    "narrow": (LicenseClass.PUBLIC,),
    "branch": OPEN,
    "asker": OPEN,
    "expert": OPEN,
    "curator": (LicenseClass.PUBLIC,),
    "librarian": ALL_CLASSES,
}
# Who is held to one collection besides.
BUCKETS = {"branch": "bucket-canarypubliczq"}


def canary(case: str) -> str:
    """Return the word that stands in the document of a case and nowhere else."""
    return f"canary{case.replace('_', '')}zq"


def allowed(actor: str) -> list[str]:
    """Return the cases whose documents `actor` may see."""
    bucket = BUCKETS.get(actor)
    return [
        name
        for name, case in CASES.items()
        if case.license_class in CEILINGS[actor] and bucket in (None, f"bucket-{canary(name)}")
    ]


@dataclass
class World:
    """What there is, by case and by owner."""

    documents: dict[str, Document] = field(default_factory=dict)
    passages: dict[str, Chunk] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    # By owner, and whether they share it.
    notes: dict[tuple[str, bool], Observation] = field(default_factory=dict)
    deleted_notes: dict[str, uuid.UUID] = field(default_factory=dict)
    people: dict[str, User | None] = field(default_factory=dict)
    # Of a key of each person, which may do and see all that they may.
    secrets: dict[str, str] = field(default_factory=dict)
    runs: list[IngestionRun] = field(default_factory=list)
    # The name of the set about each case, and under  of the one about all of them.
    question_sets: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    evaluations: list[EvaluationRun] = field(default_factory=list)
    extractions: list[ExtractionRun] = field(default_factory=list)
    campaigns: list[Campaign] = field(default_factory=list)
    campaign_runs: list[CampaignRun] = field(default_factory=list)
    # What a passage of the case alone mentions; under "" what all of them mention.
    entities: dict[str, Entity] = field(default_factory=dict)
    tombstones: dict[str, Entity] = field(default_factory=dict)
    # Of judged answers, by case and of everything.
    samples: dict[str, CalibrationQueue] = field(default_factory=dict)
    # Of the compression gate, by the case that has to be seen besides the first.
    decisions: dict[str, CompressionDecision] = field(default_factory=dict)

    def hidden_entities(self, actor: str) -> list[Entity]:
        """Return the entities that no passage `actor` may see mentions."""
        rows = [*self.entities.items(), *self.tombstones.items()]
        shown = allowed(actor)
        return [row for name, row in rows if name not in shown and (name or not shown)]

    def hidden_words(self, actor: str) -> list[str]:
        """Return the words `actor` must never meet."""
        return [canary(name) for name in CASES if name not in allowed(actor)]

    def hidden_documents(self, actor: str) -> list[Document]:
        """Return the documents `actor` must not know of."""
        return [document for name, document in self.documents.items() if name not in allowed(actor)]


def build() -> World:
    """Make the people, a document of every case, and an answer of each asker that cites them all."""
    world = World()
    _people(world)
    _model_use()
    add(world, CASES)
    _run(world)
    evaluation_rows.furnish(world, READABLE, {case: canary(case) for case in READABLE})
    for name in ("narrow", "asker", "librarian"):
        _answer(world, name)
    calibration_rows.furnish(world, {case: canary(case) for case in calibration_rows.ABOUT})
    api_rows.furnish(world)
    campaign_rows.furnish(world, {case: canary(case) for case in CASES})
    return world


def add(world: World, cases: Collection[str]) -> None:
    """Make the documents of `cases` with everything that belongs to a document, their vectors too."""
    for name in cases:
        _document(world, name)
    passages = [world.passages[name] for name in cases if name in world.passages]
    vectors.store(
        version=vectors.ensure_version(configured_embedder()),
        chunks=passages,
        vectors=np.stack([vector_of(passage.body) for passage in passages]),
    )


def _people(world: World) -> None:
    narrow = Group.objects.create(name="narrow")
    narrow.permissions.set(Group.objects.get(name="asker").permissions.all())
    GroupCeiling.objects.create(group=narrow, license_classes=["public"])
    world.people["anonymous"] = None
    world.people["without_role"] = User.objects.create_user("without_role")
    # Everything a librarian may do, with a ceiling that shows next to nothing.
    curator = Group.objects.create(name="curator")
    curator.permissions.set(Group.objects.get(name="librarian").permissions.all())
    GroupCeiling.objects.create(group=curator, license_classes=["public"])
    branch = Group.objects.create(name="branch")
    branch.permissions.set(Group.objects.get(name="asker").permissions.all())
    GroupCeiling.objects.create(
        group=branch,
        license_classes=[item.value for item in OPEN],
        all_buckets=False,
        buckets=[BUCKETS["branch"]],
    )
    for name in ("narrow", "branch", "asker", "expert", "curator", "librarian"):
        person = User.objects.create_user(name, is_staff=name == "curator")
        person.groups.add(Group.objects.get(name=name))
        world.people[name] = person


def _model_use() -> None:
    """Have calls about the collection of every case; the curator may read the ledger, but for the ceiling."""
    for name in CASES:
        collection = f"bucket-{canary(name)}"
        ModelUse.objects.create(
            day=timezone.now().date(), purpose="answer", collection=collection, model="m", calls=1
        )
    permission = Permission.objects.get(content_type__app_label="corpus", codename="view_modeluse")
    Group.objects.get(name="curator").permissions.add(permission)


def _document(world: World, name: str) -> None:
    word, case = canary(name), CASES[name]
    source = SourceFactory(
        title=f"Work {word}",
        identifier_value=f"10.9999/{word}.work",
        is_corrected=not case.retracted,
        is_retracted=case.retracted,
        container=word,
    )
    EditorialEventFactory(
        source=source,
        kind="retraction" if case.retracted else "correction",
        note=word,
        notice_doi=f"10.9999/{word}.notice",
    )
    document = DocumentFactory(
        title=f"Biochar and {word}",
        authors=[f"Author {word}"],
        journal=f"Journal {word}",
        doi=f"10.9999/{word}",
        bucket=f"bucket-{word}",
        url=f"https://example.org/{word}",
        file_name=f"{word}.pdf",
        media_type="application/pdf",
        page_count=1,
        license_class=case.license_class.value,
        embargoed_until=date(2999, 1, 1) if case.embargoed else None,
        content_sha256=hashlib.sha256(word.encode()).hexdigest(),
        file_sha256=_original(word),
        state=Document.State.NEEDS_OCR if case.scanned else Document.State.READY,
        chunk_count=0 if case.scanned else 1,
        license_source=word,
        rights_statement=word,
        version_label=word,
        source=source,
        year=2020,
    )
    if not case.scanned:
        world.passages[name] = _passage(document, word)
        _graph(world, name, word)
    DocumentCitation.objects.create(
        citing=document, ordinal=0, text=word, doi_normalised=f"10.9999/{word}.ref"
    )
    RightsDecision.objects.create(
        document=document,
        document_title=document.title,
        from_class="unknown",
        to_class=case.license_class.value,
        evidence=word,
        process="test",
    )
    ReviewItem.objects.create(
        kind=ReviewItem.Kind.SUPERSESSION,
        document=document,
        other=document,
        suggestion={"superseded_by": word},
        suggestion_sha256="0" * 64,
        reason=word,
    )
    world.documents[name] = document


def _passage(document: Document, word: str) -> Chunk:
    passage: Chunk = ChunkFactory(
        document=document,
        ordinal=0,
        body=f"Biochar holds water, says {word}.",
        section_path=[f"Heading {word}"],
        locator=f"Section {word}",
        rank_key=rank_key(document.content_sha256, 0),
        page_start=1,
        page_end=1,
        boxes=[[1, 0.1, 0.1, 0.9, 0.2]],
    )
    return passage


def _graph(world: World, name: str, word: str) -> None:
    """What the passage mentions: what all mention, by a name of its own too, and something of its own."""
    passage = world.passages[name]
    shared = world.entities.get("") or EntityFactory(name="Biochar", type="material")
    other = Entity.objects.filter(key="h2o").first() or EntityFactory(name="H2O", type="material")
    own = EntityFactory(name=f"Thing {word}", type="concept")
    merged = EntityFactory(name=f"Char {word}", type="material", canonical_entity=shared)
    for entity, surface in (
        (shared, "Biochar"),
        (shared, word),
        (other, "water"),
        (own, word),
        (merged, word),
    ):
        MentionFactory(entity=entity, chunk=passage, surface=surface, start=passage.body.index(surface))
    if name == LicenseClass.RESTRICTED:
        # To whom this passage is closed, its name is what the others call it.
        MentionFactory(entity=other, chunk=passage, surface="H2O")
    DescriptionFactory(entity=shared, chunk=passage, quote=passage.body)
    for target in (other, own):
        RelationshipFactory(source=shared, target=target, chunk=passage, type="contains", quote=passage.body)
    world.entities |= {"": shared, name: own}
    world.tombstones[name] = merged


def _original(word: str) -> str:
    """Put a page that can be drawn where a document's original belongs; return its hash."""
    drawn = BytesIO()
    canvas = Canvas(drawn, pagesize=(200, 100), invariant=1)
    canvas.drawString(20, 80, word)
    canvas.save()
    sha256 = hashlib.sha256(drawn.getvalue()).hexdigest()
    path = storage.path_of(sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawn.getvalue())
    return sha256


def _run(world: World) -> None:
    """A run that took every document in, and failed at a file that each word could be in."""
    run = IngestionRun.objects.create(
        origin="upload", state="finished", finished_at=timezone.now(), parameters={"process": None}
    )
    for name, document in world.documents.items():
        word = canary(name)
        IngestionItem.objects.create(
            run=run, path=f"{word}.pdf", outcome="ready", detail=f"About {word}.", document=document
        )
    IngestionItem.objects.create(
        run=run, path=f"{canary(LicenseClass.UNKNOWN)}.docx", outcome="failed", reason="damaged", detail="No."
    )
    world.runs.append(run)
    world.extractions.append(
        ExtractionRun.objects.create(
            extractor="rules@0", state="finished", finished_at=timezone.now(), passages=len(READABLE)
        )
    )


def _answer(world: World, name: str) -> None:
    """An answer from better days: its asker once saw everything that it cites."""
    words = " ".join(f"Biochar holds water, says {canary(case)}." for case in READABLE)
    conversation = Conversation.objects.create(asked_by=world.people[name])
    answer = Answer.objects.create(
        asked_by=world.people[name],
        conversation=conversation,
        question=f"What does biochar hold, asks {name}?",
        text=f"{words} [1]",
        state="done",
        finish="stop",
        scope_digest="0" * 64,
        profile="interactive",
        engine="model",
        model="some-model",
    )
    for number, case in enumerate(READABLE, start=1):
        document, passage = world.documents[case], world.passages[case]
        AnswerSource.objects.create(
            answer=answer,
            number=number,
            chunk=passage,
            document=document,
            is_cited=True,
            title=document.title,
            citation=f"Cited as {canary(case)}",
            doi=document.doi,
            section_path=passage.section_path,
            locator=passage.locator,
            license_class=document.license_class,
            bucket=document.bucket,
            content_sha256=passage.content_sha256,
            score=1.0,
        )
    # Every work has been retracted since, and its asker was told of each.
    for document in world.documents.values():
        Notice.objects.create(
            recipient=world.people[name], answer=answer, source=document.source, kind=Notice.Kind.RETRACTED
        )
    world.answers[name] = answer
    _feedback(world, answer, name)
    _note(world, answer, name)


def _note(world: World, answer: Answer, name: str) -> None:
    """What its asker keeps of the answer, linked to all that it cites, and shares with everyone."""
    for is_shared in (False, True):
        note = Observation.objects.create(
            owner=world.people[name],
            answer=answer,
            title=f"{name} kept a {'shared' if is_shared else 'private'} note",
            text="Biochar holds water.",
            is_shared=is_shared,
            last_number=len(CASES),
        )
        for number, document in enumerate(world.documents.values(), start=1):
            ObservationSource.objects.create(
                observation=note,
                number=number,
                source=document.source,
                document=document,
                relationship=ObservationSource.Relationship.RETRIEVED,
            )
            Notice.objects.create(
                recipient=world.people[name], observation=note, source=document.source, kind="retracted"
            )
        world.notes[(name, is_shared)] = note
    # They deleted another one like it a moment ago.
    gone = DeletedNote.objects.create(pk=uuid.uuid4(), owner=world.people[name], note=as_kept(note))
    world.deleted_notes[name] = gone.pk


def _feedback(world: World, answer: Answer, name: str) -> None:
    """What was said about the answer, with quotations of everything it cites."""
    report = WrongReport.objects.create(
        answer=answer,
        answer_ref=answer.pk,
        question=answer.question,
        searched_question=answer.question,
        engine=answer.engine,
        answer_sha256="0" * 64,
        comment=answer.text,
        reported_by=world.people[name],
    )
    for source in answer.sources.select_related("chunk"):
        WrongReportSource.objects.create(
            report=report,
            number=source.number,
            document_id=source.document_id,
            content_sha256=source.content_sha256,
            quote=source.chunk.body,
            locator=source.locator,
            license_class=source.license_class,
            bucket=source.bucket,
        )
    AcquisitionRequest.objects.create(answer=answer, question=answer.question, asked_by=world.people[name])
