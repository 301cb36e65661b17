import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0010_notebook"),
        ("corpus", "0023_administrators_certify"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="notice",
            name="observation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notices",
                to="answers.observation",
            ),
        ),
        migrations.AddField(
            model_name="observationsource",
            name="standing_then",
            field=models.JSONField(
                default=list, help_text="retracted, concern: what held when it was linked"
            ),
        ),
        migrations.AlterField(
            model_name="notice",
            name="answer",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="notices",
                to="answers.answer",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("resolved_at__isnull", True)),
                fields=("observation", "source", "kind"),
                name="answers_notice_once_while_it_holds_of_a_note",
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answer__isnull", True), ("observation__isnull", False)),
                    models.Q(("answer__isnull", False), ("observation__isnull", True)),
                    _connector="OR",
                ),
                name="answers_notice_about_an_answer_or_a_note",
            ),
        ),
        # Last, so that it is undone first: before this every notice was about an answer.
        migrations.RunSQL(
            migrations.RunSQL.noop, "DELETE FROM answers_notice WHERE observation_id IS NOT NULL"
        ),
    ]
