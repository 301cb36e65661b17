import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0005_stages_of_outcomes"),
    ]

    operations = [
        migrations.CreateModel(
            name="CalibrationFinish",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("person_name", models.CharField(max_length=150)),
                (
                    "at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="finishes",
                        to="evaluation.calibrationqueue",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("queue", "person_name"),
                        name="evaluation_calibrationfinish_once_for_each_person",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("person_name", ""), _negated=True),
                        name="evaluation_calibrationfinish_has_a_person",
                    ),
                ],
            },
        ),
    ]
