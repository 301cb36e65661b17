"""The chain over the append-only tables: its links, its head, and the functions that seal."""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from corpus.audit.sealing import FUNCTIONS, NO_FUNCTIONS


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0035_documents_can_be_quarantined"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("number", models.BigIntegerField()),
                ("sha256", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="corpus_audithead_is_one")
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditLink",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("table_name", models.CharField(max_length=63)),
                ("row_id", models.CharField(max_length=40)),
                (
                    "columns",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=63), size=None
                    ),
                ),
                ("row_sha256", models.CharField(max_length=64)),
                ("by", models.CharField(blank=True, default="", max_length=40)),
                ("previous", models.CharField(blank=True, max_length=64)),
                ("sha256", models.CharField(max_length=64)),
                (
                    "sealed_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("table_name", "row_id"), name="corpus_auditlink_row_once")
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="auditlink",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="a31ff37719758729cdfaa84623bdf14cd9a9b17f",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_ce4a2",
                    table="corpus_auditlink",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.RunSQL(FUNCTIONS, NO_FUNCTIONS),
    ]
