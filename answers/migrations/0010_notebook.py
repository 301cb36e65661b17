import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0009_librarians_read_what_readers_say"),
        ("corpus", "0023_administrators_certify"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Observation",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("finding", "Finding"),
                            ("question", "Question"),
                            ("decision", "Decision"),
                            ("method", "Method"),
                            ("idea", "Idea"),
                        ],
                        default="finding",
                        max_length=10,
                    ),
                ),
                ("title", models.CharField(blank=True, default="", max_length=200)),
                ("text", models.TextField(max_length=20000)),
                ("is_shared", models.BooleanField(default=False)),
                ("last_number", models.PositiveIntegerField(default=0)),
                (
                    "imported_key",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Hash of owner and row it was imported from",
                        max_length=64,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("changed_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "answer",
                    models.ForeignKey(
                        help_text="The answer it was saved from",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="observations",
                        to="answers.answer",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="observations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ObservationSource",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "relationship",
                    models.CharField(
                        choices=[
                            ("cited", "Cited"),
                            ("retrieved", "Retrieved"),
                            ("inferred", "Inferred from"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "named",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Identifier as a person gave it, in its normal form",
                        max_length=510,
                    ),
                ),
                (
                    "named_title",
                    models.CharField(blank=True, default="", help_text="Title a person gave", max_length=500),
                ),
                (
                    "withdrawn_under",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("public", "Public domain"),
                            ("open_commercial", "Open, commercial use allowed"),
                            ("open_noncommercial", "Open, non-commercial"),
                            ("restricted", "Restricted"),
                            ("unknown", "Unknown"),
                        ],
                        default="",
                        help_text="The document's class when it was deleted; empty while it is held",
                        max_length=20,
                    ),
                ),
                (
                    "withdrawn_from",
                    models.CharField(blank=True, default="", help_text="Its bucket then", max_length=100),
                ),
                (
                    "added_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        help_text="The version it was met in",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="corpus.document",
                    ),
                ),
                (
                    "observation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="answers.observation",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="observation_links",
                        to="corpus.source",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="observation",
            index=models.Index(fields=["owner", "-changed_at", "id"], name="answers_notes_by_owner"),
        ),
        migrations.AddIndex(
            model_name="observation",
            index=models.Index(
                condition=models.Q(("is_shared", True)),
                fields=["-changed_at", "id"],
                name="answers_notes_shared",
            ),
        ),
        migrations.AddConstraint(
            model_name="observation",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="answers_observation_says_something"
            ),
        ),
        migrations.AddConstraint(
            model_name="observation",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["finding", "question", "decision", "method", "idea"])),
                name="answers_observation_kind_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="observation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("imported_key", ""), _negated=True),
                fields=("imported_key",),
                name="answers_observation_imported_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="observationsource",
            constraint=models.UniqueConstraint(
                fields=("observation", "source"), name="answers_observationsource_each_work_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="observationsource",
            constraint=models.UniqueConstraint(
                fields=("observation", "number"), name="answers_observationsource_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="observationsource",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1)), name="answers_observationsource_numbers_from_one"
            ),
        ),
        migrations.AddConstraint(
            model_name="observationsource",
            constraint=models.CheckConstraint(
                condition=models.Q(("relationship__in", ["cited", "retrieved", "inferred"])),
                name="answers_observationsource_relationship_is_known",
            ),
        ),
    ]
