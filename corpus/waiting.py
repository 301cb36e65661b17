"""What waits for a person: the counts of the admin's front page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from corpus import ceilings, review_queue
from corpus.access_requests import AccessRequest
from corpus.curation import ReviewItem
from corpus.enrichment.records import SourceCheck
from corpus.models import Document, IngestionItem, Source
from corpus.rights import LicenseClass
from corpus.webhooks import actions as webhooks
from corpus.webhooks.models import Webhook

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django_stubs_ext import StrOrPromise

Tone = Literal["danger", "caution"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """One kind of thing that waits, how many there are, and where to deal with them."""

    label: StrOrPromise
    hint: StrOrPromise
    count: int
    url: str
    tone: Tone


def waiting(user: User | AnonymousUser) -> list[Waiting]:
    """Return what waits for `user`, counting only what their ceiling covers and they may look at."""
    items: list[Waiting] = []
    if user.has_perm("corpus.view_document"):
        items += _documents(user)
        items.append(_changed(user))
    if user.has_perm("corpus.view_reviewitem"):
        if user.has_perm("corpus.change_license"):
            items.append(_queue(user))
        items.append(_suggestions(user))
    if user.has_perm("corpus.view_accessrequest"):
        items.append(_access_requests())
    if user.has_perm("corpus.view_ingestionitem"):
        items.append(_files(user))
    if user.has_perm("corpus.view_source"):
        items += _sources(user)
    if user.has_perm("corpus.view_webhook"):
        items.append(_webhooks(user))
    if user.has_perm("auth.view_user"):
        items.append(_accounts())
    return items


def _documents(user: User | AnonymousUser) -> Iterator[Waiting]:
    documents = Document.objects.under(ceilings.of(user))
    yield Waiting(
        _("Licences nobody has established"),
        _("Askers do not see these documents until somebody says what their rights are."),
        documents.filter(license_class=LicenseClass.UNKNOWN).count(),
        _link("corpus_document", license_class__exact=LicenseClass.UNKNOWN),
        "danger",
    )
    yield Waiting(
        _("Documents without readable text"),
        _("Scans that need text recognition before they can be searched."),
        documents.filter(state=Document.State.NEEDS_OCR).count(),
        _link("corpus_document", state__exact=Document.State.NEEDS_OCR),
        "caution",
    )
    yield Waiting(
        _("Documents held back"),
        _("They speak to machines. Nobody else sees them until somebody has read what they say."),
        documents.filter(state=Document.State.QUARANTINED).count(),
        _link("corpus_document", state__exact=Document.State.QUARANTINED),
        "caution",
    )
    yield Waiting(
        _("Titles that say “retracted” without an assertion"),
        _("A title is a hint, not a finding: look the work up and record what you find."),
        documents.filter(pk__in=claimed_retractions().values("pk")).count(),
        _link("corpus_document", standing="claimed"),
        "danger",
    )
    yield Waiting(
        _("Documents of retracted works"),
        _("Left out of answers unless somebody asks for them. Check that each is right."),
        documents.filter(source__is_retracted=True).count(),
        _link("corpus_document", standing="retracted"),
        "caution",
    )


def _changed(user: User | AnonymousUser) -> Waiting:
    documents = Document.objects.under(ceilings.of(user))
    return Waiting(
        _("Documents changed since they were taken in"),
        _("The kept file or a passage is not what it was. Compare with a backup before anything else."),
        documents.exclude(fixity=Document.Fixity.UNCHANGED).count(),
        _link("corpus_document", standing="changed"),
        "danger",
    )


def _queue(user: User | AnonymousUser) -> Waiting:
    return Waiting(
        _("Rights to decide on"),
        _("Documents with a suggested class, with unknown rights, or whose embargo has ended."),
        review_queue.waiting(user).count(),
        reverse("admin:corpus_reviewitem_queue"),
        "danger",
    )


def _suggestions(user: User | AnonymousUser) -> Waiting:
    covered = Document.objects.under(ceilings.of(user)).order_by().values("id")
    about = Q(other__isnull=True) | Q(other__in=covered)
    return Waiting(
        _("Suggestions to decide on"),
        _("Licences that allow more than is held, newer versions of the same work, claims of retraction."),
        ReviewItem.objects.filter(about, document__in=covered, state=ReviewItem.State.OPEN).count(),
        _link("corpus_reviewitem", state__exact=ReviewItem.State.OPEN),
        "caution",
    )


def _access_requests() -> Waiting:
    return Waiting(
        _("Requests for access"),
        _("Somebody looks for what they may not see, or what is not held. They wait for an answer."),
        AccessRequest.objects.filter(state=AccessRequest.State.OPEN).count(),
        _link("corpus_accessrequest", state__exact=AccessRequest.State.OPEN),
        "caution",
    )


def _files(user: User | AnonymousUser) -> Waiting:
    visible = unresolved_failures()
    if not ceilings.of(user).covers_what_is_gone:
        visible = visible.none()
    return Waiting(
        _("Files that could not be taken in"),
        _("Each says why. Files that succeeded in a later run are not counted."),
        visible.count(),
        _link("corpus_ingestionitem", unresolved="yes"),
        "danger",
    )


def _sources(user: User | AnonymousUser) -> Iterator[Waiting]:
    held = Document.objects.under(ceilings.of(user)).filter(source=OuterRef("pk"))
    yield Waiting(
        _("Works never checked for retraction"),
        _("They have a DOI, and no index has answered about it yet."),
        never_checked().filter(Exists(held)).count(),
        _link("corpus_source", checked="never"),
        "caution",
    )
    yield Waiting(
        _("Works whose last check failed"),
        _("Nothing is known about them since the last good check. It is tried again by itself."),
        failed_checks().filter(Exists(held)).count(),
        _link("corpus_source", checked="failed"),
        "caution",
    )


def _webhooks(user: User | AnonymousUser) -> Waiting:
    switched_off = Webhook.objects.filter(is_active=False)
    if not user.has_perm(webhooks.OVERSEE):
        switched_off = switched_off.filter(owner=user.pk)
    return Waiting(
        _("Webhooks that are disabled"),
        _("Nothing is sent to them. Each says why: enable it, or remove it."),
        switched_off.count(),
        _link("corpus_webhook", is_active__exact="0"),
        "caution",
    )


def _accounts() -> Waiting:
    return Waiting(
        _("Accounts without a role"),
        _("They can sign in and see nothing. Give them a role or close them."),
        User.objects.filter(is_active=True, is_superuser=False, groups__isnull=True).count(),
        _link("auth_user", groups__isnull="True", is_active__exact="1", is_superuser__exact="0"),
        "caution",
    )


def claimed_retractions() -> QuerySet[Document]:
    """Return documents whose title claims a retraction that no event asserts."""
    claiming = Document.objects.filter(title__istartswith="retracted:")
    return claiming.exclude(source__is_retracted=True)


def unresolved_failures() -> QuerySet[IngestionItem]:
    """Return files that failed and have not been taken in by a later run."""
    outcome = IngestionItem.Outcome
    later = IngestionItem.objects.filter(
        path=OuterRef("path"), pk__gt=OuterRef("pk"), outcome__in=[outcome.READY, outcome.DUPLICATE]
    )
    return IngestionItem.objects.filter(~Exists(later), outcome=outcome.FAILED)


def never_checked() -> QuerySet[Source]:
    """Return works with a DOI about which no index has ever given an answer."""
    checked = SourceCheck.objects.filter(source=OuterRef("pk"), last_good_at__isnull=False)
    held = Document.objects.filter(source=OuterRef("pk"))
    return Source.objects.filter(Exists(held), ~Exists(checked), identifier_type=Source.IdentifierType.DOI)


def failed_checks() -> QuerySet[Source]:
    """Return works of which the last check failed: nothing is known about them since the last good one."""
    failed = SourceCheck.objects.filter(source=OuterRef("pk"), outcome=SourceCheck.Outcome.FAILED)
    held = Document.objects.filter(source=OuterRef("pk"))
    return Source.objects.filter(Exists(held), Exists(failed))


def _link(screen: str, **filters: str) -> str:
    return f"{reverse(f'admin:{screen}_changelist')}?{urlencode(filters)}"
