"""Answers whose process died are closed, and keep what they had."""

from datetime import timedelta

import pytest
from django.utils import timezone

from answers.actions.answers import ABANDONED_AFTER, close_abandoned
from answers.models import Answer

pytestmark = pytest.mark.django_db


def row(*, state: Answer.State, age: timedelta, text: str = "") -> Answer:
    finish = "" if state in {"asked", "retrieved", "generating"} else Answer.Finish.STOP
    answer = Answer.objects.create(
        question="Why?", state=state, finish=finish, text=text, scope_digest="", profile="", engine=""
    )
    Answer.objects.filter(pk=answer.pk).update(created_at=timezone.now() - age)
    return answer


OLD = ABANDONED_AFTER + timedelta(seconds=1)


@pytest.mark.parametrize("state", [Answer.State.ASKED, Answer.State.RETRIEVED, Answer.State.GENERATING])
@pytest.mark.parametrize(("text", "ends_as"), [("", "failed"), ("Half of it", "partial")])
def test_a_row_beyond_the_deadline_ends_and_keeps_its_text(
    state: Answer.State, text: str, ends_as: str
) -> None:
    answer = row(state=state, age=OLD, text=text)

    assert close_abandoned(timezone.now()) == 1

    answer.refresh_from_db()
    assert (answer.state, answer.finish, answer.text) == (ends_as, "abandoned", text)
    assert answer.finished_at is not None
    assert close_abandoned(timezone.now()) == 0


def test_rows_that_run_or_have_ended_are_left_alone() -> None:
    row(state=Answer.State.GENERATING, age=timedelta(seconds=10))
    row(state=Answer.State.DONE, age=OLD)

    assert close_abandoned(timezone.now()) == 0
