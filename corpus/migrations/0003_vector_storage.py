from django.db import migrations


class Migration(migrations.Migration):
    """Keep vectors in the row: exact search reads all of them, and fetching from TOAST costs it fourfold."""

    dependencies = [("corpus", "0002_corpus")]
    operations = [
        migrations.RunSQL(
            "ALTER TABLE corpus_chunkembedding ALTER COLUMN vector SET STORAGE PLAIN",
            "ALTER TABLE corpus_chunkembedding ALTER COLUMN vector SET STORAGE EXTENDED",
        )
    ]
