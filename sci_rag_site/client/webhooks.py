"""For receivers of webhooks: whether a message is the site's, and new."""

from corpus.webhooks.signing import HEADER, WINDOW_SECONDS, BadSignature, verify

__all__ = ["HEADER", "WINDOW_SECONDS", "BadSignature", "verify"]
