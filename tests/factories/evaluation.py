"""Rows of evaluation for tests."""

import hashlib

import factory
from factory.django import DjangoModelFactory

from evaluation import models


class QuestionSetFactory(DjangoModelFactory):
    class Meta:
        model = models.QuestionSet

    name = factory.Sequence(lambda n: f"set-{n}")


class QuestionFactory(DjangoModelFactory):
    """A draft without evidence."""

    class Meta:
        model = models.Question

    question_set = factory.SubFactory(QuestionSetFactory)
    key = factory.Sequence(lambda n: f"question-{n}")
    question = factory.Sequence(lambda n: f"What of biochar {n}?")
    reference_answer = "It holds water."
    content_sha256 = factory.LazyAttribute(lambda row: hashlib.sha256(row.question.encode()).hexdigest())


class EvidenceFactory(DjangoModelFactory):
    class Meta:
        model = models.Evidence

    question = factory.SubFactory(QuestionFactory)
    number = factory.Sequence(lambda n: n)
    phrase = "Biochar holds water"


class EvaluationRunFactory(DjangoModelFactory):
    """A retrieval run that has begun."""

    class Meta:
        model = models.EvaluationRun

    kind = models.EvaluationRun.Kind.RETRIEVAL
    question_set_name = "set"
    questions_sha256 = "0" * 64
    fingerprint = "1" * 64
    code_version = "test"


class RunQuestionFactory(DjangoModelFactory):
    class Meta:
        model = models.RunQuestion

    run = factory.SubFactory(EvaluationRunFactory)
    number = factory.Sequence(lambda n: n)
    key = factory.Sequence(lambda n: f"question-{n}")
    content_sha256 = "0" * 64
    question = "What of biochar?"
    reference_answer = "It holds water."


class RunConfigurationFactory(DjangoModelFactory):
    class Meta:
        model = models.RunConfiguration

    run = factory.SubFactory(EvaluationRunFactory)
    number = factory.Sequence(lambda n: n)
    name = factory.Sequence(lambda n: f"configuration-{n}")
    profile = "deep"
