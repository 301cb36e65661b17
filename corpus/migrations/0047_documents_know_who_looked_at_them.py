"""By which version of the rules a document was looked at: none of those that are there."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0046_words_are_sealed"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="scanned_under",
            field=models.PositiveSmallIntegerField(default=0, editable=False),
        ),
    ]
