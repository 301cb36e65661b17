"""People label blind, each within what they may see; a third decides; the labels travel as a file."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus.models import Chunk, Document
from evaluation.actions import calibration as action
from evaluation.actions.calibration import CalibrationError, NotYours
from evaluation.actions.labels import Imported, import_labels
from evaluation.calibration import files, measuring, queries
from evaluation.calibration.files import LabelFileError
from evaluation.judging.rubric import DIMENSIONS
from evaluation.models import CalibrationItem, CalibrationLabel, CalibrationQueue, EvaluationRun
from tests.integration.evaluation.calibrating import judged_run, labeller, sample

pytestmark = pytest.mark.django_db

TWOS = dict.fromkeys(DIMENSIONS, 2)
POSTED = dict.fromkeys(DIMENSIONS, "2")


@pytest.fixture
def ada() -> User:
    return labeller("ada")


@pytest.fixture
def ben() -> User:
    return labeller("ben")


@pytest.fixture
def cyd() -> User:
    return labeller("cyd")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(item: CalibrationItem, route: str = "calibration_item") -> str:
    return reverse(route, args=[item.pk])


def grade_all(queue: CalibrationQueue, user: User, **changes: int) -> None:
    for item in queue.items.order_by("number"):
        action.label(item=item, grades=TWOS | changes, by=user)


def test_only_answers_of_a_finished_run_are_drawn_and_each_seed_draws_once() -> None:
    run = judged_run(3)
    queue = action.draw(run=run, size=2, seed=5, by=None)

    assert queue.items.count() == 2
    with pytest.raises(CalibrationError, match="drawn a sample"):
        action.draw(run=run, size=2, seed=5, by=None)
    EvaluationRun.objects.filter(pk=run.pk).update(state="cancelled", summary={})
    run.refresh_from_db()
    with pytest.raises(CalibrationError, match="finished"):
        action.draw(run=run, size=2, seed=6, by=None)


def test_an_item_with_a_source_out_of_reach_is_never_shown_nor_counted(ada: User) -> None:
    queue = sample(5, restricted=[1, 3])
    secret = [
        item for item in queue.items.all() if item.outcome.question.key in {"question-01", "question-03"}
    ]
    client = signed_in(ada)

    desk = queries.desk(queue, ada)

    assert desk.total == 3
    for item in secret:
        assert client.get(address(item)).status_code == 404
        assert client.post(address(item), POSTED).status_code == 404
        assert client.post(address(item, "calibration_skip"), {"reason": "x"}).status_code == 404
        with pytest.raises(NotYours):
            action.label(item=item, grades=TWOS, by=ada)
    assert "of 3 done by you" in client.get(reverse("calibration", args=[queue.pk])).content.decode()


def test_a_sample_of_which_one_may_see_nothing_does_not_exist(ada: User) -> None:
    queue = sample(2, restricted=[0, 1])
    client = signed_in(ada)

    assert client.get(reverse("calibration", args=[queue.pk])).status_code == 404
    assert str(queue.pk) not in client.get(reverse("calibrations")).content.decode()


@pytest.mark.parametrize("change", ["document", "passage", "text"])
def test_an_item_that_lost_a_source_is_shown_to_nobody(ada: User, change: str) -> None:
    queue = sample(1)
    if change == "document":
        Document.objects.get().delete()
    elif change == "passage":
        Chunk.objects.all().delete()
    else:
        Chunk.objects.update(content_sha256="f" * 64)

    assert queries.desk(queue, ada).total == 0


def test_an_items_page_holds_what_is_graded_and_nothing_that_unblinds(ada: User, ben: User) -> None:
    queue = sample(1)
    (item,) = queue.items.all()
    action.label(item=item, grades=dict.fromkeys(DIMENSIONS, 1), by=ben)

    page = signed_in(ada).get(address(item)).content.decode()

    for shown in ("How much is number 0?", "It is 0 L", "Passage 0 says 0 L.", "Reference 0."):
        assert shown in page
    for hidden in (
        "judge-canary",
        "extractive",
        "interactive",
        "vector",
        "keyword",
        "0.731",
        "ben",
        "checked",
    ):
        assert hidden not in page, hidden


def test_grades_are_kept_and_lead_to_the_next_item(ada: User) -> None:
    queue = sample(3)
    first, second, _ = queries.desk(queue, ada).left

    response = signed_in(ada).post(address(first.item), POSTED)

    assert response.headers["Location"] == address(second.item)
    kept = CalibrationLabel.objects.get()
    assert (kept.labeller_name, kept.is_expert, kept.correctness) == ("ada", True, 2)


@pytest.mark.parametrize("wrong", [{}, {"correctness": ""}, {"correctness": "3"}, {"correctness": "x"}])
def test_what_is_not_graded_is_said_and_what_was_chosen_is_kept(ada: User, wrong: dict[str, str]) -> None:
    queue = sample(1)
    (item,) = queue.items.all()

    posted = POSTED | wrong if wrong else {"completeness": "1"}
    response = signed_in(ada).post(address(item), posted)

    assert response.status_code == 422
    assert not CalibrationLabel.objects.exists()
    page = response.content.decode()
    kept = posted["completeness"]
    assert f'id="id_completeness_{kept}" value="{kept}" checked' in page
    assert 'id="correctness-error"' in page


def test_an_item_is_skipped_with_a_reason_and_goes_to_somebody_else(ada: User, ben: User, cyd: User) -> None:
    queue = sample(1)
    (item,) = queue.items.all()
    client = signed_in(ada)

    assert client.post(address(item, "calibration_skip"), {"reason": " "}).status_code == 422
    client.post(address(item, "calibration_skip"), {"reason": "Not my field."})

    assert CalibrationLabel.objects.get().skipped == "Not my field."
    for user in (ben, cyd):
        action.label(item=item, grades=TWOS, by=user)
    assert queries.desk(queue, ada).left == ()


def test_two_people_are_enough_and_a_third_is_told_so(ada: User, ben: User, cyd: User) -> None:
    queue = sample(1)
    (item,) = queue.items.all()
    for user in (ada, ben):
        action.label(item=item, grades=TWOS, by=user)

    with pytest.raises(NotYours):
        action.label(item=item, grades=TWOS, by=cyd)


def test_a_third_decides_what_two_differ_in_and_then_it_is_final(ada: User, ben: User, cyd: User) -> None:
    queue = sample(1)
    (item,) = queue.items.all()
    action.label(item=item, grades=TWOS, by=ada)
    action.label(item=item, grades=TWOS | {"correctness": 0}, by=ben)
    page = signed_in(cyd).get(address(item)).content.decode()
    assert "Two people differ on this item" in page

    action.label(item=item, grades=TWOS | {"correctness": 1}, by=cyd)

    assert CalibrationLabel.objects.get(labeller_name="cyd").is_adjudication
    found = measuring.calibration(queue)["experts"]
    assert found["between_people"]["correctness"]["exact"] == 0.0
    # The judge gave 0, and the decision is 1.
    assert found["judge_and_people"]["correctness"]["matrix"][1] == [1, 0, 0]
    with pytest.raises(NotYours):
        action.label(item=item, grades=TWOS, by=ada)


def test_grades_can_be_changed_until_they_are_final(ada: User) -> None:
    queue = sample(1)
    (item,) = queue.items.all()
    client = signed_in(ada)
    client.post(address(item), POSTED)
    assert 'id="id_correctness_2" value="2" checked' in client.get(address(item)).content.decode()

    client.post(address(item), POSTED | {"correctness": "0"})

    kept = CalibrationLabel.objects.get()
    assert kept.correctness == 0
    assert kept.changed_at is not None
    action.finish(queue=queue, by=ada)
    with pytest.raises(NotYours):
        action.label(item=item, grades=TWOS, by=ada)


def test_nobody_who_may_still_grade_sees_what_others_gave(ada: User, ben: User) -> None:
    queue = sample(2)
    grade_all(queue, ben)
    client = signed_in(ada)
    routes = [reverse(name, args=[queue.pk]) for name in ("calibration_agreement", "calibration_labels")]

    assert [client.get(route).status_code for route in routes] == [403, 403]
    assert client.post(reverse("calibration_finish", args=[queue.pk])).headers["Location"] == reverse(
        "calibration", args=[queue.pk]
    )
    grade_all(queue, ada)
    assert [client.get(route).status_code for route in routes] == [403, 403]
    client.post(reverse("calibration_finish", args=[queue.pk]))

    assert [client.get(route).status_code for route in routes] == [200, 200]


def test_the_numbers_of_a_run_wait_for_whoever_still_grades_its_answers(ada: User) -> None:
    queue = sample(2)
    client = signed_in(ada)
    pages = [
        reverse("evaluation", args=[queue.run_id]),
        reverse("evaluation_report", args=[queue.run_id, "json"]),
        reverse("evaluation_compare") + f"?before={queue.run_id}&after={queue.run_id}",
    ]

    assert [client.get(page).status_code for page in pages] == [403, 403, 403]
    assert "Grade first" in client.get(pages[0]).content.decode()
    assert signed_in(labeller("lib", "librarian")).get(pages[0]).status_code == 200
    grade_all(queue, ada)
    assert client.get(pages[0]).status_code == 403
    action.finish(queue=queue, by=ada)

    assert client.get(pages[0]).status_code == 200


def test_whoever_has_seen_the_others_decides_nothing(ada: User, ben: User, cyd: User) -> None:
    queue = sample(1)
    (item,) = queue.items.all()
    action.label(item=item, grades=TWOS, by=ada)
    action.label(item=item, grades=TWOS, by=ben)
    action.finish(queue=queue, by=cyd)
    action.label(item=item, grades=TWOS | {"correctness": 0}, by=ben)

    assert queries.desk(queue, cyd).left == ()
    with pytest.raises(NotYours):
        action.label(item=item, grades=TWOS, by=cyd)


def test_numbers_about_a_run_show_only_to_whoever_may_see_all_it_touched(ada: User) -> None:
    queue = sample(3, restricted=[2])
    for entry in queries.desk(queue, ada).left:
        action.label(item=entry.item, grades=TWOS, by=ada)
    action.finish(queue=queue, by=ada)
    client = signed_in(ada)

    for name in ("calibration_agreement", "calibration_labels"):
        assert client.get(reverse(name, args=[queue.pk])).status_code == 404
    assert "Agreement" not in client.get(reverse("calibrations")).content.decode().split("<main")[1]
    page = client.get(reverse("calibration_new")).content.decode()
    assert str(queue.run_id) not in page


def test_the_agreement_page_says_words_where_numbers_would_lie(ada: User, ben: User) -> None:
    queue = sample(4)
    for user in (ada, ben):
        grade_all(queue, user)
        action.finish(queue=queue, by=user)

    page = signed_in(ada).get(reverse("calibration_agreement", args=[queue.pk])).content.decode()

    assert "undefined" in page
    assert not re.search(r"\bnan\b", page.casefold())
    assert "Judge and experts" in page
    assert "who are no experts" not in page


@pytest.mark.parametrize("group", ["asker", "librarian", "administrator"])
def test_only_who_may_label_labels(group: str) -> None:
    queue = sample(1)
    (item,) = queue.items.all()
    client = signed_in(labeller("somebody", group))

    assert client.get(address(item)).status_code == 403
    assert client.post(address(item), POSTED).status_code == 403
    may_draw = client.get(reverse("calibration_new")).status_code
    assert may_draw == (200 if group == "administrator" else 403)


def test_a_sample_is_drawn_in_the_browser(ada: User) -> None:
    run = judged_run(5)
    client = signed_in(ada)

    refused = client.post(reverse("calibration_new"), {"run": str(run.pk), "size": "0", "seed": "9"})
    drawn = client.post(reverse("calibration_new"), {"run": str(run.pk), "size": "4", "seed": "9"})
    again = client.post(reverse("calibration_new"), {"run": str(run.pk), "size": "4", "seed": "9"})

    assert (refused.status_code, drawn.status_code, again.status_code) == (422, 302, 422)
    assert 'value="9"' in refused.content.decode()
    assert "drawn a sample of this run already" in again.content.decode()
    assert CalibrationQueue.objects.get().created_by == ada


def test_what_is_exported_can_be_imported_and_is_the_same(ada: User, ben: User, cyd: User) -> None:
    queue = sample(4)
    grade_all(queue, ada)
    grade_all(queue, ben, correctness=0)
    items = list(queue.items.order_by("number"))
    action.label(item=items[0], grades=TWOS, by=cyd)
    action.skip(item=items[1], reason="Not my field, “really”.", by=cyd)
    text = files.written(queue)
    before = measuring.calibration(queue)
    CalibrationLabel.objects.all().delete()

    found = import_labels(queue=queue, lines=files.read(text), by=None)
    again = import_labels(queue=queue, lines=files.read(text), by=None)

    assert (found, again) == (Imported(added=10), Imported(unchanged=10))
    assert files.written(queue) == text
    assert measuring.calibration(queue) == before
    assert "How much is number" not in text


def test_labels_of_other_answers_are_left_out_and_other_grades_refused(ada: User) -> None:
    queue = sample(2)
    grade_all(queue, ada)
    text = files.written(queue)
    CalibrationLabel.objects.filter(item__number=2).delete()
    other = text.replace('"correctness": 2', '"correctness": 0')

    with pytest.raises(LabelFileError, match="line 2: ada has labelled this answer already, in another way"):
        import_labels(queue=queue, lines=files.read(other), by=None)
    assert CalibrationLabel.objects.count() == 1
    CalibrationItem.objects.filter(number=2).delete()
    found = import_labels(queue=queue, lines=files.read(text), by=None)

    assert found == Imported(unchanged=1, elsewhere=1)


def test_a_run_without_labels_is_warned_of(ada: User) -> None:
    run = judged_run(2)
    assert "No expert has labelled" in measuring.run_warnings(run)[0]
    queue = action.draw(run=run, size=2, seed=1, by=None)
    grade_all(queue, ada)

    assert "undefined" in measuring.run_warnings(run)[0]


def test_grades_outside_the_rubric_are_refused(ada: User) -> None:
    (item,) = sample(1).items.all()
    wrong: list[dict[str, Any]] = [TWOS | {"correctness": 3}, {"correctness": 1}, {}]

    for grades in wrong:
        with pytest.raises(CalibrationError, match="0, 1 or 2"):
            action.label(item=item, grades=grades, by=ada)
