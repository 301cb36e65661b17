import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import corpus.webhooks.models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0026_administrators_make_keys"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("url", models.CharField(help_text="Where messages are sent, https", max_length=2048)),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("retraction_alert", "A work was retracted or doubted, or is no longer"),
                                ("ingest_finished", "Files were taken in"),
                                ("run_finished", "An evaluation or an extraction ended"),
                            ],
                            max_length=20,
                        ),
                        size=None,
                    ),
                ),
                ("is_active", models.BooleanField(default=True, editable=False)),
                ("disabled_reason", models.CharField(blank=True, default="", editable=False, max_length=200)),
                (
                    "salt",
                    models.CharField(default=corpus.webhooks.models.new_salt, editable=False, max_length=64),
                ),
                (
                    "failures",
                    models.PositiveIntegerField(
                        default=0, editable=False, help_text="Deliveries given up in a row"
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={
                "permissions": [("oversee_webhooks", "Can see and disable the webhooks of everyone")],
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("retraction_alert", "A work was retracted or doubted, or is no longer"),
                            ("ingest_finished", "Files were taken in"),
                            ("run_finished", "An evaluation or an extraction ended"),
                            ("test", "A test"),
                        ],
                        max_length=20,
                    ),
                ),
                ("kind", models.CharField(blank=True, default="", max_length=20)),
                ("subject", models.UUIDField(help_text="The run or work it is about", null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("delivered", "Delivered"),
                            ("given_up", "Given up"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                (
                    "attempt_limit",
                    models.PositiveIntegerField(default=7, help_text="No further attempt from here on"),
                ),
                ("next_try_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("lease_until", models.DateTimeField(null=True)),
                (
                    "status",
                    models.PositiveSmallIntegerField(help_text="What the receiver answered last", null=True),
                ),
                ("last_error_code", models.CharField(blank=True, default="", max_length=60)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("ended_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
            },
        ),
        migrations.CreateModel(
            name="WebhookEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("retraction_alert", "A work was retracted or doubted, or is no longer"),
                                ("ingest_finished", "Files were taken in"),
                                ("run_finished", "An evaluation or an extraction ended"),
                            ],
                            max_length=20,
                        ),
                        size=None,
                    ),
                ),
                ("is_active", models.BooleanField(default=True, editable=False)),
                ("disabled_reason", models.CharField(blank=True, default="", editable=False, max_length=200)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="webhook",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="webhooks",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="webhookdelivery",
            name="webhook",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="corpus.webhook"
            ),
        ),
        migrations.AddField(
            model_name="webhookevent",
            name="owner",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="webhookevent",
            name="pgh_context",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="pghistory.context",
            ),
        ),
        migrations.AddField(
            model_name="webhookevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="owner_events_is_active_disabled_reason_events",
                to="corpus.webhook",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(
                condition=models.Q(("events__len__gt", 0)), name="corpus_webhook_is_told_something"
            ),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_active", False), ("disabled_reason", ""), _connector="OR"),
                name="corpus_webhook_active_has_no_reason_not_to_be",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhook",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_webhookevent" ("disabled_reason", "events", "is_active", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."disabled_reason", NEW."events", NEW."is_active", NEW."owner_id", _pgh_attach_context(), NOW(), \'insert\', NEW."id"); RETURN NULL;',
                    hash="e5327c7bbc04f8e3636fb46474698ebac3a49b1e",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_71160",
                    table="corpus_webhook",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhook",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."disabled_reason" IS DISTINCT FROM (NEW."disabled_reason") OR OLD."events" IS DISTINCT FROM (NEW."events") OR OLD."is_active" IS DISTINCT FROM (NEW."is_active") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id"))',
                    func='INSERT INTO "corpus_webhookevent" ("disabled_reason", "events", "is_active", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."disabled_reason", NEW."events", NEW."is_active", NEW."owner_id", _pgh_attach_context(), NOW(), \'update\', NEW."id"); RETURN NULL;',
                    hash="044b6a7d8bc76151e755669ea3488a01885c9267",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_61a7e",
                    table="corpus_webhook",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhook",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_webhookevent" ("disabled_reason", "events", "is_active", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."disabled_reason", OLD."events", OLD."is_active", OLD."owner_id", _pgh_attach_context(), NOW(), \'delete\', OLD."id"); RETURN NULL;',
                    hash="17b2b8138c044e9c089f295b1405437b36b92894",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_b2414",
                    table="corpus_webhook",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("state", "pending")),
                fields=["next_try_at", "id"],
                name="corpus_webhook_due",
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["webhook", "-created_at"], name="corpus_webhook_ledger"),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("lease_until__isnull", True), ("state", "pending"), _connector="OR"),
                name="corpus_webhookdelivery_only_pending_is_leased",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state", "pending")),
                    models.Q(models.Q(("state", "pending"), _negated=True), ("ended_at__isnull", False)),
                    _connector="OR",
                ),
                name="corpus_webhookdelivery_ended_when_not_pending",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("subject__isnull", False), ("event", "test"), _connector="OR"),
                name="corpus_webhookdelivery_is_about_something",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="945b6cb63177b0e449ad899033b0fdcf6ab87171",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_49cd6",
                    table="corpus_webhookevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
