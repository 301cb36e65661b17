"""Where texts of strangers are shown: rows that carry them, and the pages on which they appear."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from html.parser import HTMLParser

from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from answers.conversations import Conversation
from answers.models import Answer, AnswerSource
from answers.notebook.models import Observation
from corpus.campaigns.models import Campaign, CampaignSearch, Candidate
from corpus.models import Chunk, Document, EditorialEvent, IngestionItem, IngestionRun, Source
from evaluation.models import Question
from retrieval.models import Entity, Mention
from tests.factories.corpus import ChunkFactory, DocumentFactory, SourceFactory
from tests.factories.evaluation import QuestionFactory, QuestionSetFactory
from tests.factories.graph import EntityFactory, MentionFactory

NAMES = (
    "title", "author", "passage text", "table cell", "record", "file name", "answer text", "history",
    "admin list", "admin delete confirmation", "messages", "graph entity", "evaluation question", "note",
    "campaign candidate",
)  # fmt: skip

_numbers = itertools.count()


@dataclass
class Sinks:
    """The addresses of each place, and who may look at them all."""

    person: User
    pages: dict[str, list[str]] = field(default_factory=dict)
    groups: list[Group] = field(default_factory=list)


def furnish(texts: Sequence[str]) -> Sinks:
    """Make a row in every place for each of `texts`."""
    sinks = Sinks(_person())
    documents = _documents(texts)
    _passages(sinks, texts)
    _records(sinks, documents)
    _answers(sinks, texts, documents)
    _graph(sinks, texts)
    _others(sinks, texts)
    sinks.groups = Group.objects.bulk_create(Group(name=text[:150]) for text in texts)
    sinks.pages["admin delete confirmation"] = [
        reverse("admin:auth_group_delete", args=[group.pk]) for group in sinks.groups
    ]
    listing = reverse("documents")
    sinks.pages["title"] = sinks.pages["author"] = list(_numbered(listing, len(texts), 25))
    sinks.pages["admin list"] = [
        f"{reverse(f'admin:{name}_changelist')}?p={page}"
        for name in ("corpus_document", "corpus_source", "corpus_editorialevent", "corpus_ingestionitem")
        for page in range(1, len(texts) // 50 + 2)
    ] + [reverse("admin:auth_group_changelist")]
    return sinks


def leave_messages(sinks: Sinks, client: Client) -> None:
    """Delete every group in the admin, which says so of each on the next page."""
    for group in sinks.groups:
        client.post(reverse("admin:auth_group_delete", args=[group.pk]), {"post": "yes"})
    sinks.pages["messages"] = [reverse("admin:auth_group_changelist")]


def _numbered(address: str, rows: int, per_page: int) -> Iterator[str]:
    for page in range(1, -(-rows // per_page) + 1):
        yield f"{address}?page={page}"


def _person() -> User:
    person = User.objects.create_user(f"visitor-{next(_numbers)}", is_staff=True)
    person.groups.set(Group.objects.filter(name__in=["librarian", "administrator", "expert"]))
    return person


def _documents(texts: Sequence[str]) -> list[Document]:
    sources = Source.objects.bulk_create(
        SourceFactory.build(title=text, container=text, publisher=text, authors=[text], is_corrected=True)
        for text in texts
    )
    EditorialEvent.objects.bulk_create(
        EditorialEvent(
            source=source, kind="correction", origin="manual", note=text, happened_on=date(2020, 1, 1)
        )
        for source, text in zip(sources, texts, strict=True)
    )
    return Document.objects.bulk_create(
        DocumentFactory.build(
            title=text,
            authors=[text],
            journal=text,
            file_name=text,
            bucket=text[:100],
            version_label=text[:100],
            license_source=text,
            rights_statement=text,
            parser=text[:60],
            source=source,
        )
        for source, text in zip(sources, texts, strict=True)
    )


def _passages(sinks: Sinks, texts: Sequence[str]) -> None:
    for name, is_table in (("passage text", False), ("table cell", True)):
        document = DocumentFactory(chunk_count=len(texts))
        passages = [
            ChunkFactory.build(
                document=document,
                ordinal=number,
                body=_table(text) if is_table else text,
                section_path=[text],
                locator=text[:200],
                is_table=is_table,
            )
            for number, text in enumerate(texts)
        ]
        made = Chunk.objects.bulk_create(passages)
        sinks.pages[name] = [
            reverse("document", args=[document.pk]),
            *(reverse("passage", args=[passage.public_id]) for passage in made[:: max(1, len(made) // 10)]),
        ]


def _table(text: str) -> str:
    cell = text.replace("|", "\\|").replace("\n", " ")
    return f"Table 1. {cell}\n\n| {cell} | Ash |\n| --- | --- |\n| {cell} | {cell} |"


def _records(sinks: Sinks, documents: Sequence[Document]) -> None:
    sinks.pages["record"] = [reverse("document", args=[document.pk]) for document in documents]
    run = IngestionRun.objects.create(origin="upload", state="finished", finished_at=timezone.now())
    IngestionItem.objects.bulk_create(
        IngestionItem(run=run, path=document.title, outcome="failed", reason="damaged", detail=document.title)
        for document in documents
    )
    sinks.pages["file name"] = list(_numbered(reverse("run", args=[run.pk]), len(documents), 100))


def _answers(sinks: Sinks, texts: Sequence[str], documents: Sequence[Document]) -> None:
    """An answer of each text, with a source that it names, in a conversation of its own and all in one."""
    talks = Conversation.objects.bulk_create(
        Conversation(asked_by=sinks.person, title=text[:100]) for text in texts
    )
    passage = ChunkFactory(document=documents[0])
    together = Conversation.objects.create(asked_by=sinks.person)
    for each in (talks, [together] * len(texts)):
        answers = Answer.objects.bulk_create(
            Answer(
                asked_by=sinks.person,
                conversation=talk,
                question=text,
                text=f"{text}\n\nStraw [1].",
                state="done",
                finish="stop",
                scope_digest="0" * 64,
                profile="interactive",
                engine="model",
                model=text[:100],
            )
            for talk, text in zip(each, texts, strict=True)
        )
        AnswerSource.objects.bulk_create(
            AnswerSource(
                answer=answer,
                number=1,
                chunk=passage,
                document=documents[0],
                is_cited=True,
                title=text,
                citation=text,
                section_path=[text],
                locator=text[:200],
                license_class="open_commercial",
                bucket="local",
                content_sha256=passage.content_sha256,
                score=1.0,
            )
            for answer, text in zip(answers, texts, strict=True)
        )
    sinks.pages["answer text"] = [
        reverse("conversation", args=[together.pk]),
        *(reverse("answer", args=[answer.pk]) for answer in answers),
    ]
    sinks.pages["history"] = list(_numbered(reverse("answers"), len(texts) + 1, 20))


def _graph(sinks: Sinks, texts: Sequence[str]) -> None:
    passage = ChunkFactory(document=DocumentFactory())
    entities = Entity.objects.bulk_create(
        EntityFactory.build(name=f"{text} {next(_numbers)}", type="concept") for text in texts
    )
    Mention.objects.bulk_create(
        MentionFactory.build(entity=entity, chunk=passage, document=passage.document, surface=entity.name)
        for entity in entities
    )
    sinks.pages["graph entity"] = [
        *_numbered(reverse("entities"), len(texts), 60),
        *(reverse("entity", args=[entity.pk]) for entity in entities[:: max(1, len(entities) // 10)]),
    ]


def _others(sinks: Sinks, texts: Sequence[str]) -> None:
    asked = QuestionSetFactory()
    Question.objects.bulk_create(
        QuestionFactory.build(question_set=asked, question=text, reference_answer=text, tags=[text[:60]])
        for text in texts
    )
    sinks.pages["evaluation question"] = [
        *_numbered(reverse("questions", args=[asked.name]), len(texts), 50),
        *(reverse("question", args=[row.pk]) for row in asked.questions.order_by("pk")[:10]),
    ]
    notes = Observation.objects.bulk_create(
        Observation(owner=sinks.person, title=text[:200], text=text, last_number=0) for text in texts
    )
    sinks.pages["note"] = [
        *_numbered(reverse("notes"), len(texts), 20),
        *(reverse("note", args=[note.pk]) for note in notes[:: max(1, len(notes) // 10)]),
    ]
    campaign = Campaign.objects.create(name=f"campaign {next(_numbers)}")
    search = CampaignSearch.objects.create(
        campaign=campaign, number=1, provider="openalex", topic=texts[0][:500], key="0" * 64, most=1000
    )
    Candidate.objects.bulk_create(
        Candidate(
            campaign=campaign,
            search=search,
            number=number,
            key=f"key-{number}",
            title=text,
            authors=[text],
            venue=text,
            abstract=text,
        )
        for number, text in enumerate(texts, start=1)
    )
    works = reverse("campaign_works", args=[campaign.pk])
    sinks.pages["campaign candidate"] = [
        reverse("campaign", args=[campaign.pk]),
        *_numbered(works, len(texts), 50),
    ]


class Shapes(HTMLParser):
    """The elements of a page, each as its tag with the names of its attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.shapes: set[str] = set()
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shapes.add(f"{tag} {' '.join(sorted(name for name, _ in attrs))}".strip())

    def handle_data(self, data: str) -> None:
        self.text.append(data)
