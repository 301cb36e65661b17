import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0007_runs_say_who_carries_them_out"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CompressionDecision",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("is_adopted", models.BooleanField()),
                (
                    "reasons",
                    models.JSONField(default=list, help_text="What spoke against adopting, in words"),
                ),
                (
                    "numbers",
                    models.JSONField(
                        help_text="What it rests on: dimensions, tokens, what became of sources"
                    ),
                ),
                ("decided_by_name", models.CharField(blank=True, default="", max_length=150)),
                (
                    "decided_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "condensed",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions_as_condensed",
                        to="evaluation.evaluationrun",
                    ),
                ),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "whole",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions_as_whole",
                        to="evaluation.evaluationrun",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("whole", "condensed"), name="evaluation_compressiondecision_once_for_two_runs"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("whole", models.F("condensed")), _negated=True),
                        name="evaluation_compressiondecision_is_of_two_runs",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("is_adopted", True), ("reasons", [])),
                            models.Q(("is_adopted", False), models.Q(("reasons", []), _negated=True)),
                            _connector="OR",
                        ),
                        name="evaluation_compressiondecision_a_rejection_has_reasons",
                    ),
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="compressiondecision",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="218fec89a56755139da4f786de0f37c38e3cc3f0",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_32a1d",
                    table="evaluation_compressiondecision",
                    when="BEFORE",
                ),
            ),
        ),
    ]
