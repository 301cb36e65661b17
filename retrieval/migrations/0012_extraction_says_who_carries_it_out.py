"""Whoever carries a run of extraction out is known by name and by a token."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0011_merges_are_sealed")]

    operations = [
        migrations.AddField(
            model_name="extractionrun",
            name="claim",
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name="extractionrun",
            name="held_by",
            field=models.CharField(blank=True, default="", editable=False, max_length=200),
        ),
    ]
