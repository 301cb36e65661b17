"""Factories of judged answers and of labels."""

import factory
from factory.django import DjangoModelFactory

from answers.models import Answer, AnswerSource
from evaluation import models
from tests.factories.evaluation import EvaluationRunFactory, RunQuestionFactory


class AnswersRunFactory(EvaluationRunFactory):
    """A run of answers that has begun."""

    kind = models.EvaluationRun.Kind.ANSWERS
    judge = "judge-model"


class AnswerFactory(DjangoModelFactory):
    """A stored answer of the operator's."""

    class Meta:
        model = Answer

    question = "What of biochar?"
    text = "Biochar holds water [1]."
    state = "done"
    finish = "stop"
    scope_digest = "0" * 64
    profile = "interactive"
    engine = "extractive"


class AnswerSourceFactory(DjangoModelFactory):
    """A numbered source that is the passage `chunk`."""

    class Meta:
        model = AnswerSource

    answer = factory.SubFactory(AnswerFactory)
    number = 1
    is_cited = True
    document = factory.SelfAttribute("chunk.document")
    title = factory.SelfAttribute("chunk.document.title")
    license_class = factory.SelfAttribute("chunk.document.license_class")
    bucket = factory.SelfAttribute("chunk.document.bucket")
    content_sha256 = factory.SelfAttribute("chunk.content_sha256")
    locator = factory.SelfAttribute("chunk.locator")
    score = 0.731


class AnswerOutcomeFactory(DjangoModelFactory):
    class Meta:
        model = models.AnswerOutcome

    question = factory.SubFactory(RunQuestionFactory, run=factory.SubFactory(AnswersRunFactory))
    answer = factory.SubFactory(AnswerFactory)
    answer_sha256 = "a" * 64
    finish = "stop"
    abstained = False


class JudgementFactory(DjangoModelFactory):
    """The judge's grades against the sources."""

    class Meta:
        model = models.Judgement

    outcome = factory.SubFactory(AnswerOutcomeFactory)
    kind = "grounding"
    groundedness = 2
    citation_accuracy = 1
    completeness = 0


class QueueFactory(DjangoModelFactory):
    class Meta:
        model = models.CalibrationQueue

    run = factory.SubFactory(AnswersRunFactory)
    seed = factory.Sequence(lambda n: n)


class ItemFactory(DjangoModelFactory):
    class Meta:
        model = models.CalibrationItem

    queue = factory.SubFactory(QueueFactory)
    number = factory.Sequence(lambda n: n + 1)
    outcome = factory.SubFactory(AnswerOutcomeFactory)


class LabelFactory(DjangoModelFactory):
    class Meta:
        model = models.CalibrationLabel

    item = factory.SubFactory(ItemFactory)
    labeller_name = factory.Sequence(lambda n: f"labeller-{n}")
    is_expert = True
    groundedness = 2
    citation_accuracy = 1
    completeness = 0
    correctness = 1
