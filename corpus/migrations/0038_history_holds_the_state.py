"""The history of documents holds their state: who held one back, and who let it go."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0037_records_are_sealed"),
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
        # Records from before do not know it.
        migrations.AddField(
            model_name="documentevent",
            name="state",
            field=models.CharField(
                choices=[
                    ("queued", "Queued"),
                    ("parsing", "Parsing"),
                    ("embedding", "Embedding"),
                    ("ready", "Ready"),
                    ("needs_ocr", "Needs OCR"),
                    ("quarantined", "Quarantined"),
                    ("failed", "Failed"),
                ],
                default="",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="documentevent",
            name="state",
            field=models.CharField(
                choices=[
                    ("queued", "Queued"),
                    ("parsing", "Parsing"),
                    ("embedding", "Embedding"),
                    ("ready", "Ready"),
                    ("needs_ocr", "Needs OCR"),
                    ("quarantined", "Quarantined"),
                    ("failed", "Failed"),
                ],
                default="queued",
                max_length=12,
            ),
        ),
        migrations.AddField(
            model_name="documentevent",
            name="state_reason",
            field=models.CharField(blank=True, default="", max_length=60),
        ),
        migrations.AlterField(
            model_name="documentevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="source_year_bucket_license_class_license_source_no_derivatives_embargoed_until_version_label_status_superseded_by_state_state_reason_file_sha256_events",
                to="corpus.document",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "license_source", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "state", "state_reason", "status", "superseded_by_id", "version_label", "year") VALUES (NEW."bucket", NEW."embargoed_until", NEW."file_sha256", NEW."license_class", NEW."license_source", NEW."no_derivatives", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."source_id", NEW."state", NEW."state_reason", NEW."status", NEW."superseded_by_id", NEW."version_label", NEW."year"); RETURN NULL;',
                    hash="a431b5c0900b6b61d67d5597a5dbad461b4bb870",
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
                    condition='WHEN (OLD."bucket" IS DISTINCT FROM (NEW."bucket") OR OLD."embargoed_until" IS DISTINCT FROM (NEW."embargoed_until") OR OLD."file_sha256" IS DISTINCT FROM (NEW."file_sha256") OR OLD."license_class" IS DISTINCT FROM (NEW."license_class") OR OLD."license_source" IS DISTINCT FROM (NEW."license_source") OR OLD."no_derivatives" IS DISTINCT FROM (NEW."no_derivatives") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id") OR OLD."state" IS DISTINCT FROM (NEW."state") OR OLD."state_reason" IS DISTINCT FROM (NEW."state_reason") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."superseded_by_id" IS DISTINCT FROM (NEW."superseded_by_id") OR OLD."version_label" IS DISTINCT FROM (NEW."version_label") OR OLD."year" IS DISTINCT FROM (NEW."year"))',
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "license_source", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "state", "state_reason", "status", "superseded_by_id", "version_label", "year") VALUES (NEW."bucket", NEW."embargoed_until", NEW."file_sha256", NEW."license_class", NEW."license_source", NEW."no_derivatives", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."source_id", NEW."state", NEW."state_reason", NEW."status", NEW."superseded_by_id", NEW."version_label", NEW."year"); RETURN NULL;',
                    hash="a3a2b52d9c84548dc47cf65e899ee10fc0902c3d",
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
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "license_source", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "state", "state_reason", "status", "superseded_by_id", "version_label", "year") VALUES (OLD."bucket", OLD."embargoed_until", OLD."file_sha256", OLD."license_class", OLD."license_source", OLD."no_derivatives", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."source_id", OLD."state", OLD."state_reason", OLD."status", OLD."superseded_by_id", OLD."version_label", OLD."year"); RETURN NULL;',
                    hash="c6b4fe695624449d2e19e887a95c95a753e06175",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_f089e",
                    table="corpus_document",
                    when="AFTER",
                ),
            ),
        ),
    ]
