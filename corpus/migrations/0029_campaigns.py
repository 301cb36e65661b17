import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0028_librarians_have_webhooks"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(max_length=80, unique=True)),
                ("created_by_name", models.CharField(blank=True, default="", editable=False, max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CampaignRun",
            fields=[
                ("max_tokens", models.PositiveBigIntegerField(blank=True, null=True)),
                ("max_cost_usd", models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True)),
                ("calls_made", models.PositiveBigIntegerField(default=0, editable=False)),
                ("tokens_used", models.PositiveBigIntegerField(default=0, editable=False)),
                ("cost_usd", models.DecimalField(decimal_places=8, default=0, editable=False, max_digits=16)),
                ("unpriced_calls", models.PositiveBigIntegerField(default=0, editable=False)),
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("discover", "Finding works"),
                            ("screen", "Screening"),
                            ("resolve", "Asking for licences"),
                            ("build", "Building the collection"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("failed", "Ended early"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="running",
                        max_length=9,
                    ),
                ),
                ("parameters", models.JSONField(default=dict, help_text="What was asked for")),
                (
                    "total",
                    models.PositiveIntegerField(help_text="Steps, as far as they are known", null=True),
                ),
                ("done", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                ("last_error_code", models.CharField(blank=True, default="", max_length=60)),
                ("is_for_workers", models.BooleanField(default=False)),
                ("attempt", models.PositiveIntegerField(default=0, editable=False)),
                ("worker", models.CharField(blank=True, default="", editable=False, max_length=200)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("started_by_name", models.CharField(blank=True, default="", editable=False, max_length=200)),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("finished_at", models.DateTimeField(editable=False, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="CampaignSearch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "provider",
                    models.CharField(
                        choices=[("openalex", "OpenAlex"), ("crossref", "Crossref")], max_length=12
                    ),
                ),
                ("topic", models.CharField(blank=True, default="", max_length=500)),
                (
                    "is_list",
                    models.BooleanField(default=False, help_text="Whether DOIs are asked for, and no topic"),
                ),
                ("dois", models.JSONField(default=list, help_text="As listed, in order; empty for a topic")),
                (
                    "key",
                    models.CharField(
                        editable=False, help_text="The same question again has the same", max_length=64
                    ),
                ),
                ("most", models.PositiveIntegerField(help_text="Records to read at most")),
                (
                    "reported",
                    models.PositiveIntegerField(
                        editable=False, help_text="Records the index knows of", null=True
                    ),
                ),
                ("is_done", models.BooleanField(default=False, editable=False)),
                (
                    "asked_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Candidate",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("number", models.PositiveIntegerField(help_text="In the order they were found")),
                (
                    "key",
                    models.CharField(help_text="The DOI, else the index's own identifier", max_length=520),
                ),
                ("doi", models.CharField(blank=True, default="", max_length=500)),
                ("title", models.TextField(blank=True, default="")),
                ("authors", models.JSONField(default=list)),
                ("year", models.SmallIntegerField(null=True)),
                ("venue", models.TextField(blank=True, default="")),
                ("kind", models.CharField(blank=True, default="", max_length=60)),
                ("language", models.CharField(blank=True, default="", max_length=20)),
                ("abstract", models.TextField(blank=True, default="")),
                (
                    "found_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FullText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("resolved", "May be fetched"),
                            ("refused", "Refused"),
                            ("fetched", "Fetched"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        blank=True, default="", help_text="Stable name of the refusal", max_length=40
                    ),
                ),
                ("places", models.JSONField(default=list)),
                ("attempts", models.JSONField(default=list)),
                ("url", models.CharField(blank=True, default="", max_length=2048)),
                (
                    "license_source",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="The licence as Unpaywall has it, verbatim",
                        max_length=400,
                    ),
                ),
                (
                    "license_class",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("public", "Public domain"),
                            ("open_commercial", "Open, commercial use allowed"),
                            ("open_noncommercial", "Open, non-commercial"),
                            ("restricted", "Restricted"),
                            ("unknown", "Unknown"),
                        ],
                        default="",
                        help_text="What that signal is read as; a person decides",
                        max_length=20,
                    ),
                ),
                ("version", models.CharField(blank=True, default="", max_length=60)),
                ("sha256", models.CharField(blank=True, default="", max_length=64)),
                ("size", models.PositiveBigIntegerField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("fetched_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Screening",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("include", "Included"),
                            ("exclude", "Excluded"),
                            ("review", "Waits for a person"),
                        ],
                        max_length=8,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ScreeningDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("include", "Included"),
                            ("exclude", "Excluded"),
                            ("review", "Waits for a person"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Decided"),
                            ("low_confidence", "The model was not sure enough"),
                            ("malformed", "The model’s reply was not what it was asked for"),
                            ("no_abstract", "There is no abstract to judge by"),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                (
                    "made_by",
                    models.CharField(
                        choices=[("model", "A model"), ("person", "A person"), ("rule", "A rule")],
                        max_length=6,
                    ),
                ),
                ("reason", models.TextField(blank=True, default="")),
                (
                    "suggested",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("include", "Included"),
                            ("exclude", "Excluded"),
                            ("review", "Waits for a person"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                ("confidence", models.FloatField(null=True)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("prompt_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("decided_by_name", models.CharField(blank=True, default="", editable=False, max_length=200)),
                (
                    "decided_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ScreeningRound",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("criteria", models.TextField()),
                ("criteria_sha256", models.CharField(editable=False, max_length=64)),
                ("started_by_name", models.CharField(blank=True, default="", editable=False, max_length=200)),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SearchPage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("asked_for", models.CharField(help_text="The cursor, or the DOI", max_length=2000)),
                ("next_cursor", models.CharField(blank=True, default="", max_length=2000)),
                ("records", models.PositiveIntegerField(default=0)),
                (
                    "unreadable",
                    models.PositiveIntegerField(default=0, help_text="Records without identifier or title"),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True, default="", help_text="Why there is no record", max_length=40
                    ),
                ),
                ("body", models.BinaryField(help_text="The answer, packed")),
                ("body_sha256", models.CharField(editable=False, max_length=64)),
                (
                    "fetched_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="campaign",
            name="created_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="campaignrun",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="corpus.campaign"
            ),
        ),
        migrations.AddField(
            model_name="campaignrun",
            name="ingestion",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="campaign_runs",
                to="corpus.ingestionrun",
            ),
        ),
        migrations.AddField(
            model_name="campaignrun",
            name="started_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="campaignsearch",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="searches", to="corpus.campaign"
            ),
        ),
        migrations.AddField(
            model_name="candidate",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="candidates", to="corpus.campaign"
            ),
        ),
        migrations.AddField(
            model_name="candidate",
            name="search",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="candidates",
                to="corpus.campaignsearch",
            ),
        ),
        migrations.AddField(
            model_name="fulltext",
            name="candidate",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="full_text", to="corpus.candidate"
            ),
        ),
        migrations.AddField(
            model_name="fulltext",
            name="item",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="full_texts",
                to="corpus.ingestionitem",
            ),
        ),
        migrations.AddField(
            model_name="screening",
            name="candidate",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="screenings", to="corpus.candidate"
            ),
        ),
        migrations.AddField(
            model_name="screeningdecision",
            name="decided_by",
            field=models.ForeignKey(
                db_constraint=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="screeningdecision",
            name="screening",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="decisions", to="corpus.screening"
            ),
        ),
        migrations.AddField(
            model_name="screeningdecision",
            name="undoes",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="undone_by",
                to="corpus.screeningdecision",
            ),
        ),
        migrations.AddField(
            model_name="screeninground",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="rounds", to="corpus.campaign"
            ),
        ),
        migrations.AddField(
            model_name="screeninground",
            name="started_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="screening",
            name="round",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="screenings",
                to="corpus.screeninground",
            ),
        ),
        migrations.AddField(
            model_name="searchpage",
            name="search",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="pages", to="corpus.campaignsearch"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("name", ""), _negated=True), name="corpus_campaign_has_a_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignrun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "running")),
                fields=("campaign",),
                name="corpus_campaignrun_one_runs_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at__isnull", True), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("finished_at__isnull", False)),
                    _connector="OR",
                ),
                name="corpus_campaignrun_ended_when_not_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("lease_until__isnull", True),
                    models.Q(("state", "running"), models.Q(("worker", ""), _negated=True)),
                    _connector="OR",
                ),
                name="corpus_campaignrun_leased_to_a_worker",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignsearch",
            constraint=models.UniqueConstraint(
                fields=("campaign", "number"), name="corpus_campaignsearch_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignsearch",
            constraint=models.UniqueConstraint(
                fields=("campaign", "key"), name="corpus_campaignsearch_asked_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignsearch",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("is_list", True), ("topic", "")),
                    models.Q(("is_list", False), models.Q(("topic", ""), _negated=True)),
                    _connector="OR",
                ),
                name="corpus_campaignsearch_topic_or_dois",
            ),
        ),
        migrations.AddConstraint(
            model_name="candidate",
            constraint=models.UniqueConstraint(
                fields=("campaign", "key"), name="corpus_candidate_counted_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="candidate",
            constraint=models.UniqueConstraint(
                fields=("campaign", "number"), name="corpus_candidate_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="fulltext",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "refused"), models.Q(("code", ""), _negated=True)),
                    models.Q(models.Q(("state", "refused"), _negated=True), ("code", "")),
                    _connector="OR",
                ),
                name="corpus_fulltext_a_refusal_has_a_name",
            ),
        ),
        migrations.AddConstraint(
            model_name="fulltext",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "fetched"), _negated=True),
                    models.Q(
                        models.Q(("sha256", ""), _negated=True),
                        models.Q(("license_source", ""), _negated=True),
                        models.Q(("url", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="corpus_fulltext_fetched_with_licence_and_hash",
            ),
        ),
        migrations.AddConstraint(
            model_name="screeningdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict", "review"), ("code", ""), _connector="OR"),
                name="corpus_screeningdecision_a_code_asks_for_a_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="screeningdecision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confidence__isnull", True),
                    models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                    _connector="OR",
                ),
                name="corpus_screeningdecision_confidence_is_a_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="screeningdecision",
            constraint=models.UniqueConstraint(
                fields=("undoes",), name="corpus_screeningdecision_undone_once"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="screeningdecision",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="f5f487b0f195c6b27dde1ad09fe54e300a23e1a9",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_4df18",
                    table="corpus_screeningdecision",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="screeninground",
            constraint=models.UniqueConstraint(
                fields=("campaign", "number"), name="corpus_screeninground_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="screening",
            constraint=models.UniqueConstraint(
                fields=("round", "candidate"), name="corpus_screening_screened_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="screening",
            constraint=models.CheckConstraint(
                condition=models.Q(("verdict__in", ["include", "exclude", "review"])),
                name="corpus_screening_verdict_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="searchpage",
            constraint=models.UniqueConstraint(
                fields=("search", "number"), name="corpus_searchpage_number_is_unique"
            ),
        ),
    ]
