import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("answers", "0007_wrong_reports"),
        ("corpus", "0023_administrators_certify"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="QuestionSet",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("name", models.CharField(max_length=80, unique=True)),
                ("description", models.TextField(blank=True, default="")),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "created_by",
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
            name="Question",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("key", models.CharField(help_text="Its name within the set", max_length=80)),
                ("question", models.TextField()),
                ("reference_answer", models.TextField()),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Not said"),
                            ("lookup", "One fact"),
                            ("comparison", "Comparison"),
                            ("causal", "Cause or effect"),
                            ("overview", "Overview"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                (
                    "split",
                    models.CharField(
                        blank=True,
                        choices=[("", "Not said"), ("train", "For tuning"), ("test", "Held out")],
                        default="",
                        max_length=5,
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=80), blank=True, default=list, size=None
                    ),
                ),
                ("unanswerable", models.BooleanField(default=False, help_text="The corpus does not say")),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("written", "Written by a person"),
                            ("imported", "From a file"),
                            ("proposed", "Proposed from the corpus"),
                            ("reported", "From an answer reported as wrong"),
                        ],
                        default="written",
                        max_length=8,
                    ),
                ),
                ("author", models.CharField(blank=True, default="", max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "changed_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                ("content_sha256", models.CharField(editable=False, max_length=64)),
                ("signed_by_name", models.CharField(blank=True, default="", editable=False, max_length=150)),
                ("signed_at", models.DateTimeField(editable=False, null=True)),
                ("signed_sha256", models.CharField(blank=True, default="", editable=False, max_length=64)),
                (
                    "retired_at",
                    models.DateTimeField(
                        editable=False, help_text="Not asked any more since then", null=True
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "signed_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "wrong_report",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="answers.wrongreport",
                    ),
                ),
                (
                    "question_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="questions",
                        to="evaluation.questionset",
                    ),
                ),
            ],
            options={
                "permissions": [("sign_question", "Can sign questions")],
            },
        ),
        migrations.CreateModel(
            name="EvaluationRun",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("retrieval", "Retrieval"), ("answers", "Answers")], max_length=9
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="running",
                        max_length=9,
                    ),
                ),
                ("question_set_name", models.CharField(max_length=80)),
                (
                    "questions_sha256",
                    models.CharField(help_text="Of the contents of all questions asked", max_length=64),
                ),
                (
                    "drafted",
                    models.PositiveIntegerField(default=0, help_text="Questions that nobody had signed"),
                ),
                (
                    "reviewed",
                    models.PositiveIntegerField(default=0, help_text="Questions that an expert had signed"),
                ),
                ("scope", models.JSONField(default=dict, help_text="The effective scope")),
                ("fingerprint", models.CharField(max_length=64)),
                (
                    "snapshot",
                    models.CharField(
                        blank=True, default="", help_text="Of the corpus, by its name", max_length=100
                    ),
                ),
                ("embedding_version", models.CharField(blank=True, default="", max_length=200)),
                ("code_version", models.CharField(max_length=100)),
                (
                    "judge",
                    models.CharField(
                        blank=True, default="", help_text="Model that graded answers", max_length=200
                    ),
                ),
                ("is_self_judged", models.BooleanField(default=False)),
                (
                    "conditions",
                    models.JSONField(default=dict, help_text="Domain profile, models, prompts, seeds"),
                ),
                ("parameters", models.JSONField(default=dict, help_text="What was asked for")),
                ("planned", models.PositiveIntegerField(default=0, help_text="Results to be had")),
                ("done", models.PositiveIntegerField(default=0, help_text="Results there are, failures too")),
                ("failed", models.PositiveIntegerField(default=0)),
                ("last_error_code", models.CharField(blank=True, default="", max_length=60)),
                ("is_for_workers", models.BooleanField(default=False)),
                ("touched_at", models.DateTimeField(editable=False, null=True)),
                ("summary", models.JSONField(default=dict, editable=False)),
                ("started_by_name", models.CharField(blank=True, default="", editable=False, max_length=150)),
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
                (
                    "question_set",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="runs",
                        to="evaluation.questionset",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RunConfiguration",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("name", models.CharField(max_length=40)),
                ("profile", models.CharField(max_length=20)),
                ("switches", models.JSONField(default=dict)),
                ("options", models.JSONField(default=dict, help_text="What else it sets")),
                (
                    "refusal",
                    models.CharField(
                        blank=True, default="", help_text="Why it was not carried out", max_length=200
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="configurations",
                        to="evaluation.evaluationrun",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RunDocument",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("document_ref", models.UUIDField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="documents",
                        to="evaluation.evaluationrun",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RunQuestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("key", models.CharField(max_length=80)),
                ("content_sha256", models.CharField(max_length=64)),
                ("question", models.TextField()),
                ("reference_answer", models.TextField()),
                ("kind", models.CharField(blank=True, default="", max_length=12)),
                ("split", models.CharField(blank=True, default="", max_length=5)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=80), default=list, size=None
                    ),
                ),
                ("unanswerable", models.BooleanField(default=False)),
                ("drafted", models.BooleanField(default=True)),
                ("relevant_documents", models.PositiveIntegerField(null=True)),
                ("relevant_passages", models.PositiveIntegerField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="evaluation.evaluationrun",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="evaluation.question",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RetrievalOutcome",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "found",
                    models.JSONField(
                        default=list, help_text="In order: passage, document, hash, ranks by layer, relevance"
                    ),
                ),
                (
                    "measures",
                    models.JSONField(default=dict, help_text="By level and measure; null is undefined"),
                ),
                ("degraded", models.JSONField(default=list, help_text="Layers that failed or were late")),
                ("error_code", models.CharField(blank=True, default="", max_length=60)),
                ("milliseconds", models.FloatField(default=0.0)),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcomes",
                        to="evaluation.runconfiguration",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcomes",
                        to="evaluation.runquestion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Baseline",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=80, unique=True)),
                ("set_by_name", models.CharField(blank=True, default="", max_length=150)),
                (
                    "set_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "set_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="baselines",
                        to="evaluation.evaluationrun",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name__regex", "^[a-z0-9][a-z0-9._-]*$")),
                        name="evaluation_baseline_name_is_an_identifier",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "phrase",
                    models.TextField(
                        blank=True, default="", help_text="Verbatim; empty for a whole document"
                    ),
                ),
                ("document_sha256", models.CharField(blank=True, default="", max_length=64)),
                (
                    "doi",
                    models.CharField(blank=True, default="", help_text="In its normal form", max_length=500),
                ),
                ("title", models.TextField(blank=True, default="")),
                ("passage_sha256", models.CharField(blank=True, default="", max_length=64)),
                ("locator", models.CharField(blank=True, default="", max_length=200)),
                (
                    "document",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="corpus.document",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evidence",
                        to="evaluation.question",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("question", "number"), name="evaluation_evidence_number_is_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("document_sha256", ""), ("doi", ""), ("phrase", ""), ("title", ""), _negated=True
                        ),
                        name="evaluation_evidence_names_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("passage_sha256", ""),
                            models.Q(("document_sha256", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="evaluation_evidence_a_passage_has_a_document",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QuestionEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("created", "Written"),
                            ("changed", "Changed"),
                            ("signed", "Signed"),
                            ("unsigned", "Signature withdrawn"),
                            ("retired", "Retired"),
                            ("restored", "Taken up again"),
                        ],
                        max_length=8,
                    ),
                ),
                ("content_sha256", models.CharField(max_length=64)),
                ("by_name", models.CharField(blank=True, default="", max_length=150)),
                ("note", models.CharField(blank=True, default="", max_length=300)),
                (
                    "at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="events",
                        to="evaluation.question",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "signed"), _negated=True),
                            models.Q(("by_name", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="evaluation_questionevent_a_signature_has_a_name",
                    )
                ],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="questionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;",
                    hash="e83a38c7bdd09470cf48ec6dd67cf055771c1a39",
                    operation="UPDATE OR DELETE",
                    pgid="pgtrigger_append_only_b5ded",
                    table="evaluation_questionevent",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="questionevent",
            trigger=pgtrigger.compiler.Trigger(
                name="no_truncate",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="RAISE EXCEPTION 'pgtrigger: Cannot truncate the log of questions';",
                    hash="0ceb0ca6dc30df1ad6863a94e32be46e8a9e620e",
                    level="STATEMENT",
                    operation="TRUNCATE",
                    pgid="pgtrigger_no_truncate_6060c",
                    table="evaluation_questionevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="questionset",
            constraint=models.CheckConstraint(
                condition=models.Q(("name__regex", "^[a-z0-9][a-z0-9._-]*$")),
                name="evaluation_questionset_name_is_an_identifier",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.UniqueConstraint(
                fields=("question_set", "key"), name="evaluation_question_key_is_unique_in_its_set"
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(("key__regex", "^[a-z0-9][a-z0-9._-]*$")),
                name="evaluation_question_key_is_an_identifier",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("question", ""), _negated=True),
                    models.Q(("reference_answer", ""), _negated=True),
                ),
                name="evaluation_question_has_question_and_answer",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("signed_at__isnull", True), ("signed_by_name", ""), ("signed_sha256", "")),
                    models.Q(
                        ("signed_at__isnull", False),
                        ("signed_sha256", models.F("content_sha256")),
                        models.Q(("signed_by_name", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="evaluation_question_signed_as_it_is_now",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["", "lookup", "comparison", "causal", "overview"])),
                name="evaluation_question_kind_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="question",
            constraint=models.CheckConstraint(
                condition=models.Q(("split__in", ["", "train", "test"])),
                name="evaluation_question_split_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("finished_at__isnull", True), ("state", "running")),
                    models.Q(models.Q(("state", "running"), _negated=True), ("finished_at__isnull", False)),
                    _connector="OR",
                ),
                name="evaluation_evaluationrun_ended_when_not_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("fingerprint", ""), _negated=True),
                    models.Q(("questions_sha256", ""), _negated=True),
                    models.Q(("code_version", ""), _negated=True),
                ),
                name="evaluation_evaluationrun_says_what_was_measured",
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("done__lte", models.F("planned")), ("failed__lte", models.F("done"))),
                name="evaluation_evaluationrun_done_stays_within_planned",
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "retrieval"), _negated=True),
                    models.Q(("is_self_judged", False), ("judge", "")),
                    _connector="OR",
                ),
                name="evaluation_evaluationrun_retrieval_has_no_judge",
            ),
        ),
        migrations.AddConstraint(
            model_name="evaluationrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("summary", {}), ("state", "finished"), _connector="OR"),
                name="evaluation_evaluationrun_numbers_are_of_a_finished_run",
            ),
        ),
        migrations.AddConstraint(
            model_name="runconfiguration",
            constraint=models.UniqueConstraint(
                fields=("run", "name"), name="evaluation_runconfiguration_name_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="runconfiguration",
            constraint=models.UniqueConstraint(
                fields=("run", "number"), name="evaluation_runconfiguration_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="rundocument",
            constraint=models.UniqueConstraint(
                fields=("run", "document_ref"), name="evaluation_rundocument_named_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="runquestion",
            constraint=models.UniqueConstraint(
                fields=("run", "key"), name="evaluation_runquestion_asked_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="runquestion",
            constraint=models.UniqueConstraint(
                fields=("run", "number"), name="evaluation_runquestion_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="retrievaloutcome",
            constraint=models.UniqueConstraint(
                fields=("configuration", "question"),
                name="evaluation_retrievaloutcome_once_per_configuration",
            ),
        ),
        migrations.AddConstraint(
            model_name="retrievaloutcome",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("error_code", ""), models.Q(("found", []), ("measures", {})), _connector="OR"
                ),
                name="evaluation_retrievaloutcome_a_failure_found_nothing",
            ),
        ),
    ]
