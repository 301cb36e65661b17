import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0021_librarians_decide_access_requests"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Certificate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("role", models.CharField(max_length=150)),
                ("license_classes", models.JSONField(default=list)),
                ("buckets", models.JSONField(help_text="Null for all buckets", null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waits for the worker"),
                            ("running", "At it"),
                            ("passed", "Passed"),
                            ("failed", "Failed"),
                            ("ended", "Could not be carried out"),
                        ],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("reason", models.CharField(blank=True, default="", max_length=200)),
                ("surfaces", models.JSONField(default=list)),
                ("done", models.PositiveIntegerField(default=0, help_text="Surfaces asked so far")),
                (
                    "canaries",
                    models.PositiveIntegerField(default=0, help_text="Documents whose words were looked for"),
                ),
                (
                    "hidden",
                    models.PositiveIntegerField(default=0, help_text="Documents the role may not see"),
                ),
                (
                    "fingerprint",
                    models.CharField(
                        blank=True, default="", help_text="Of what the role sees", max_length=64
                    ),
                ),
                ("asked_by_name", models.CharField(blank=True, default="", editable=False, max_length=150)),
                (
                    "asked_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("started_at", models.DateTimeField(editable=False, null=True)),
                ("finished_at", models.DateTimeField(editable=False, null=True)),
                (
                    "asked_by",
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("finished_at__isnull", True),
                            models.Q(("state__in", ["waiting", "running"]), _negated=True),
                            _connector="OR",
                        ),
                        name="corpus_certificate_finished_has_an_outcome",
                    )
                ],
            },
        ),
    ]
