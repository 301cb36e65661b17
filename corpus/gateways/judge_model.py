"""The model that grades answers. It should not be the one that wrote them."""

from __future__ import annotations

from functools import cache

from django.conf import settings

from corpus.gateways.llm import ChatModel, LiteLLMChat


def judge_model() -> ChatModel | None:
    """Return the judge of the settings, else the fast model, else the model; None when none is set.

    Its circuit breaker is its own: a judge that is late must not keep answers from being written.
    """
    name = settings.SCI_RAG_JUDGE_MODEL or settings.SCI_RAG_FAST_MODEL or settings.SCI_RAG_LLM_MODEL
    if not name:
        return None
    return _configured(name, settings.SCI_RAG_LLM_API_BASE, settings.SCI_RAG_LLM_API_KEY)


@cache
def _configured(model: str, api_base: str, api_key: str) -> LiteLLMChat:
    return LiteLLMChat(model=model, api_base=api_base, api_key=api_key, use="judging")
