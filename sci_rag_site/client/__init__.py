"""A client of the API for other programs: `from sci_rag_site.client import Client`. Knows nothing of Django.

with Client("https://papers.example.org", key) as corpus:
    found = corpus.query("What raises the methane yield of straw?")
    with corpus.stream("How hot do digesters run?") as answer:
        for event in answer:
            print(event.text, end="")
"""

from answers.api.shapes import AnswerTold, Note, NotePage
from corpus.api.shapes import (
    CorpusManifest,
    DocumentPage,
    DocumentWhole,
    Health,
    Ingested,
    Passage,
    Run,
    Status,
    WorkPage,
)
from retrieval.api.shapes import EntityPage, Search
from sci_rag_site.client.asking import Scope
from sci_rag_site.client.calls import Client
from sci_rag_site.client.problems import (
    ApiError,
    BadAnswer,
    ClientError,
    ConnectionFailed,
    GenerationFailed,
    InsufficientScope,
    InvalidKey,
    InvalidRequest,
    ModelUnavailable,
    NotFound,
    RateLimited,
    ServerError,
    StreamBroken,
    TimedOut,
)
from sci_rag_site.client.streaming import AnswerStream, Event

__all__ = [
    "AnswerStream",
    "AnswerTold",
    "ApiError",
    "BadAnswer",
    "Client",
    "ClientError",
    "ConnectionFailed",
    "CorpusManifest",
    "DocumentPage",
    "DocumentWhole",
    "EntityPage",
    "Event",
    "GenerationFailed",
    "Health",
    "Ingested",
    "InsufficientScope",
    "InvalidKey",
    "InvalidRequest",
    "ModelUnavailable",
    "NotFound",
    "Note",
    "NotePage",
    "Passage",
    "RateLimited",
    "Run",
    "Scope",
    "Search",
    "ServerError",
    "Status",
    "StreamBroken",
    "TimedOut",
    "WorkPage",
]
