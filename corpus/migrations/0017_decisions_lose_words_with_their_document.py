"""A decision names what it undoes; its words go with the document that was deleted."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("corpus", "0016_vector_codes")]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="rightsdecision",
            name="append_only",
        ),
        migrations.AddField(
            model_name="rightsdecision",
            name="undoes",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="undone_by",
                to="corpus.rightsdecision",
            ),
        ),
        migrations.AlterField(
            model_name="rightsdecision",
            name="document_title",
            field=models.TextField(blank=True, default=""),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="rightsdecision",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n    IF TG_OP = 'UPDATE' AND NOT EXISTS (SELECT 1 FROM corpus_document WHERE id = OLD.document_id) THEN\n        OLD.document_title := '';\n        OLD.signal := '';\n        OLD.evidence := '';\n        OLD.note := '';\n        IF NEW IS NOT DISTINCT FROM OLD THEN\n            RETURN NEW;\n        END IF;\n    END IF;\n    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;\n",
                    hash="7a3c7ee41b043998a44a3deea6239329c82cbfcd",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_c7e17",
                    table="corpus_rightsdecision",
                    when="BEFORE",
                ),
            ),
        ),
    ]
