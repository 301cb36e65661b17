import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0011_jobs_in_order_of_files")]

    operations = [
        migrations.CreateModel(
            name="SourceCheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("provider", models.CharField(choices=[("crossref", "Crossref")], max_length=20)),
                (
                    "outcome",
                    models.CharField(
                        choices=[("good", "Answered"), ("check_failed", "Check failed")], max_length=12
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True, default="", help_text="Stable code of a failure", max_length=40
                    ),
                ),
                ("checked_at", models.DateTimeField()),
                ("last_good_at", models.DateTimeField(null=True)),
                (
                    "asked_for_at",
                    models.DateTimeField(help_text="A person wants it checked again", null=True),
                ),
                (
                    "cited_by",
                    models.PositiveIntegerField(help_text="Citations the provider counts", null=True),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="checks", to="corpus.source"
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="sourcecheck",
            index=models.Index(fields=["provider", "checked_at"], name="corpus_check_due"),
        ),
        migrations.AddConstraint(
            model_name="sourcecheck",
            constraint=models.UniqueConstraint(
                fields=("source", "provider"), name="corpus_sourcecheck_one_per_provider"
            ),
        ),
        migrations.AddConstraint(
            model_name="sourcecheck",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("last_good_at__isnull", False), ("outcome", "good"), ("reason", "")),
                    models.Q(models.Q(("outcome", "check_failed")), models.Q(("reason", ""), _negated=True)),
                    _connector="OR",
                ),
                name="corpus_sourcecheck_a_failure_has_its_reason",
            ),
        ),
    ]
