"""Seals the log of merges and splits, and every record to come."""

from django.db import migrations

from corpus.audit.sealing import sealed


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0010_extraction_has_a_cap"),
        ("corpus", "0037_records_are_sealed"),
    ]

    operations = [migrations.RunSQL(*sealed("retrieval_resolutionaudit", key="id"))]
