"""Messages say, too, that a document is held back."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0012_deleted_notes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("retracted", "Retracted"),
                    ("concern", "Expression of concern"),
                    ("held", "Held back"),
                ],
                max_length=10,
            ),
        ),
    ]
