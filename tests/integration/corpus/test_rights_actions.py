"""Changing licence classes: who may, on what ground, and what the log keeps."""

import time

import pgtrigger
import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.utils import DatabaseError

from corpus.actions.rights import (
    EvidenceRequired,
    NotAllowed,
    OnlyAPersonRaises,
    lower_license,
    propose_license,
    set_license,
)
from corpus.models import Document, DocumentEvent, RightsDecision
from corpus.rights import UnknownLicenseClass
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db


def _class_of(document):
    return Document.objects.get(pk=document.pk).license_class


def test_a_person_raises_rights_with_evidence_and_the_log_says_everything(librarian):
    document = DocumentFactory(license_class="unknown", title="Biochar at 500 °C")

    changed = set_license(
        documents=[document],
        license_class="open_commercial",
        by=librarian,
        evidence="https://creativecommons.org/licenses/by/4.0/",
        note="Seen on the title page",
    )

    decision = RightsDecision.objects.get()
    assert changed == 1
    assert _class_of(document) == "open_commercial"
    assert (decision.document_id, decision.document_title) == (document.pk, "Biochar at 500 °C")
    assert (decision.from_class, decision.to_class) == ("unknown", "open_commercial")
    assert decision.evidence == "https://creativecommons.org/licenses/by/4.0/"
    assert (decision.decided_by, decision.decided_by_name, decision.process) == (librarian, "librarian", "")
    assert decision.note == "Seen on the title page"


@pytest.mark.parametrize("evidence", ["", "  \n"])
def test_raising_without_evidence_changes_nothing_at_all(librarian, evidence):
    raised = DocumentFactory(license_class="restricted")
    lowered = DocumentFactory(license_class="public")

    with pytest.raises(EvidenceRequired, match="for 1 document"):
        set_license(
            documents=[raised, lowered], license_class="open_commercial", by=librarian, evidence=evidence
        )

    assert (_class_of(raised), _class_of(lowered)) == ("restricted", "public")
    assert not RightsDecision.objects.exists()


def test_lowering_needs_no_evidence_and_what_has_the_class_already_is_not_logged(librarian):
    lowered = DocumentFactory(license_class="public")
    same = DocumentFactory(license_class="restricted")

    assert (
        set_license(documents=Document.objects.all(), license_class="restricted", by=librarian, evidence="")
        == 1
    )

    assert RightsDecision.objects.get().document_id == lowered.pk
    assert _class_of(same) == "restricted"


def test_an_unknown_class_is_refused_by_name(librarian):
    with pytest.raises(UnknownLicenseClass, match="cc-by-xyz"):
        set_license(documents=[DocumentFactory()], license_class="cc-by-xyz", by=librarian, evidence="x")


def test_nobody_without_the_permission_changes_a_licence(asker):
    document = DocumentFactory(license_class="public")

    with pytest.raises(NotAllowed):
        set_license(documents=[document], license_class="restricted", by=asker, evidence="x")

    assert _class_of(document) == "public"


def test_one_document_above_the_persons_ceiling_refuses_the_whole_change(librarian):
    group = librarian.groups.get()
    group.ceiling.license_classes = ["public", "open_commercial"]
    group.ceiling.save()
    visible, hidden = DocumentFactory(license_class="public"), DocumentFactory(license_class="restricted")

    with pytest.raises(NotAllowed):
        set_license(documents=[visible, hidden], license_class="open_commercial", by=librarian, evidence="x")

    assert (_class_of(visible), _class_of(hidden)) == ("public", "restricted")


def test_software_lowers_and_never_raises():
    document = DocumentFactory(license_class="open_commercial")

    assert lower_license(
        document=document, license_class="restricted", process="crossref", signal="http://tdm.example/1.0"
    )
    with pytest.raises(OnlyAPersonRaises, match="crossref may not raise rights from restricted to public"):
        lower_license(document=document, license_class="public", process="crossref", signal="CC0")

    decision = RightsDecision.objects.get()
    assert document.license_class == _class_of(document) == "restricted"
    assert (decision.process, decision.signal) == ("crossref", "http://tdm.example/1.0")
    assert (decision.decided_by, decision.decided_by_name) == (None, "")


def test_software_sets_a_class_only_where_nobody_has_decided(librarian):
    undecided = DocumentFactory(license_class="unknown")
    decided = DocumentFactory(license_class="public")
    set_license(documents=[decided], license_class="unknown", by=librarian, evidence="")

    assert propose_license(
        document=undecided, license_class="open_commercial", process="jats", signal="CC BY 4.0"
    )
    with pytest.raises(OnlyAPersonRaises):
        propose_license(document=decided, license_class="open_commercial", process="jats", signal="CC BY 4.0")

    assert (_class_of(undecided), _class_of(decided)) == ("open_commercial", "unknown")


def test_a_thousand_documents_change_in_a_few_statements_under_five_seconds(
    librarian, django_assert_max_num_queries
):
    template = DocumentFactory.build(license_class="unknown")
    Document.objects.bulk_create(
        DocumentFactory.build(license_class="unknown", title=template.title) for _ in range(1000)
    )
    started = time.monotonic()

    with django_assert_max_num_queries(14):
        changed = set_license(
            documents=Document.objects.all(), license_class="public", by=librarian, evidence="CC0 notice"
        )

    assert time.monotonic() - started < 5
    assert changed == RightsDecision.objects.count() == 1000
    assert Document.objects.filter(license_class="public").count() == 1000


def test_the_history_of_a_bulk_change_has_each_document_with_who_and_why(librarian):
    documents = [DocumentFactory(license_class="public") for _ in range(3)]

    set_license(
        documents=documents, license_class="restricted", by=librarian, evidence="", note="Publisher wrote"
    )

    events = DocumentEvent.objects.filter(pgh_label="update")
    assert {event.pgh_obj_id for event in events} == {document.pk for document in documents}
    for event in events.select_related("pgh_context"):
        assert event.license_class == "restricted"
        assert event.pgh_context.metadata == {"user": librarian.pk, "reason": "Publisher wrote"}


@pytest.fixture
def logged(librarian):
    """A decision in the log, with the guard against emptying the log armed as in production."""
    document = DocumentFactory(license_class="public")
    set_license(documents=[document], license_class="restricted", by=librarian, evidence="")
    with transaction.atomic():
        # The decision is sealed at the commit, and a table that waits for that cannot be altered.
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        pgtrigger.enable("corpus.RightsDecision:no_truncate")
        yield document
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE corpus_rightsdecision SET to_class = 'public'",
        "UPDATE corpus_rightsdecision SET note = 'x' WHERE false OR id > 0",
        "DELETE FROM corpus_rightsdecision",
        "TRUNCATE corpus_rightsdecision",
        "TRUNCATE corpus_rightsdecision CASCADE",
        "UPDATE corpus_documentevent SET license_class = 'public'",
        "DELETE FROM corpus_documentevent",
    ],
)
def test_the_database_refuses_to_change_the_log_whatever_asks(logged, statement):
    with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)

    assert RightsDecision.objects.get().to_class == "restricted"


def test_the_orm_cannot_change_or_remove_a_decision(logged):
    decision = RightsDecision.objects.get()
    decision.to_class = "public"
    for attempt in (
        decision.save,
        decision.delete,
        RightsDecision.objects.all().delete,
        lambda: RightsDecision.objects.update(note="x"),
    ):
        with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic():
            attempt()

    assert RightsDecision.objects.get().to_class == "restricted"


def test_the_log_outlives_the_document_and_the_account(logged, librarian):
    document_id = logged.pk
    logged.delete()
    User.objects.filter(pk=librarian.pk).delete()

    decision = RightsDecision.objects.get()
    assert (decision.document_id, decision.decided_by_name) == (document_id, "librarian")
    assert (decision.from_class, decision.to_class) == ("public", "restricted")


GONE = "UPDATE corpus_rightsdecision SET document_title = '', signal = '', evidence = '', note = ''"


def test_the_words_of_a_decision_go_with_the_document_and_only_then(logged):
    with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(GONE)
    logged.delete()

    with connection.cursor() as cursor:
        cursor.execute(GONE)

    decision = RightsDecision.objects.get()
    assert (decision.document_title, decision.signal, decision.evidence, decision.note) == ("",) * 4
    assert (decision.to_class, decision.decided_by_name) == ("restricted", "librarian")


@pytest.mark.parametrize(
    "more", ["to_class = 'public'", "decided_by_name = 'nobody'", "decided_at = now()", "undoes_id = 1"]
)
def test_nothing_but_the_words_can_be_taken_from_a_decision_about_a_deleted_document(logged, more):
    logged.delete()

    with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"{GONE}, {more}")
    with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM corpus_rightsdecision")
