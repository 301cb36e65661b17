import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0008_senses_outlive_passages"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="communitydocument",
            name="summary_goes_with_its_document",
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="communitydocument",
            trigger=pgtrigger.compiler.Trigger(
                name="summary_goes_with_its_document",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n                    IF EXISTS (SELECT 1 FROM gone) THEN\n                        DELETE FROM retrieval_communitymember\n                            WHERE community_id IN (SELECT community_id FROM gone);\n                        DELETE FROM retrieval_communitydocument\n                            WHERE community_id IN (SELECT community_id FROM gone);\n                        UPDATE retrieval_community SET parent_id = NULL\n                            WHERE parent_id IN (SELECT community_id FROM gone);\n                        DELETE FROM retrieval_community WHERE id IN (SELECT community_id FROM gone);\n                    END IF;\n                    RETURN NULL;\n                ",
                    hash="c355089bcb05a33cd8d12c255a87b5a9b209d4ae",
                    level="STATEMENT",
                    operation="DELETE",
                    pgid="pgtrigger_summary_goes_with_its_document_a9bd6",
                    referencing="REFERENCING OLD TABLE AS gone ",
                    table="retrieval_communitydocument",
                    when="AFTER",
                ),
            ),
        ),
    ]
