"""What people have sent lately: the record that the daily quota of uploads is counted from."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class UploadCharge(models.Model):
    """One request with files, by how many bytes it announced. Forgotten when it no longer counts."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    size = models.PositiveBigIntegerField(help_text="Bytes of the request")
    charged_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["user", "charged_at"], name="corpus_charge_by_user")]

    def __str__(self) -> str:
        return f"{self.size} bytes of {self.user_id}"
