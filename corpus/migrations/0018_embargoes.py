"""A document is restricted until a day."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0017_decisions_lose_words_with_their_document")]

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
        migrations.AddField(
            model_name="document",
            name="embargoed_until",
            field=models.DateField(
                blank=True,
                editable=False,
                help_text="Restricted until this day; a person decides then",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="documentevent",
            name="embargoed_until",
            field=models.DateField(
                blank=True,
                editable=False,
                help_text="Restricted until this day; a person decides then",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="documentevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="source_year_bucket_license_class_license_source_no_derivatives_embargoed_until_version_label_status_superseded_by_file_sha256_events",
                to="corpus.document",
            ),
        ),
        migrations.AlterField(
            model_name="reviewitem",
            name="kind",
            field=models.CharField(
                choices=[
                    ("looser_license", "Licence that allows more"),
                    ("embargo_over", "Embargo whose day has come"),
                    ("supersession_proposed", "Newer version of the same work"),
                    ("claimed_retraction", "Retraction that nothing asserts"),
                ],
                max_length=32,
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="document",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "license_source", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "status", "superseded_by_id", "version_label", "year") VALUES (NEW."bucket", NEW."embargoed_until", NEW."file_sha256", NEW."license_class", NEW."license_source", NEW."no_derivatives", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."source_id", NEW."status", NEW."superseded_by_id", NEW."version_label", NEW."year"); RETURN NULL;',
                    hash="7c9e995b91565fcebc59dd1eea02c8d2025eecf2",
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
                    condition='WHEN (OLD."bucket" IS DISTINCT FROM (NEW."bucket") OR OLD."embargoed_until" IS DISTINCT FROM (NEW."embargoed_until") OR OLD."file_sha256" IS DISTINCT FROM (NEW."file_sha256") OR OLD."license_class" IS DISTINCT FROM (NEW."license_class") OR OLD."license_source" IS DISTINCT FROM (NEW."license_source") OR OLD."no_derivatives" IS DISTINCT FROM (NEW."no_derivatives") OR OLD."source_id" IS DISTINCT FROM (NEW."source_id") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."superseded_by_id" IS DISTINCT FROM (NEW."superseded_by_id") OR OLD."version_label" IS DISTINCT FROM (NEW."version_label") OR OLD."year" IS DISTINCT FROM (NEW."year"))',
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "license_source", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "status", "superseded_by_id", "version_label", "year") VALUES (NEW."bucket", NEW."embargoed_until", NEW."file_sha256", NEW."license_class", NEW."license_source", NEW."no_derivatives", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."source_id", NEW."status", NEW."superseded_by_id", NEW."version_label", NEW."year"); RETURN NULL;',
                    hash="70bb7a4324f656684b19fa7192543ffb1a95714b",
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
                    func='INSERT INTO "corpus_documentevent" ("bucket", "embargoed_until", "file_sha256", "license_class", "license_source", "no_derivatives", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "source_id", "status", "superseded_by_id", "version_label", "year") VALUES (OLD."bucket", OLD."embargoed_until", OLD."file_sha256", OLD."license_class", OLD."license_source", OLD."no_derivatives", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."source_id", OLD."status", OLD."superseded_by_id", OLD."version_label", OLD."year"); RETURN NULL;',
                    hash="01aa7feb148abc8511a021ef33e564dc5340de9c",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_f089e",
                    table="corpus_document",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("embargoed_until__isnull", True),
                    ("license_class__in", ["restricted", "unknown"]),
                    _connector="OR",
                ),
                name="corpus_document_an_embargo_keeps_it_closed",
            ),
        ),
    ]
