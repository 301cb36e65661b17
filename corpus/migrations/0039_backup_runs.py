import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0038_history_holds_the_state")]

    operations = [
        migrations.CreateModel(
            name="BackupRun",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("backup", "Backup"), ("restore", "Restore"), ("drill", "Drill")],
                        max_length=8,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "At it"), ("done", "Done"), ("failed", "Failed")],
                        default="running",
                        max_length=8,
                    ),
                ),
                (
                    "reason",
                    models.CharField(blank=True, default="", help_text="Why it failed", max_length=500),
                ),
                (
                    "path",
                    models.TextField(help_text="The file, as it was named on the machine that made it"),
                ),
                ("size", models.BigIntegerField(default=0, help_text="Bytes of the file")),
                (
                    "is_sealed",
                    models.BooleanField(default=False, help_text="Whether a passphrase is needed to read it"),
                ),
                ("fingerprint", models.CharField(blank=True, default="", max_length=64)),
                ("documents", models.PositiveIntegerField(default=0)),
                ("passages", models.PositiveIntegerField(default=0)),
                ("originals", models.PositiveIntegerField(default=0)),
                (
                    "questions",
                    models.PositiveIntegerField(
                        default=0, help_text="Stored questions that were asked again"
                    ),
                ),
                ("by_name", models.CharField(blank=True, default="", editable=False, max_length=150)),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("finished_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", True), ("state", "running")),
                            models.Q(
                                models.Q(("state", "running"), _negated=True),
                                ("finished_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="corpus_backuprun_finished_has_an_outcome",
                    )
                ],
            },
        ),
    ]
