"""What an asker is told about an answer of theirs after it was written."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from corpus.models import Source


class Notice(models.Model):
    """One message: a work that an answer cites, or that stands behind a note, is not what it was.

    It names the work by key only. Title and number are read through the answer or the note when it is shown,
    under the reader's scope of that day.
    """

    class Kind(models.TextChoices):
        RETRACTED = "retracted", "Retracted"
        CONCERN = "concern", "Expression of concern"
        HELD = "held", "Held back"

    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    answer = models.ForeignKey("answers.Answer", null=True, on_delete=models.CASCADE, related_name="notices")
    observation = models.ForeignKey(
        "answers.Observation", null=True, on_delete=models.CASCADE, related_name="notices"
    )
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    read_at = models.DateTimeField(null=True, editable=False)
    resolved_at = models.DateTimeField(null=True, editable=False, help_text="When it stopped being so")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["answer", "source", "kind"],
                condition=Q(resolved_at__isnull=True),
                name="%(app_label)s_%(class)s_once_while_it_holds",
            ),
            models.UniqueConstraint(
                fields=["observation", "source", "kind"],
                condition=Q(resolved_at__isnull=True),
                name="%(app_label)s_%(class)s_once_while_it_holds_of_a_note",
            ),
            models.CheckConstraint(
                condition=Q(answer__isnull=True, observation__isnull=False)
                | Q(answer__isnull=False, observation__isnull=True),
                name="%(app_label)s_%(class)s_about_an_answer_or_a_note",
            ),
        ]
        indexes = [
            models.Index(fields=["recipient", "-created_at"], name="answers_notice_of_recipient"),
            # The number in the header of every page.
            models.Index(
                fields=["recipient"],
                condition=Q(read_at__isnull=True, resolved_at__isnull=True),
                name="answers_notice_unread",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.answer_id or self.observation_id}"
