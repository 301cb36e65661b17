import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0019_upload_charges"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AccessRequest",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("wanted", models.CharField(help_text="DOI, title or id, as typed", max_length=300)),
                (
                    "wanted_key",
                    models.CharField(editable=False, help_text="Tells a repetition", max_length=300),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=1000)),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("granted", "Granted"), ("declined", "Declined")],
                        default="open",
                        max_length=8,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("decided_at", models.DateTimeField(editable=False, null=True)),
                ("decided_by_name", models.CharField(blank=True, default="", editable=False, max_length=150)),
                (
                    "note",
                    models.CharField(blank=True, default="", help_text="For who asked", max_length=1000),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="access_requests",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_constraint=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["asked_by", "-created_at"], name="corpus_accessrequest_of_asker")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "open")),
                        fields=("asked_by", "wanted_key"),
                        name="corpus_accessrequest_once_while_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state", "open")),
                            models.Q(
                                models.Q(("state", "open"), _negated=True), ("decided_at__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="corpus_accessrequest_decided_when_not_open",
                    ),
                ],
            },
        ),
    ]
