import uuid

import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("corpus", "0015_checks_have_rows_of_their_own"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CommunityBuild",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("scope_name", models.CharField(max_length=60)),
                ("scope", models.JSONField(help_text="What the name stood for when it was built")),
                (
                    "graph_sha256",
                    models.CharField(help_text="Digest of the graph it was built from", max_length=64),
                ),
                (
                    "method",
                    models.CharField(help_text="Algorithm, its version and its numbers", max_length=100),
                ),
                ("is_current", models.BooleanField(default=False)),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("finished_at", models.DateTimeField(editable=False, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)),
                        fields=("scope_name",),
                        name="retrieval_communitybuild_one_is_current",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("is_current", False), ("finished_at__isnull", False), _connector="OR"
                        ),
                        name="retrieval_communitybuild_current_means_finished",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("scope_name", ""), _negated=True),
                        name="retrieval_communitybuild_scope_is_named",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Community",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("level", models.PositiveSmallIntegerField(default=0, help_text="0 is the finest")),
                (
                    "key",
                    models.CharField(help_text="From its members: the same after a re-ingest", max_length=64),
                ),
                ("title", models.CharField(max_length=300)),
                ("summary", models.TextField()),
                (
                    "written_by",
                    models.CharField(help_text="'extractive' or the model's name", max_length=200),
                ),
                ("vector", pgvector.django.halfvec.HalfVectorField(null=True)),
                (
                    "parent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="retrieval.community",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="corpus.embeddingversion",
                    ),
                ),
                (
                    "build",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="communities",
                        to="retrieval.communitybuild",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "communities",
            },
        ),
        migrations.CreateModel(
            name="CommunityDocument",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "community",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="retrieval.community",
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.document"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="community",
            name="documents",
            field=models.ManyToManyField(
                related_name="+", through="retrieval.CommunityDocument", to="corpus.document"
            ),
        ),
        migrations.CreateModel(
            name="Entity",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("type", models.CharField(help_text="A type of the ontology", max_length=60)),
                ("key", models.CharField(help_text="The name as names are compared", max_length=300)),
                (
                    "sense",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Tells homonyms apart after a split"
                    ),
                ),
                ("name", models.CharField(max_length=300)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "canonical_entity",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tombstones",
                        to="retrieval.entity",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "entities",
            },
        ),
        migrations.CreateModel(
            name="Description",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("start", models.PositiveIntegerField()),
                ("quote", models.TextField()),
                (
                    "chunk",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.chunk"
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.document"
                    ),
                ),
                (
                    "entity",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="descriptions",
                        to="retrieval.entity",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CommunityMember",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "community",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="retrieval.community",
                    ),
                ),
                (
                    "entity",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="retrieval.entity"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="community",
            name="members",
            field=models.ManyToManyField(
                related_name="communities", through="retrieval.CommunityMember", to="retrieval.entity"
            ),
        ),
        migrations.CreateModel(
            name="ExtractionRun",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("extractor", models.CharField(max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "Running"), ("finished", "Finished"), ("failed", "Failed")],
                        default="running",
                        max_length=8,
                    ),
                ),
                ("passages", models.PositiveIntegerField(default=0, help_text="To be read when it started")),
                ("passages_done", models.PositiveIntegerField(default=0)),
                ("batches_done", models.PositiveIntegerField(default=0)),
                ("batches_failed", models.PositiveIntegerField(default=0)),
                ("entities_added", models.PositiveIntegerField(default=0)),
                ("mentions_added", models.PositiveIntegerField(default=0)),
                ("relationships_added", models.PositiveIntegerField(default=0)),
                (
                    "dropped",
                    models.JSONField(default=dict, help_text="How many suggestions were left out, by reason"),
                ),
                ("last_error_code", models.CharField(blank=True, default="", max_length=60)),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("finished_at", models.DateTimeField(editable=False, null=True)),
                (
                    "started_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Mention",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("start", models.PositiveIntegerField()),
                ("surface", models.CharField(help_text="Verbatim", max_length=300)),
                ("surface_key", models.CharField(help_text="As names are compared", max_length=300)),
                (
                    "chunk",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.chunk"
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.document"
                    ),
                ),
                (
                    "entity",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="retrieval.entity",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MergeProposal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tier", models.PositiveSmallIntegerField()),
                ("method", models.CharField(help_text="What found the pair", max_length=60)),
                ("confidence", models.FloatField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "Proposed"),
                            ("approved", "Approved"),
                            ("rejected", "Rejected"),
                            ("never", "Different, never ask again"),
                        ],
                        default="proposed",
                        max_length=8,
                    ),
                ),
                (
                    "proposed_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("decided_at", models.DateTimeField(editable=False, null=True)),
                ("decided_by_name", models.CharField(blank=True, default="", max_length=150)),
                (
                    "decided_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "high",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="retrieval.entity"
                    ),
                ),
                (
                    "low",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="retrieval.entity"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Relationship",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("start", models.PositiveIntegerField()),
                ("type", models.CharField(help_text="A relation of the ontology", max_length=60)),
                ("quote", models.TextField(help_text="Verbatim")),
                (
                    "confidence",
                    models.FloatField(help_text="1.0 said directly, 0.7 strongly implied, 0.4 inferred"),
                ),
                (
                    "chunk",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.chunk"
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus.document"
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outgoing",
                        to="retrieval.entity",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incoming",
                        to="retrieval.entity",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ResolutionAudit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "act",
                    models.CharField(
                        choices=[("merge", "Merged"), ("undo", "Merge undone"), ("split", "Split")],
                        max_length=8,
                    ),
                ),
                ("tier", models.PositiveSmallIntegerField(null=True)),
                ("method", models.CharField(max_length=60)),
                ("confidence", models.FloatField(null=True)),
                ("inverse", models.JSONField(default=dict)),
                (
                    "happened_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("done_by_name", models.CharField(blank=True, default="", max_length=150)),
                (
                    "done_by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "loser",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="retrieval.entity",
                    ),
                ),
                (
                    "undoes",
                    models.OneToOneField(
                        help_text="The act taken back",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="undone_by",
                        to="retrieval.resolutionaudit",
                    ),
                ),
                (
                    "winner",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="retrieval.entity",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ChunkStamp",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("extractor", models.CharField(max_length=100)),
                ("content_sha256", models.CharField(max_length=64)),
                (
                    "stamped_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "chunk",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="graph_stamps",
                        to="corpus.chunk",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("chunk", "extractor"), name="retrieval_chunkstamp_once_per_extractor"
                    )
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="communitydocument",
            constraint=models.UniqueConstraint(
                fields=("community", "document"), name="retrieval_communitydocument_once"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="communitydocument",
            trigger=pgtrigger.compiler.Trigger(
                name="summary_goes_with_its_document",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n                    DELETE FROM retrieval_communitymember WHERE community_id = OLD.community_id;\n                    DELETE FROM retrieval_communitydocument WHERE community_id = OLD.community_id;\n                    UPDATE retrieval_community SET parent_id = NULL WHERE parent_id = OLD.community_id;\n                    DELETE FROM retrieval_community WHERE id = OLD.community_id;\n                    RETURN NULL;\n                ",
                    hash="f5fb79ef81b7cfb6a248a5cc951f29d67b052d6f",
                    operation="DELETE",
                    pgid="pgtrigger_summary_goes_with_its_document_a9bd6",
                    table="retrieval_communitydocument",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddIndex(
            model_name="entity",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["key"], name="retrieval_entity_key_trigrams", opclasses=["gin_trgm_ops"]
            ),
        ),
        migrations.AddConstraint(
            model_name="entity",
            constraint=models.UniqueConstraint(
                fields=("type", "key", "sense"), name="retrieval_entity_one_per_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="entity",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("type", ""), _negated=True),
                    models.Q(("key", ""), _negated=True),
                    models.Q(("name", ""), _negated=True),
                ),
                name="retrieval_entity_is_named",
            ),
        ),
        migrations.AddConstraint(
            model_name="entity",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("canonical_entity__isnull", True),
                    models.Q(("canonical_entity", models.F("id")), _negated=True),
                    _connector="OR",
                ),
                name="retrieval_entity_not_its_own_tombstone",
            ),
        ),
        migrations.AddConstraint(
            model_name="description",
            constraint=models.UniqueConstraint(
                fields=("entity", "chunk"), name="retrieval_description_once_per_passage"
            ),
        ),
        migrations.AddConstraint(
            model_name="description",
            constraint=models.CheckConstraint(
                condition=models.Q(("quote", ""), _negated=True), name="retrieval_description_quotes"
            ),
        ),
        migrations.AddConstraint(
            model_name="communitymember",
            constraint=models.UniqueConstraint(
                fields=("community", "entity"), name="retrieval_communitymember_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="community",
            constraint=models.UniqueConstraint(
                fields=("build", "level", "key"), name="retrieval_community_one_per_members"
            ),
        ),
        migrations.AddConstraint(
            model_name="community",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("summary", ""), _negated=True), models.Q(("written_by", ""), _negated=True)
                ),
                name="retrieval_community_is_summarised",
            ),
        ),
        migrations.AddConstraint(
            model_name="community",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("parent__isnull", True),
                    models.Q(("parent", models.F("id")), _negated=True),
                    _connector="OR",
                ),
                name="retrieval_community_not_in_itself",
            ),
        ),
        migrations.AddConstraint(
            model_name="extractionrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at__isnull", True), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("finished_at__isnull", False)),
                    _connector="OR",
                ),
                name="retrieval_extractionrun_ended_when_not_running",
            ),
        ),
        migrations.AddIndex(
            model_name="mention",
            index=models.Index(fields=["surface_key", "entity"], name="retrieval_mention_surface"),
        ),
        migrations.AddIndex(
            model_name="mention",
            index=django.contrib.postgres.indexes.GinIndex(
                fields=["surface_key"], name="retrieval_mention_trigrams", opclasses=["gin_trgm_ops"]
            ),
        ),
        migrations.AddConstraint(
            model_name="mention",
            constraint=models.UniqueConstraint(
                fields=("entity", "chunk", "surface"), name="retrieval_mention_once_per_passage"
            ),
        ),
        migrations.AddConstraint(
            model_name="mention",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("surface", ""), _negated=True), models.Q(("surface_key", ""), _negated=True)
                ),
                name="retrieval_mention_says_something",
            ),
        ),
        migrations.AddIndex(
            model_name="mergeproposal",
            index=models.Index(
                condition=models.Q(("state", "proposed")),
                fields=["tier", "-confidence", "id"],
                name="retrieval_proposals_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="mergeproposal",
            constraint=models.UniqueConstraint(
                fields=("low", "high"), name="retrieval_mergeproposal_one_per_pair"
            ),
        ),
        migrations.AddConstraint(
            model_name="mergeproposal",
            constraint=models.CheckConstraint(
                condition=models.Q(("low__lt", models.F("high"))),
                name="retrieval_mergeproposal_lesser_id_first",
            ),
        ),
        migrations.AddConstraint(
            model_name="mergeproposal",
            constraint=models.CheckConstraint(
                condition=models.Q(("tier__in", [1, 2, 3])), name="retrieval_mergeproposal_tier_is_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="mergeproposal",
            constraint=models.CheckConstraint(
                condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                name="retrieval_mergeproposal_confidence_is_a_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="mergeproposal",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at__isnull", True), ("state", "proposed")),
                    models.Q(models.Q(("state", "proposed"), _negated=True), ("decided_at__isnull", False)),
                    _connector="OR",
                ),
                name="retrieval_mergeproposal_decided_when_not_proposed",
            ),
        ),
        migrations.AddConstraint(
            model_name="relationship",
            constraint=models.UniqueConstraint(
                fields=("source", "target", "type", "chunk"), name="retrieval_relationship_once_per_passage"
            ),
        ),
        migrations.AddConstraint(
            model_name="relationship",
            constraint=models.CheckConstraint(
                condition=models.Q(("source", models.F("target")), _negated=True),
                name="retrieval_relationship_joins_two_entities",
            ),
        ),
        migrations.AddConstraint(
            model_name="relationship",
            constraint=models.CheckConstraint(
                condition=models.Q(("confidence__in", (1.0, 0.7, 0.4))),
                name="retrieval_relationship_confidence_is_a_level",
            ),
        ),
        migrations.AddConstraint(
            model_name="relationship",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("quote", ""), _negated=True), models.Q(("type", ""), _negated=True)
                ),
                name="retrieval_relationship_quotes",
            ),
        ),
        migrations.AddConstraint(
            model_name="resolutionaudit",
            constraint=models.CheckConstraint(
                condition=models.Q(("winner", models.F("loser")), _negated=True),
                name="retrieval_resolutionaudit_speaks_of_two",
            ),
        ),
        migrations.AddConstraint(
            model_name="resolutionaudit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("act", "undo"), ("undoes__isnull", False)),
                    models.Q(models.Q(("act", "undo"), _negated=True), ("undoes__isnull", True)),
                    _connector="OR",
                ),
                name="retrieval_resolutionaudit_undo_names_what",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="resolutionaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="9208ebfbd605d57a1e3a3997600806f98977958a",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_3a374",
                    table="retrieval_resolutionaudit",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="resolutionaudit",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot truncate the log of merged entities';",
                    hash="e80dd8db37d9a65425faa236d82eb315a6a4e1bd",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_9148b",
                    table="retrieval_resolutionaudit",
                    when="BEFORE",
                ),
            ),
        ),
    ]
