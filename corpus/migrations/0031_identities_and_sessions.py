"""Who vouches for an account, what its groups stand for, sessions with their owner, attempts to sign in."""

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
        ("auth", "0012_alter_user_first_name_max_length"),
        ("corpus", "0030_librarians_run_campaigns"),
        ("pghistory", "0007_auto_20250421_0444"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="GroupMapping",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "claimed",
                    models.CharField(help_text="A group at the provider, to the letter", max_length=255),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GroupMappingEvent",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("id", models.BigIntegerField()),
                (
                    "claimed",
                    models.CharField(help_text="A group at the provider, to the letter", max_length=255),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Identity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("issuer", models.CharField(max_length=500)),
                ("subject", models.CharField(max_length=255)),
                (
                    "claimed",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=255), blank=True, default=list, size=None
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("confirmed_at", models.DateTimeField(help_text="When the provider last vouched for it")),
            ],
        ),
        migrations.CreateModel(
            name="PersonSession",
            fields=[
                (
                    "session_key",
                    models.CharField(
                        max_length=40, primary_key=True, serialize=False, verbose_name="session key"
                    ),
                ),
                ("session_data", models.TextField(verbose_name="session data")),
                ("expire_date", models.DateTimeField(db_index=True, verbose_name="expire date")),
                ("number", models.UUIDField(null=True, unique=True)),
                ("begun_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField(null=True)),
                ("agent", models.CharField(blank=True, default="", max_length=300)),
                ("address", models.GenericIPAddressField(null=True)),
                (
                    "provider_session",
                    models.UUIDField(help_text="What its provider is asked with", null=True),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ProviderGrant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "also_by_hand",
                    models.BooleanField(default=False, help_text="The account was in the group before"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProviderSession",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("tokens", models.BinaryField(help_text="Sealed with the site's secret key")),
                ("checked_at", models.DateTimeField()),
                ("asking_until", models.DateTimeField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SignInCount",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("tried", models.PositiveIntegerField(default=0)),
                ("since", models.DateTimeField(null=True)),
                ("until", models.DateTimeField(null=True)),
                ("pauses", models.PositiveIntegerField(default=0)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="trackeduser",
            trigger=pgtrigger.compiler.Trigger(
                name="end_sessions",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.password IS DISTINCT FROM NEW.password OR (OLD.is_active AND NOT NEW.is_active))",
                    func="DELETE FROM corpus_personsession WHERE person_id = NEW.id; RETURN NULL;",
                    hash="bc38a6f812682a55210a84115c6e0f7de90f78c4",
                    operation="UPDATE",
                    pgid="pgtrigger_end_sessions_ea7f7",
                    table="auth_user",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="groupmapping",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="mappings", to="auth.group"
            ),
        ),
        migrations.AddField(
            model_name="groupmappingevent",
            name="group",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="auth.group",
            ),
        ),
        migrations.AddField(
            model_name="groupmappingevent",
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
            model_name="groupmappingevent",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="events",
                to="corpus.groupmapping",
            ),
        ),
        migrations.AddField(
            model_name="identity",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="identities",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="personsession",
            name="person",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="sessions",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="providergrant",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="auth.group"
            ),
        ),
        migrations.AddField(
            model_name="providergrant",
            name="identity",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="grants", to="corpus.identity"
            ),
        ),
        migrations.AddField(
            model_name="providersession",
            name="identity",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="sessions", to="corpus.identity"
            ),
        ),
        migrations.AddConstraint(
            model_name="groupmapping",
            constraint=models.UniqueConstraint(
                fields=("claimed", "group"), name="corpus_groupmapping_stands_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="groupmapping",
            constraint=models.CheckConstraint(
                condition=models.Q(("claimed", ""), _negated=True), name="corpus_groupmapping_names_a_group"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="groupmapping",
            trigger=pgtrigger.compiler.Trigger(
                name="insert_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_groupmappingevent" ("claimed", "created_at", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."claimed", NEW."created_at", NEW."group_id", NEW."id", _pgh_attach_context(), NOW(), \'insert\', NEW."id"); RETURN NULL;',
                    hash="bdd8047a0e07ff52dd35f06c7954a376f839ae64",
                    operation="INSERT",
                    pgid="pgtrigger_insert_insert_f1fe1",
                    table="corpus_groupmapping",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="groupmapping",
            trigger=pgtrigger.compiler.Trigger(
                name="delete_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "corpus_groupmappingevent" ("claimed", "created_at", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (OLD."claimed", OLD."created_at", OLD."group_id", OLD."id", _pgh_attach_context(), NOW(), \'delete\', OLD."id"); RETURN NULL;',
                    hash="b648612a3c9b374d773fdd95826eb3dc05e94c5d",
                    operation="DELETE",
                    pgid="pgtrigger_delete_delete_3d027",
                    table="corpus_groupmapping",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="groupmappingevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="431d6142189854ac7b6c0562097ca8700c608d12",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_fa7ba",
                    table="corpus_groupmappingevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="identity",
            constraint=models.UniqueConstraint(
                fields=("issuer", "subject"), name="corpus_identity_subject_is_one_account"
            ),
        ),
        migrations.AddConstraint(
            model_name="identity",
            constraint=models.UniqueConstraint(
                fields=("user", "issuer"), name="corpus_identity_account_is_one_subject"
            ),
        ),
        migrations.AddConstraint(
            model_name="identity",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("issuer", ""), _negated=True), models.Q(("subject", ""), _negated=True)
                ),
                name="corpus_identity_is_of_somebody",
            ),
        ),
        migrations.AddConstraint(
            model_name="providergrant",
            constraint=models.UniqueConstraint(
                fields=("identity", "group"), name="corpus_providergrant_is_granted_once"
            ),
        ),
    ]
