"""The full text of a candidate: where it may be had, under which licence, or why it was refused."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from corpus.rights import LABELS, LicenseClass


class FullText(models.Model):
    """What became of one candidate's full text."""

    class State(models.TextChoices):
        RESOLVED = "resolved", "May be fetched"
        REFUSED = "refused", "Refused"
        FETCHED = "fetched", "Fetched"

    candidate = models.OneToOneField("corpus.Candidate", on_delete=models.CASCADE, related_name="full_text")
    state = models.CharField(max_length=8, choices=State.choices)
    code = models.CharField(max_length=40, blank=True, default="", help_text="Stable name of the refusal")
    # Direct addresses with an explicit licence, the best first: address, licence, version, kind of host.
    places = models.JSONField(default=list)
    # What each address that was tried came to.
    attempts = models.JSONField(default=list)
    url = models.CharField(max_length=2048, blank=True, default="")
    license_source = models.CharField(
        max_length=400, blank=True, default="", help_text="The licence as Unpaywall has it, verbatim"
    )
    license_class = models.CharField(
        max_length=20,
        choices=[(item.value, LABELS[item]) for item in LicenseClass],
        blank=True,
        default="",
        help_text="What that signal is read as; a person decides",
    )
    version = models.CharField(max_length=60, blank=True, default="")
    sha256 = models.CharField(max_length=64, blank=True, default="")
    size = models.PositiveBigIntegerField(null=True)
    item = models.ForeignKey(
        "corpus.IngestionItem", null=True, blank=True, on_delete=models.SET_NULL, related_name="full_texts"
    )
    resolved_at = models.DateTimeField(null=True)
    fetched_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(state="refused") & ~Q(code="")) | (~Q(state="refused") & Q(code="")),
                name="%(app_label)s_%(class)s_a_refusal_has_a_name",
            ),
            models.CheckConstraint(
                condition=~Q(state="fetched") | (~Q(sha256="") & ~Q(license_source="") & ~Q(url="")),
                name="%(app_label)s_%(class)s_fetched_with_licence_and_hash",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate_id}: {self.state}"
