import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0006_each_question_has_a_conversation"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("corpus", "0012_source_checks"),
    ]

    operations = [
        migrations.CreateModel(
            name="WrongReport",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("answer_ref", models.UUIDField(help_text="The answer's id, also when it is gone")),
                ("question", models.TextField(help_text="As typed")),
                ("searched_question", models.TextField(help_text="As it was searched")),
                ("effective_scope", models.JSONField(default=dict)),
                ("engine", models.CharField(max_length=40)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("fingerprint", models.CharField(blank=True, default="", max_length=64)),
                (
                    "answer_sha256",
                    models.CharField(help_text="Of the answer's text when it was reported", max_length=64),
                ),
                (
                    "comment",
                    models.TextField(help_text="What is wrong, in the reader's words", max_length=4000),
                ),
                (
                    "reported_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("drawn", "Made into a question"),
                            ("dismissed", "Dismissed"),
                        ],
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
                        related_name="wrong_reports",
                        to="answers.answer",
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
                (
                    "reported_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="WrongReportSource",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("passage_id", models.UUIDField(help_text="Public id of the passage", null=True)),
                ("content_sha256", models.CharField(max_length=64)),
                ("quote", models.TextField(help_text="The passage's text; empty once the document is gone")),
                ("locator", models.CharField(blank=True, default="", max_length=200)),
                (
                    "license_class",
                    models.CharField(
                        choices=[
                            ("public", "Public domain"),
                            ("open_commercial", "Open, commercial use allowed"),
                            ("open_noncommercial", "Open, non-commercial"),
                            ("restricted", "Restricted"),
                            ("unknown", "Unknown"),
                        ],
                        max_length=20,
                    ),
                ),
                ("bucket", models.CharField(max_length=100)),
                (
                    "document",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="corpus.document",
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evidence",
                        to="answers.wrongreport",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="wrongreport",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "open")),
                fields=("answer_ref", "reported_by"),
                name="answers_wrongreport_once_while_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="wrongreport",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at__isnull", True), ("state", "open")),
                    models.Q(models.Q(("state", "open"), _negated=True), ("decided_at__isnull", False)),
                    _connector="OR",
                ),
                name="answers_wrongreport_decided_when_not_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="wrongreportsource",
            constraint=models.UniqueConstraint(
                fields=("report", "number"), name="answers_wrongreportsource_number_is_unique"
            ),
        ),
    ]
