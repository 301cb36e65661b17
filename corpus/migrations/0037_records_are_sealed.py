"""Seals what the logs of this app hold, oldest first, and every record to come."""

from django.db import migrations

from corpus.audit.sealing import sealed

HISTORIES = (
    "corpus_accountevent",
    "corpus_apikeyevent",
    "corpus_documentevent",
    "corpus_editorialeventhistory",
    "corpus_groupceilingevent",
    "corpus_groupmappingevent",
    "corpus_grouppermissionevent",
    "corpus_membershipevent",
    "corpus_sourceevent",
    "corpus_webhookevent",
)


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0036_audit_chain"),
        ("pghistory", "0007_auto_20250421_0444"),
    ]

    operations = [
        *(migrations.RunSQL(*sealed(table, key="pgh_id")) for table in HISTORIES),
        migrations.RunSQL(
            *sealed("corpus_rightsdecision", key="id", erasable="document_title,signal,evidence,note")
        ),
        migrations.RunSQL(*sealed("corpus_screeningdecision", key="id")),
    ]
