"""Counting tokens as the loopback provider does: with another tokenizer than estimates are made with."""

from corpus.gateways.litellm_library import litellm


def provider_tokens(text: str) -> int:
    """Return how many tokens the provider charges for `text`."""
    return int(litellm().token_counter(model="gpt-5", text=text)) if text else 0
