"""Seals what stands beside a record: its context, its words, and the tables that were in no chain.

Reversed, the links that were made in between stay: the version before looks at none of their names, and takes them
for links of rows it does not know.
"""

from django.db import migrations

from corpus.audit.sealing import sealed
from corpus.audit.sealing_words import AS_BEFORE, FUNCTIONS, THERE


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0045_happenings_on_record"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        migrations.RunSQL(FUNCTIONS, AS_BEFORE),
        migrations.RunSQL(THERE, migrations.RunSQL.noop),
        migrations.RunSQL(*sealed("corpus_auditevent", key="id")),
        migrations.RunSQL(*sealed("corpus_corpussnapshot", key="id")),
    ]
