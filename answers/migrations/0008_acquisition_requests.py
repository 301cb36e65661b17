import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0007_wrong_reports"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AcquisitionRequest",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("question", models.TextField(help_text="As typed")),
                ("requested_scope", models.JSONField(default=dict)),
                ("note", models.TextField(blank=True, default="", max_length=4000)),
                (
                    "asked_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("done", "Acquired"), ("declined", "Declined")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(editable=False, null=True)),
                (
                    "answer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="acquisition_requests",
                        to="answers.answer",
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("answer", "asked_by"),
                        name="answers_acquisitionrequest_once_while_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state", "open")),
                            models.Q(
                                models.Q(("state", "open"), _negated=True), ("decided_at__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="answers_acquisitionrequest_decided_when_not_open",
                    ),
                ],
            },
        ),
    ]
