"""The hash of a document's passages, which enters the fingerprint of the corpus."""

from django.db import migrations, models

# As `corpus.fingerprint` makes it for documents that are taken in.
OF_THOSE_THERE = """
UPDATE corpus_document SET passages_sha256 = coalesce((
    SELECT encode(sha256(convert_to(string_agg(
        concat_ws(E'\\x1f', ordinal, locator, is_table, content), E'\\x1e' ORDER BY ordinal), 'UTF8')), 'hex')
    FROM corpus_chunk WHERE document_id = corpus_document.id), '')
"""


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0050_history_keeps_no_words_of_documents"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="passages_sha256",
            field=models.CharField(blank=True, default="", editable=False, max_length=64),
        ),
        migrations.RunSQL(OF_THOSE_THERE, migrations.RunSQL.noop),
    ]
