import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("answers", "0010_notebook"),
        ("evaluation", "0002_roles_and_ground_truth"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AnswerOutcome",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "answer_sha256",
                    models.CharField(
                        blank=True, default="", help_text="Of the text as judged", max_length=64
                    ),
                ),
                ("finish", models.CharField(blank=True, default="", max_length=20)),
                (
                    "abstained",
                    models.BooleanField(
                        help_text="Said that the sources do not cover the question", null=True
                    ),
                ),
                ("sources", models.PositiveSmallIntegerField(default=0)),
                ("cited", models.PositiveSmallIntegerField(default=0)),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("milliseconds", models.FloatField(default=0.0)),
                (
                    "fingerprint",
                    models.CharField(
                        blank=True, default="", help_text="Of what this answer saw", max_length=64
                    ),
                ),
                ("error_code", models.CharField(blank=True, default="", max_length=60)),
                (
                    "at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "answer",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="answers.answer",
                    ),
                ),
                (
                    "question",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answer_outcome",
                        to="evaluation.runquestion",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CalibrationItem",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "outcome",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="evaluation.answeroutcome",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="CalibrationLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("labeller_name", models.CharField(max_length=150)),
                ("is_expert", models.BooleanField()),
                ("is_adjudication", models.BooleanField(default=False)),
                ("groundedness", models.SmallIntegerField(null=True)),
                ("citation_accuracy", models.SmallIntegerField(null=True)),
                ("completeness", models.SmallIntegerField(null=True)),
                ("correctness", models.SmallIntegerField(null=True)),
                (
                    "skipped",
                    models.CharField(
                        blank=True, default="", help_text="Why it was not labelled", max_length=300
                    ),
                ),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("changed_at", models.DateTimeField(null=True)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="evaluation.calibrationitem",
                    ),
                ),
                (
                    "labeller",
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
            name="CalibrationQueue",
            fields=[
                (
                    "id",
                    models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False),
                ),
                ("seed", models.PositiveIntegerField()),
                ("created_by_name", models.CharField(blank=True, default="", editable=False, max_length=150)),
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
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calibrations",
                        to="evaluation.evaluationrun",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="calibrationitem",
            name="queue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="items",
                to="evaluation.calibrationqueue",
            ),
        ),
        migrations.CreateModel(
            name="Judgement",
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
                            ("grounding", "Against the sources"),
                            ("correctness", "Against the reference"),
                        ],
                        max_length=11,
                    ),
                ),
                ("groundedness", models.SmallIntegerField(null=True)),
                ("citation_accuracy", models.SmallIntegerField(null=True)),
                ("completeness", models.SmallIntegerField(null=True)),
                ("correctness", models.SmallIntegerField(null=True)),
                (
                    "clamped",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        default=list,
                        help_text="Dimensions given outside the rubric",
                        size=None,
                    ),
                ),
                ("error_code", models.CharField(blank=True, default="", max_length=60)),
                (
                    "prompt_sha256",
                    models.CharField(blank=True, default="", help_text="Of the prompt file", max_length=64),
                ),
                ("prompt_tokens", models.PositiveIntegerField(null=True)),
                ("completion_tokens", models.PositiveIntegerField(null=True)),
                ("milliseconds", models.FloatField(default=0.0)),
                (
                    "at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "outcome",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgements",
                        to="evaluation.answeroutcome",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="answeroutcome",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        models.Q(("error_code", ""), _negated=True),
                        ("abstained__isnull", True),
                        ("answer_sha256", ""),
                    ),
                    models.Q(
                        models.Q(("error_code", "")),
                        models.Q(("answer_sha256", ""), _negated=True),
                        ("abstained__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="evaluation_answeroutcome_is_an_answer_or_a_failure",
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationlabel",
            constraint=models.UniqueConstraint(
                fields=("item", "labeller_name"), name="evaluation_calibrationlabel_once_for_each_person"
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationlabel",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_adjudication", True), ("skipped", "")),
                fields=("item",),
                name="evaluation_calibrationlabel_adjudicated_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationlabel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        models.Q(("skipped", ""), _negated=True),
                        ("citation_accuracy__isnull", True),
                        ("completeness__isnull", True),
                        ("correctness__isnull", True),
                        ("groundedness__isnull", True),
                    ),
                    models.Q(
                        ("skipped", ""),
                        ("groundedness__gte", 0),
                        ("groundedness__isnull", False),
                        ("groundedness__lte", 2),
                        ("citation_accuracy__gte", 0),
                        ("citation_accuracy__isnull", False),
                        ("citation_accuracy__lte", 2),
                        ("completeness__gte", 0),
                        ("completeness__isnull", False),
                        ("completeness__lte", 2),
                        ("correctness__gte", 0),
                        ("correctness__isnull", False),
                        ("correctness__lte", 2),
                    ),
                    _connector="OR",
                ),
                name="evaluation_calibrationlabel_grades_all_or_says_why_not",
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationlabel",
            constraint=models.CheckConstraint(
                condition=models.Q(("labeller_name", ""), _negated=True),
                name="evaluation_calibrationlabel_has_a_labeller",
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationlabel",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("changed_at__isnull", True), ("changed_at__gte", models.F("at")), _connector="OR"
                ),
                name="evaluation_calibrationlabel_changed_after_it_was_given",
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationqueue",
            constraint=models.UniqueConstraint(
                fields=("run", "seed"), name="evaluation_calibrationqueue_drawn_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationitem",
            constraint=models.UniqueConstraint(
                fields=("queue", "number"), name="evaluation_calibrationitem_number_is_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="calibrationitem",
            constraint=models.UniqueConstraint(
                fields=("queue", "outcome"), name="evaluation_calibrationitem_drawn_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="judgement",
            constraint=models.UniqueConstraint(
                fields=("outcome", "kind"), name="evaluation_judgement_once_of_each_kind"
            ),
        ),
        migrations.AddConstraint(
            model_name="judgement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        models.Q(("error_code", ""), _negated=True),
                        ("citation_accuracy__isnull", True),
                        ("completeness__isnull", True),
                        ("groundedness__isnull", True),
                        ("clamped", []),
                        ("correctness__isnull", True),
                    ),
                    models.Q(
                        ("correctness__isnull", True),
                        ("error_code", ""),
                        ("kind", "grounding"),
                        ("groundedness__gte", 0),
                        ("groundedness__isnull", False),
                        ("groundedness__lte", 2),
                        ("citation_accuracy__gte", 0),
                        ("citation_accuracy__isnull", False),
                        ("citation_accuracy__lte", 2),
                        ("completeness__gte", 0),
                        ("completeness__isnull", False),
                        ("completeness__lte", 2),
                    ),
                    models.Q(
                        ("error_code", ""),
                        ("kind", "correctness"),
                        ("citation_accuracy__isnull", True),
                        ("completeness__isnull", True),
                        ("groundedness__isnull", True),
                        ("correctness__gte", 0),
                        ("correctness__isnull", False),
                        ("correctness__lte", 2),
                    ),
                    _connector="OR",
                ),
                name="evaluation_judgement_grades_its_pass_or_says_why_not",
            ),
        ),
    ]
