"""What the worker does by the clock. Each task may run twice or late without harm."""

from __future__ import annotations

from pathlib import Path

import structlog
from celery import shared_task
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from sci_rag_site import file_broker

logger = structlog.get_logger(__name__)


def heartbeat_file() -> Path:
    """Return the file whose age says when the worker last did something it was told to do."""
    return Path(settings.VAR_DIR) / "worker-heartbeat"


@shared_task(name="site.heartbeat")
def heartbeat() -> None:
    """Show that scheduler, broker and worker work together."""
    heartbeat_file().touch()


@shared_task(name="site.close_abandoned_answers")
def close_abandoned_answers() -> None:
    """End answers whose process died while it wrote them."""
    from answers.actions.answers import close_abandoned

    logger.info("answers.closed_abandoned", count=close_abandoned(timezone.now()))


@shared_task(name="site.tell_of_retractions")
def tell_of_retractions() -> None:
    """Tell askers what nobody lived to tell them when it was recorded."""
    from answers.actions.alerts import bring_up_to_date

    bring_up_to_date()


@shared_task(name="site.clear_expired_sessions")
def clear_expired_sessions() -> None:
    """Remove sessions that nobody can use any more, and deleted notes that cannot come back."""
    from answers.notebook.undoing import forget_old

    call_command("clearsessions")
    logger.info("notes.forgotten", notes=forget_old())


@shared_task(name="site.note_configuration")
def note_configuration() -> None:
    """Record the configuration when it is another than the one on record."""
    from corpus.domain_profile import InvalidProfile
    from sci_rag_site import configured

    try:
        changed = configured.note()
    except (InvalidProfile, OSError):
        # The doctor names the file; what stands in it is in force for nobody.
        logger.warning("configuration.unreadable")
    else:
        logger.info("configuration.noted", changed=len(changed))


@shared_task(name="site.say_where_the_chain_ends")
def say_where_the_chain_ends() -> None:
    """Write the head of the audit chain to the log, which is kept elsewhere."""
    from corpus.audit import verifying

    number, sha256 = verifying.head()
    logger.info("audit.head", number=number, sha256=sha256)


@shared_task(name="site.drill_backups", soft_time_limit=2 * 3600, time_limit=2 * 3600 + 120)
def drill_backups() -> None:
    """Try the newest backup that was not tried yet, where the operator has asked for that."""
    from sci_rag_site.backup import drill
    from sci_rag_site.backup.errors import BackupError

    if not settings.SCI_RAG_DRILL_WEEKLY or not drill.due():
        return
    try:
        drill.drill(drill.last_backup(), passphrase_file=drill.passphrase_file(), by="the worker")
    except BackupError as error:
        # Its record says why, and so does the doctor.
        logger.warning("backup.drill_failed", kind=type(error).__name__)


@shared_task(name="site.tidy_sign_ins")
def tidy_sign_ins() -> None:
    """Take back roles that no provider has confirmed for long, and forget what nobody signs in with."""
    from corpus.accounts import attempts, provider
    from corpus.actions import identities

    logger.info(
        "sign_ins.tidied",
        lapsed=identities.lapse(),
        sessions=provider.forget_ended(),
        counts=attempts.forget_old(),
    )


@shared_task(name="site.trim_page_images")
def trim_page_images() -> None:
    """Keep the pictures of pages within their limit on disk."""
    from corpus import page_images

    page_images.trim()


@shared_task(name="site.forget_taken_messages")
def forget_taken_messages() -> None:
    """Remove old messages of the file broker."""
    removed = file_broker.forget_taken(Path(settings.VAR_DIR) / "broker")
    logger.info("broker.forgot_messages", count=removed)


@shared_task(name="site.certify_scopes")
def certify_scopes() -> None:
    """Carry out a check of a role that somebody asked for; one at a time, the next with the next message."""
    from corpus.actions import certificates
    from sci_rag_site import certificate

    for key in certificates.waiting():
        begun = certificates.begin(key=key)
        if begun is not None:
            certificate.certify(begun)
            return
