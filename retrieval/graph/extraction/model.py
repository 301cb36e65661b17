"""The extractor that asks a language model, or a file of what one has replied before."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from corpus import carrying
from corpus.connections import release
from corpus.gateways.llm import ChatModel, ModelError, complete
from corpus.normalise import one_line
from corpus.prompt_files import PromptFile, quoted
from corpus.usage.purposes import Purpose
from retrieval.graph.extraction import replies
from retrieval.graph.extraction.replay import Replay
from retrieval.graph.extraction.types import Batch, BatchFailed, Suggestions
from retrieval.graph.ontology import Ontology

# Counts up with every change of how replies are read, so that passages are read again.
VERSION: Final = 1

_SECONDS = 180.0
_LONGEST_PASSAGE = 12_000
# Half of the passages make half of the reply.
_BROKEN_BY_LENGTH = frozenset({"cut_off"})


class ModelExtractor:
    """Reads passages through a model. Its name does not hold the model's: another one reads nothing twice."""

    batch_limits = (4, 12_000)

    def __init__(
        self, ontology: Ontology, prompt: PromptFile, *, model: ChatModel | None, replay: Replay | None = None
    ) -> None:
        self._ontology = ontology
        self._prompt = prompt
        self._model = model
        self._replay = replay
        self._basis = f"{VERSION}\n{prompt.sha256}\n{ontology.digest()}"
        self.name = f"model@{hashlib.sha256(self._basis.encode()).hexdigest()[:12]}"

    def read(self, batch: Batch) -> Suggestions:
        """Return what the model makes of the passages; raise `BatchFailed`."""
        address = self._address(batch)
        reply = None if self._replay is None else self._replay.get(address)
        if reply is None:
            reply = self._ask(batch)
            if self._replay is not None:
                self._replay.put(address, reply)
        return replies.read(reply)

    def prompt_of(self, batch: Batch) -> tuple[str, str] | None:
        """Return what the model would be asked about the passages; None where nobody would ask it."""
        if self._model is None or (self._replay is not None and self._replay.get(self._address(batch))):
            return None
        return self._prompt.fill(self._values(batch))

    @property
    def model_name(self) -> str:
        """Whom it asks; empty where nobody is asked."""
        return "" if self._model is None else self._model.name

    def _address(self, batch: Batch) -> str:
        """Return the hash of all that the question depends on, but for the model."""
        texts = "\0".join(passage.text for passage in batch.passages)
        return hashlib.sha256(f"{self._basis}\n{texts}".encode()).hexdigest()

    def _ask(self, batch: Batch) -> str:
        if self._model is None:
            raise BatchFailed("not_in_replay")
        system, user = self._prompt.fill(self._values(batch))
        carries = carrying.of_documents([batch.document])
        release()
        try:
            reply, _ = complete(
                self._model,
                system=system,
                user=user,
                purpose=Purpose.EXTRACTION,
                carries=carries,
                timeout=_SECONDS,
            )
        except ModelError as error:
            raise BatchFailed(error.code, may_be_smaller=error.code in _BROKEN_BY_LENGTH) from None
        return reply

    def _values(self, batch: Batch) -> dict[str, str]:
        nonce = secrets.token_hex(16)
        fenced = [
            f"<passage-{nonce} number={number}>\n{quoted(passage.text, longest=_LONGEST_PASSAGE)}\n"
            f"</passage-{nonce}>"
            for number, passage in enumerate(batch.passages, start=1)
        ]
        return {
            "nonce": nonce,
            "count": str(len(fenced)),
            "passages": "\n\n".join(fenced),
            "entity_types": _listed(
                {name: each.description for name, each in self._ontology.entity_types.items()}
            ),
            "relation_types": _listed(
                {name: each.description for name, each in self._ontology.relation_types.items()}
            ),
        }


def _listed(types: dict[str, str]) -> str:
    return "\n".join(f"- {name}: {one_line(description)}" for name, description in types.items())
