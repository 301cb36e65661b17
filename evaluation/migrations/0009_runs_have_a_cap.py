"""A run of answers has a cap, remembers what it used, and may have stopped there."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0008_compression_decisions")]

    operations = [
        migrations.AddField(
            model_name="evaluationrun",
            name="max_tokens",
            field=models.PositiveBigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="evaluationrun",
            name="max_cost_usd",
            field=models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True),
        ),
        migrations.AddField(
            model_name="evaluationrun",
            name="calls_made",
            field=models.PositiveBigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name="evaluationrun",
            name="tokens_used",
            field=models.PositiveBigIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name="evaluationrun",
            name="cost_usd",
            field=models.DecimalField(decimal_places=8, default=0, editable=False, max_digits=16),
        ),
        migrations.AddField(
            model_name="evaluationrun",
            name="unpriced_calls",
            field=models.PositiveBigIntegerField(default=0, editable=False),
        ),
        migrations.AlterField(
            model_name="evaluationrun",
            name="state",
            field=models.CharField(
                choices=[
                    ("running", "Running"),
                    ("finished", "Finished"),
                    ("failed", "Failed"),
                    ("cancelled", "Cancelled"),
                    ("capped", "Stopped at the cap"),
                ],
                default="running",
                max_length=9,
            ),
        ),
    ]
