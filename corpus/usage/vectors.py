"""What vectors to be made will come to: nothing where the model is here, requests where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from corpus.gateways import costs
from corpus.gateways.embedding import embedder_of
from corpus.gateways.embedding.hosted import CHARACTERS_PER_REQUEST, TEXTS_PER_REQUEST, HostedEmbedder
from corpus.usage import estimating
from corpus.usage.estimating import Estimate
from corpus.usage.purposes import Purpose


def are_made_elsewhere(version: str) -> bool:
    """Whether somebody else's machine makes the vectors of `version`. Raises `EmbeddingError`."""
    return isinstance(embedder_of(version), HostedEmbedder)


def estimate(
    version: str, *, count: int, sample: Sequence[str], together: int = TEXTS_PER_REQUEST
) -> Estimate:
    """Return what the vectors of `count` texts come to, `sample` being some of them.

    So many are handed over `together`, and go out in as few requests as the provider takes them in. Raises
    `EmbeddingError` for a version that nothing can make.
    """
    embedder = embedder_of(version)
    if not isinstance(embedder, HostedEmbedder) or not count or not sample:
        return Estimate()
    length = sum(map(len, sample)) / len(sample)
    in_one = max(1, min(together, TEXTS_PER_REQUEST, int(CHARACTERS_PER_REQUEST // max(length, 1))))
    tokens = sum(costs.text_tokens(embedder.model, text) for text in sample) / len(sample)
    line = estimating.of_tokens(
        purpose=Purpose.PASSAGE_VECTORS,
        model=embedder.model,
        calls=-(-count // in_one),
        prompt_tokens=round(tokens * count),
        is_embedding=True,
    )
    return Estimate((line,))
