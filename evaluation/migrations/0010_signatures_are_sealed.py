"""Seals the logs of questions and of decisions on compression, and every record to come."""

from django.db import migrations

from corpus.audit.sealing import sealed


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0009_runs_have_a_cap"),
        ("corpus", "0037_records_are_sealed"),
    ]

    operations = [
        migrations.RunSQL(*sealed("evaluation_questionevent", key="id")),
        migrations.RunSQL(*sealed("evaluation_compressiondecision", key="id")),
    ]
