"""Beside the hash of a key stands which of the site's keys it was made with.

The hashes themselves are made anew as each key is used: only then are its words at hand, and a hash of before counts
until then.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0043_webhooks_disabled_by_others_are_held"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="hashed_by",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=12),
        ),
    ]
