"""What the site is configured to be, as digests: when it is another than on record, that is recorded."""

from __future__ import annotations

import hashlib
import json

from django.conf import settings
from django.db import transaction

from corpus.audit.models import AuditEvent
from corpus.audit.recording import Kind, record
from corpus.domain_profile import active_profile
from corpus.egress import active_policy

# Whatever decides who sees what and what leaves. No secret is among them, whole or as a hash.
SETTINGS = (
    "DEBUG", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "HTTPS",
    "SCI_RAG_OIDC_ISSUER", "SCI_RAG_OIDC_CLIENT_ID", "SCI_RAG_OIDC_SCOPES", "SCI_RAG_OIDC_GROUPS_CLAIM",
    "SCI_RAG_OIDC_HOSTS", "SCI_RAG_OIDC_CHECK_SECONDS",
    "SCI_RAG_EMBEDDING_MODEL", "SCI_RAG_EMBEDDING_DIMENSIONS", "SCI_RAG_EMBEDDING_API_BASE",
    "SCI_RAG_LLM_MODEL", "SCI_RAG_FAST_MODEL", "SCI_RAG_JUDGE_MODEL", "SCI_RAG_LLM_API_BASE",
    "SCI_RAG_OUTBOUND_HOSTS", "SCI_RAG_CROSSREF_URL", "SCI_RAG_OPENALEX_URL", "SCI_RAG_UNPAYWALL_URL",
    "SCI_RAG_MAX_UPLOAD_MB", "SCI_RAG_UPLOAD_MB_PER_DAY", "SCI_RAG_MAX_TOKENS_PER_RUN",
)  # fmt: skip


def digests() -> dict[str, str]:
    """Return a short digest of each part. Raises `InvalidProfile` or `OSError` for an unreadable file."""
    chosen = {name: getattr(settings, name) for name in SETTINGS}
    return {
        "domain profile": active_profile().digest()[:16],
        "what may leave": _digest(active_policy().model_dump_json()),
        "settings": _digest(json.dumps(chosen, sort_keys=True, default=str)),
    }


@transaction.atomic
def note() -> list[str]:
    """Record the configuration if it is another than the last on record; return which parts are."""
    now = digests()
    last = AuditEvent.objects.filter(kind=Kind.CONFIGURED).order_by("-pk").first()
    before = {} if last is None else last.about.get("digests", {})
    changed = sorted(name for name, digest in now.items() if before.get(name) != digest)
    if changed:
        about = {"changed": changed, "digests": now}
        record(Kind.CONFIGURED, by=None, about=about, once=_digest(json.dumps(now, sort_keys=True)))
    return changed


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
