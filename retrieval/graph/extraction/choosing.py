"""The extractor that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from corpus.gateways.llm import chat_model
from corpus.prompt_files import prompt_file
from retrieval.graph.extraction.model import ModelExtractor
from retrieval.graph.extraction.replay import Replay
from retrieval.graph.extraction.rules import RuleExtractor
from retrieval.graph.ontology import Ontology

Kind = Literal["rules", "model"]


class NoModel(ValueError):
    """A model was asked for and none is set."""


def rules(ontology: Ontology) -> RuleExtractor:
    """Return the extractor that needs no model."""
    return RuleExtractor(ontology)


def model(ontology: Ontology) -> ModelExtractor:
    """Return the extractor of the configured model; raise `NoModel`."""
    configured = chat_model()
    if configured is None:
        raise NoModel("No language model is set: set SCI_RAG_LLM_MODEL, or extract with --rules.")
    return ModelExtractor(ontology, prompt_file("extract_graph"), model=configured)


def replayed(ontology: Ontology, path: Path, *, asks_model: bool) -> tuple[ModelExtractor, Replay]:
    """Return an extractor that takes replies from a file, and asks the model for others if it may.

    Raises `NoModel` and `InvalidReplay`.
    """
    configured = chat_model() if asks_model else None
    if asks_model and configured is None:
        raise NoModel("No language model is set: set SCI_RAG_LLM_MODEL, or replay without --model.")
    replay = Replay.open(path, may_be_missing=asks_model)
    return ModelExtractor(ontology, prompt_file("extract_graph"), model=configured, replay=replay), replay
