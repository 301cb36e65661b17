from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0006_calibration_finishes"),
    ]

    operations = [
        migrations.AddField(
            model_name="evaluationrun",
            name="claim",
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="evaluationrun",
            name="held_by",
            field=models.CharField(blank=True, default="", editable=False, max_length=200),
        ),
        migrations.AddField(
            model_name="evaluationrun",
            name="retries",
            field=models.JSONField(
                default=list,
                editable=False,
                help_text="When failed replies were asked for again, by whom, which",
            ),
        ),
    ]
