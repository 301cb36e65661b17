"""Addresses that are none of the web go, so that the next migration can forbid them."""

from django.db import migrations

_GO = r"""
UPDATE corpus_document SET url = '' WHERE url <> '' AND url !~* '^https?://';
UPDATE corpus_source SET url = '' WHERE url <> '' AND url !~* '^https?://';
UPDATE corpus_source SET identifier_type = '', identifier_value = ''
WHERE identifier_type = 'url' AND identifier_value !~* '^https?://';
"""


class Migration(migrations.Migration):
    dependencies = [("corpus", "0047_documents_know_who_looked_at_them")]

    # What went is not brought back: nothing could be done with it.
    operations = [migrations.RunSQL(_GO, migrations.RunSQL.noop)]
