import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0003_withdrawn_sources"),
        ("corpus", "0012_source_checks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Notice",
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
                        choices=[("retracted", "Retracted"), ("concern", "Expression of concern")],
                        max_length=10,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("read_at", models.DateTimeField(editable=False, null=True)),
                (
                    "resolved_at",
                    models.DateTimeField(editable=False, help_text="When it stopped being so", null=True),
                ),
                (
                    "answer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="answers.answer",
                    ),
                ),
                (
                    "recipient",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.source"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["recipient", "-created_at"], name="answers_notice_of_recipient"),
                    models.Index(
                        condition=models.Q(("read_at__isnull", True), ("resolved_at__isnull", True)),
                        fields=["recipient"],
                        name="answers_notice_unread",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("resolved_at__isnull", True)),
                        fields=("answer", "source", "kind"),
                        name="answers_notice_once_while_it_holds",
                    )
                ],
            },
        ),
    ]
