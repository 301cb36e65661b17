"""What models were used for, in counts by day."""

import django.db.models.expressions
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0023_administrators_certify")]

    operations = [
        migrations.CreateModel(
            name="ModelUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField(help_text="In UTC, when the call ended")),
                (
                    "user_id",
                    models.BigIntegerField(null=True, help_text="None for the system's own work"),
                ),
                (
                    "purpose",
                    models.CharField(
                        max_length=30,
                        choices=[
                            ("answer", "Writing answers"),
                            ("compression", "Condensing sources"),
                            ("follow_up", "Rewriting follow-ups"),
                            ("hyde", "Hypothetical passages"),
                            ("names", "Naming what a question speaks of"),
                            ("reranking", "Reranking"),
                            ("extraction", "Extracting the graph"),
                            ("communities", "Summarising communities"),
                            ("resolution", "Resolving entities"),
                            ("judging", "Judging answers"),
                            ("drafting", "Drafting"),
                            ("screening", "Screening candidates"),
                            ("question_vectors", "Vectors of questions"),
                            ("passage_vectors", "Vectors of passages"),
                            ("probe", "Probing the settings"),
                        ],
                    ),
                ),
                ("collection", models.CharField(blank=True, default="", max_length=100)),
                ("model", models.CharField(max_length=200)),
                ("calls", models.PositiveBigIntegerField(default=0)),
                ("failures", models.PositiveBigIntegerField(default=0)),
                ("prompt_tokens", models.PositiveBigIntegerField(default=0)),
                ("completion_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "estimated_calls",
                    models.PositiveBigIntegerField(
                        default=0, help_text="Calls whose tokens the provider did not say"
                    ),
                ),
                (
                    "unpriced_calls",
                    models.PositiveBigIntegerField(default=0, help_text="Calls whose cost nobody knows"),
                ),
                (
                    "cost_usd",
                    models.DecimalField(
                        decimal_places=8,
                        default=0,
                        max_digits=16,
                        help_text="Of the calls with a price",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["day", "user_id", "purpose", "collection", "model"],
                        name="corpus_modeluse_one_row_a_day",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("failures__lte", django.db.models.expressions.F("calls")),
                            ("estimated_calls__lte", django.db.models.expressions.F("calls")),
                            ("unpriced_calls__lte", django.db.models.expressions.F("calls")),
                        ),
                        name="corpus_modeluse_parts_are_within_the_calls",
                    ),
                ],
            },
        ),
    ]
