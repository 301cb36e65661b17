"""The history of documents keeps neither what they say of their licence nor what their version is called.

The columns stay, empty from now on: earlier records were sealed with what they hold, and are as they were.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

EMPTY_FROM_NOW_ON = """
ALTER TABLE corpus_documentevent ALTER COLUMN license_source SET DEFAULT '',
    ALTER COLUMN version_label SET DEFAULT ''
"""
GIVEN = """
ALTER TABLE corpus_documentevent ALTER COLUMN license_source DROP DEFAULT,
    ALTER COLUMN version_label DROP DEFAULT
"""


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0049_addresses_are_of_the_web"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="document",
            name="insert_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="document",
            name="update_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="document",
            name="delete_delete",
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField(model_name="documentevent", name="license_source"),
                migrations.RemoveField(model_name="documentevent", name="version_label"),
            ],
            database_operations=[migrations.RunSQL(EMPTY_FROM_NOW_ON, GIVEN)],
        ),
        migrations.AlterField(
            model_name="documentevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="source_year_bucket_license_class_no_derivatives_embargoed_until_status_superseded_by_state_state_reason_file_sha256_events",
                to="corpus.document",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "state", "state_reason", "status", "superseded_by_id", "year") VALUES (NEW."bucket", NEW."embargoed_until", NEW."file_sha256", NEW."license_class", NEW."no_derivatives", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."source_id", NEW."state", NEW."state_reason", NEW."status", NEW."superseded_by_id", NEW."year"); RETURN NULL;',
                    hash="cf94e68806fa4f181ffb7edda5174b880bf757af",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_a0411",
                    table="corpus_document",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."bucket" IS DISTINCT FROM (NEW."bucket") OR OLD."embargoed_until" IS DISTINCT FROM (NEW."embargoed_until") OR OLD."file_sha256" IS DISTINCT FROM (NEW."file_sha256") OR OLD."license_class" IS DISTINCT FROM (NEW."license_class") OR OLD."no_derivatives" IS DISTINCT FROM (NEW."no_derivatives") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."state_reason" IS DISTINCT FROM (NEW."state_reason") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."superseded_by_id" IS DISTINCT FROM (NEW."superseded_by_id") OR OLD."year" IS DISTINCT FROM (NEW."year"))',
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "state", "state_reason", "status", "superseded_by_id", "year") VALUES (NEW."bucket", NEW."embargoed_until", NEW."file_sha256", NEW."license_class", NEW."no_derivatives", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."source_id", NEW."state", NEW."state_reason", NEW."status", NEW."superseded_by_id", NEW."year"); RETURN NULL;',
                    hash="6747d016dbd92afd7cbb3bd9470d4f94d87a816a",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_30d0b",
                    table="corpus_document",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "state", "state_reason", "status", "superseded_by_id", "year") VALUES (OLD."bucket", OLD."embargoed_until", OLD."file_sha256", OLD."license_class", OLD."no_derivatives", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."source_id", OLD."state", OLD."state_reason", OLD."status", OLD."superseded_by_id", OLD."year"); RETURN NULL;',
                    hash="8e747b3a812151191fbfda08fb20dec17ac1a772",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_f089e",
                    table="corpus_document",
                    when="AFTER",
                ),
            ),
        ),
    ]
