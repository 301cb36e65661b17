"""Conversations: the questions somebody asked one after the other, each with its own scope and evidence."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

LONGEST_TITLE = 200


class Conversation(models.Model):
    """What one person asked in a row. It has no rights: each of its answers is checked by itself."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations"
    )
    title = models.CharField(
        max_length=LONGEST_TITLE, blank=True, default="", help_text="Empty until its owner names it"
    )
    started_at = models.DateTimeField(db_default=Now(), editable=False)
    last_asked_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["asked_by", "-last_asked_at", "id"], name="answers_conversations_by_asker")
        ]

    def __str__(self) -> str:
        return self.title or str(self.id)
