"""A corpus in which every document carries a word of its own, in every place a page could show."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO

from django.contrib.auth.models import Group, User
from django.utils import timezone
from reportlab.pdfgen.canvas import Canvas

from answers.models import Answer, AnswerSource
from answers.notices import Notice
from corpus import storage
from corpus.curation import ReviewItem
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
from tests.factories.corpus import ChunkFactory, DocumentFactory, EditorialEventFactory, SourceFactory

OPEN = (LicenseClass.PUBLIC, LicenseClass.OPEN_COMMERCIAL, LicenseClass.OPEN_NONCOMMERCIAL)
# Who may see the documents of which classes.
CEILINGS: dict[str, tuple[LicenseClass, ...]] = {
    "anonymous": (),
    "without_role": (),
    "narrow": (LicenseClass.PUBLIC,),
    "asker": OPEN,
    "curator": (LicenseClass.PUBLIC,),
    "librarian": ALL_CLASSES,
}


def canary(license_class: LicenseClass) -> str:
    """Return the word that stands in the documents of a class and nowhere else."""
    return f"canary{license_class.value.replace('_', '')}zq"


@dataclass
class World:
    """What there is, by class and by owner."""

    documents: dict[LicenseClass, Document] = field(default_factory=dict)
    passages: dict[LicenseClass, Chunk] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    people: dict[str, User | None] = field(default_factory=dict)
    runs: list[IngestionRun] = field(default_factory=list)

    def hidden_words(self, actor: str) -> list[str]:
        """Return the words `actor` must never meet."""
        return [canary(item) for item in ALL_CLASSES if item not in CEILINGS[actor]]


def build() -> World:
    """Make the people, a document of every class, and an answer of each asker that cites them all."""
    world = World()
    _people(world)
    for license_class in ALL_CLASSES:
        _document(world, license_class)
    _run(world)
    for name in ("narrow", "asker", "librarian"):
        _answer(world, name)
    return world


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
    for name in ("narrow", "asker", "curator", "librarian"):
        person = User.objects.create_user(name)
        person.groups.add(Group.objects.get(name=name))
        world.people[name] = person


def _document(world: World, license_class: LicenseClass) -> None:
    word = canary(license_class)
    source = SourceFactory(
        title=f"Work {word}", identifier_value=f"10.9999/{word}.work", is_corrected=True, container=word
    )
    EditorialEventFactory(source=source, kind="correction", note=word, notice_doi=f"10.9999/{word}.notice")
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
        license_class=license_class.value,
        license_source=word,
        rights_statement=word,
        version_label=word,
        source=source,
        year=2020,
    )
    passage = ChunkFactory(
        document=document,
        ordinal=0,
        body=f"Biochar holds water, says {word}.",
        section_path=[f"Heading {word}"],
        locator=f"Section {word}",
        page_start=1,
        page_end=1,
        boxes=[[1, 0.1, 0.1, 0.9, 0.2]],
    )
    _original(document, word)
    DocumentCitation.objects.create(
        citing=document, ordinal=0, text=word, doi_normalised=f"10.9999/{word}.ref"
    )
    RightsDecision.objects.create(
        document=document,
        document_title=document.title,
        from_class="unknown",
        to_class=license_class.value,
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
    world.documents[license_class] = document
    world.passages[license_class] = passage


def _original(document: Document, word: str) -> None:
    """Put a page that can be drawn where the document's original belongs."""
    drawn = BytesIO()
    canvas = Canvas(drawn, pagesize=(200, 100), invariant=1)
    canvas.drawString(20, 80, word)
    canvas.save()
    path = storage.path_of(document.file_sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawn.getvalue())


def _run(world: World) -> None:
    """A run that took every document in, and failed at a file that each word could be in."""
    run = IngestionRun.objects.create(
        origin="upload", state="finished", finished_at=timezone.now(), parameters={"process": None}
    )
    for license_class, document in world.documents.items():
        word = canary(license_class)
        IngestionItem.objects.create(
            run=run, path=f"{word}.pdf", outcome="ready", detail=f"About {word}.", document=document
        )
    IngestionItem.objects.create(
        run=run, path=f"{canary(LicenseClass.UNKNOWN)}.docx", outcome="failed", reason="damaged", detail="No."
    )
    world.runs.append(run)


def _answer(world: World, name: str) -> None:
    """An answer from better days: its asker once saw everything that it cites."""
    words = " ".join(f"Biochar holds water, says {canary(item)}." for item in ALL_CLASSES)
    answer = Answer.objects.create(
        asked_by=world.people[name],
        question=f"What does biochar hold, asks {name}?",
        text=f"{words} [1]",
        state="done",
        finish="stop",
        scope_digest="0" * 64,
        profile="interactive",
        engine="model",
        model="some-model",
    )
    for number, license_class in enumerate(ALL_CLASSES, start=1):
        document, passage = world.documents[license_class], world.passages[license_class]
        AnswerSource.objects.create(
            answer=answer,
            number=number,
            chunk=passage,
            document=document,
            is_cited=True,
            title=document.title,
            citation=f"Cited as {canary(license_class)}",
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
