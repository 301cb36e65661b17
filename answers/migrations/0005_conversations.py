import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0004_notices"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Conversation",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "title",
                    models.CharField(
                        blank=True, default="", help_text="Empty until its owner names it", max_length=200
                    ),
                ),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("last_asked_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="conversations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="answer",
            name="follows",
            field=models.ForeignKey(
                blank=True,
                help_text="The turn this question leans on",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="follow_ups",
                to="answers.answer",
            ),
        ),
        migrations.AddField(
            model_name="answer",
            name="process",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Which process writes it; see answers.processes",
                max_length=32,
            ),
        ),
        migrations.AddField(
            model_name="answer",
            name="rewriting",
            field=models.JSONField(default=dict, help_text="How the searched question came about"),
        ),
        migrations.AddField(
            model_name="answer",
            name="searched_question",
            field=models.TextField(
                blank=True, default="", help_text="What was searched, where that is not what was typed"
            ),
        ),
        migrations.AlterField(
            model_name="answer",
            name="question",
            field=models.TextField(help_text="As typed"),
        ),
        migrations.AddField(
            model_name="answer",
            name="conversation",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="answers",
                to="answers.conversation",
            ),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                fields=["asked_by", "-last_asked_at", "id"], name="answers_conversations_by_asker"
            ),
        ),
    ]
