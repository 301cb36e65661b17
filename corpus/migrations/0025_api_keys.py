import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0024_model_use"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(help_text="What it is for", max_length=100)),
                ("prefix", models.CharField(db_index=True, editable=False, max_length=8)),
                ("hash", models.CharField(editable=False, max_length=64, unique=True)),
                (
                    "permissions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("retrieval:query", "Search the corpus"),
                                ("retrieval:answer", "Have questions answered"),
                                ("corpus:read", "Read documents, passages, entities and notes"),
                                ("corpus:write", "Take files in and keep notes"),
                            ],
                            max_length=20,
                        ),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "license_classes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("public", "Public domain"),
                                ("open_commercial", "Open, commercial use allowed"),
                                ("open_noncommercial", "Open, non-commercial"),
                                ("restricted", "Restricted"),
                                ("unknown", "Unknown"),
                            ],
                            max_length=20,
                        ),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("all_buckets", models.BooleanField(default=False)),
                (
                    "buckets",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100), blank=True, default=list, size=None
                    ),
                ),
                ("requests_per_minute", models.PositiveIntegerField(default=60)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(editable=False, null=True)),
                ("last_used_at", models.DateTimeField(editable=False, null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={"verbose_name": "key"},
        ),
        migrations.CreateModel(
            name="ApiKeyEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("name", models.CharField(help_text="What it is for", max_length=100)),
                ("prefix", models.CharField(editable=False, max_length=8)),
                (
                    "permissions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("retrieval:query", "Search the corpus"),
                                ("retrieval:answer", "Have questions answered"),
                                ("corpus:read", "Read documents, passages, entities and notes"),
                                ("corpus:write", "Take files in and keep notes"),
                            ],
                            max_length=20,
                        ),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "license_classes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("public", "Public domain"),
                                ("open_commercial", "Open, commercial use allowed"),
                                ("open_noncommercial", "Open, non-commercial"),
                                ("restricted", "Restricted"),
                                ("unknown", "Unknown"),
                            ],
                            max_length=20,
                        ),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("all_buckets", models.BooleanField(default=False)),
                (
                    "buckets",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=100), blank=True, default=list, size=None
                    ),
                ),
                ("requests_per_minute", models.PositiveIntegerField(default=60)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="KeyUse",
            fields=[
                (
                    "key",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="corpus.apikey",
                    ),
                ),
                (
                    "moments",
                    django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), size=None),
                ),
            ],
        ),
        migrations.AddField(
            model_name="apikey",
            name="created_by",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="owner",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="api_keys",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="apikey",
            name="revoked_by",
            field=models.ForeignKey(
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="apikeyevent",
            name="created_by",
            field=models.ForeignKey(
                db_constraint=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="apikeyevent",
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
            model_name="apikeyevent",
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
            model_name="apikeyevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="owner_name_prefix_permissions_license_classes_all_buckets_buckets_requests_per_minute_expires_at_revoked_at_revoked_by_created_by_events",
                to="corpus.apikey",
            ),
        ),
        migrations.AddField(
            model_name="apikeyevent",
            name="revoked_by",
            field=models.ForeignKey(
                db_constraint=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="apikey",
            index=models.Index(fields=["owner", "-created_at", "id"], name="corpus_apikey_by_owner"),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="corpus_apikey_has_a_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("prefix__regex", "^[a-z2-7]{8}$")),
                name="corpus_apikey_prefix_has_its_shape",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("hash__regex", "^[0-9a-f]{64}$")), name="corpus_apikey_keeps_only_a_hash"
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "permissions__contained_by",
                        ["retrieval:query", "retrieval:answer", "corpus:read", "corpus:write"],
                    )
                ),
                name="corpus_apikey_permissions_are_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "license_classes__contained_by",
                        ["public", "open_commercial", "open_noncommercial", "restricted", "unknown"],
                    )
                ),
                name="corpus_apikey_classes_are_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("all_buckets", False), ("buckets", []), _connector="OR"),
                name="corpus_apikey_all_buckets_or_a_list",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("requests_per_minute__gte", 1), ("requests_per_minute__lte", 1000)),
                name="corpus_apikey_limit_is_bounded",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("expires_at__isnull", True), ("expires_at__gt", models.F("created_at")), _connector="OR"
                ),
                name="corpus_apikey_expires_after_it_was_made",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("revoked_at__isnull", False), ("revoked_by__isnull", True), _connector="OR"
                ),
                name="corpus_apikey_revoker_means_revoked",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_apikeyevent" ("all_buckets", "buckets", "created_by_id", "expires_at", "license_classes", "name", "owner_id", "permissions", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "requests_per_minute", "revoked_at", "revoked_by_id") VALUES (NEW."all_buckets", NEW."buckets", NEW."created_by_id", NEW."expires_at", NEW."license_classes", NEW."name", NEW."owner_id", NEW."permissions", _pgh_attach_context(), NOW(), \'insert\', NEW."id", NEW."prefix", NEW."requests_per_minute", NEW."revoked_at", NEW."revoked_by_id"); RETURN NULL;',
                    hash="8f9d28606f43b0eac730e64d88c0f28eec70693f",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_6eec2",
                    table="corpus_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="update_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."all_buckets" IS DISTINCT FROM (NEW."all_buckets") OR OLD."buckets" IS DISTINCT FROM (NEW."buckets") OR OLD."created_by_id" IS DISTINCT FROM (NEW."created_by_id") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."license_classes" IS DISTINCT FROM (NEW."license_classes") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."owner_id" IS DISTINCT FROM (NEW."owner_id") OR OLD."permissions" IS DISTINCT FROM (NEW."permissions") OR OLD."prefix" IS DISTINCT FROM (NEW."prefix") OR OLD."requests_per_minute" IS DISTINCT FROM (NEW."requests_per_minute") OR OLD."revoked_at" IS DISTINCT FROM (NEW."revoked_at") OR OLD."revoked_by_id" IS DISTINCT FROM (NEW."revoked_by_id"))',
                    func='INSERT INTO "corpus_apikeyevent" ("all_buckets", "buckets", "created_by_id", "expires_at", "license_classes", "name", "owner_id", "permissions", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "requests_per_minute", "revoked_at", "revoked_by_id") VALUES (NEW."all_buckets", NEW."buckets", NEW."created_by_id", NEW."expires_at", NEW."license_classes", NEW."name", NEW."owner_id", NEW."permissions", _pgh_attach_context(), NOW(), \'update\', NEW."id", NEW."prefix", NEW."requests_per_minute", NEW."revoked_at", NEW."revoked_by_id"); RETURN NULL;',
                    hash="8c64b53a4d6a87e7e8c2fe56f266342fd4530d30",
                    operation="UPDATE",
                    pgid="pgtrigger_update_update_6dcec",
                    table="corpus_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_apikeyevent" ("all_buckets", "buckets", "created_by_id", "expires_at", "license_classes", "name", "owner_id", "permissions", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "requests_per_minute", "revoked_at", "revoked_by_id") VALUES (OLD."all_buckets", OLD."buckets", OLD."created_by_id", OLD."expires_at", OLD."license_classes", OLD."name", OLD."owner_id", OLD."permissions", _pgh_attach_context(), NOW(), \'delete\', OLD."id", OLD."prefix", OLD."requests_per_minute", OLD."revoked_at", OLD."revoked_by_id"); RETURN NULL;',
                    hash="02a88eb75224ac68d04f5e3bf448d40bc3fb529f",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_5aba4",
                    table="corpus_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikeyevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="d6c3f3eccc75ce2b91498c6dd579aaee6073b585",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_c38be",
                    table="corpus_apikeyevent",
                    when="BEFORE",
                ),
            ),
        ),
    ]
