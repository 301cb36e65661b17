"""The chain over the append-only tables: what is sealed, what a tamper shows as, and many at once."""

import threading
from collections.abc import Callable

import pghistory
import pgtrigger
import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from corpus import snapshots
from corpus.actions import quarantine, rights
from corpus.audit import recording, verifying
from corpus.audit.cli import audit
from corpus.audit.models import AuditEvent, AuditHead, AuditLink
from corpus.audit.sealing import sealed
from corpus.curation import CorpusSnapshot
from corpus.models import Document, RightsDecision
from corpus.rights import LicenseClass
from tests.factories.corpus import DocumentFactory

pytestmark = pytest.mark.django_db(transaction=True)


def execute(*statements: str) -> None:
    """Do as somebody who owns the database and stops its triggers."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for statement in statements:
            cursor.execute(statement)


def as_the_program(statement: str) -> None:
    """Do as the program would, by hand."""
    with connection.cursor() as cursor:
        cursor.execute(statement)


def decide(document: Document) -> None:
    rights.lower_license(
        document=document, license_class=LicenseClass.RESTRICTED, process="test", signal="said so"
    )


@pytest.fixture
def chain(librarian: User) -> Document:
    """Some records of several tables."""
    document = DocumentFactory(license_class=LicenseClass.PUBLIC.value)
    decide(document)
    snapshots.take("before")
    recording.record(recording.Kind.DENIED, by=librarian, about={"route": "documents"})
    quarantine.hold(document=document, by=librarian, reason="why")
    quarantine.release(document=document, by=librarian, reason="why not")
    return document


def found(**options: tuple[int, str]) -> set[str]:
    return {tamper.what for tamper in verifying.verify(**options).tampers}


def test_every_append_only_log_is_sealed() -> None:
    logs = {
        model._meta.db_table
        for model, trigger in pgtrigger.registered()
        if trigger.name in ("append_only", "immutable") and model is not AuditLink
    }

    assert set(verifying.verify().tables) == logs


def test_a_record_is_sealed_with_what_it_records(chain: Document, librarian: User) -> None:
    verified = verifying.verify()

    assert verified.tampers == ()
    assert verified.links == AuditLink.objects.count() > 5
    assert verifying.head() == (verified.links, verified.head)
    assert AuditLink.objects.filter(table_name="corpus_rightsdecision").count() == 1
    assert AuditLink.objects.filter(by=str(librarian.pk), table_name="corpus_documentevent").count() == 2


def test_what_is_rolled_back_leaves_no_link(chain: Document) -> None:
    before = verifying.head()

    with transaction.atomic():
        decide(DocumentFactory(license_class=LicenseClass.PUBLIC.value))
        transaction.set_rollback(True)

    assert verifying.head() == before
    assert found() == set()


_SLIPS_IN = """
INSERT INTO corpus_rightsdecision (document_id, document_title, from_class, to_class, signal, evidence,
    process, decided_by_name, note)
SELECT document_id, '', from_class, 'public', '', '', 'x', '', '' FROM corpus_rightsdecision LIMIT 1
"""
TAMPERS: dict[str, tuple[tuple[str, ...], str]] = {
    "a class of a decision": (
        ("UPDATE corpus_rightsdecision SET to_class = 'public'",),
        "row_changed",
    ),
    "who decided": (("UPDATE corpus_rightsdecision SET decided_by_name = 'nobody'",), "row_changed"),
    "when": (
        ("UPDATE corpus_documentevent SET pgh_created_at = pgh_created_at - interval '1 day'",),
        "row_changed",
    ),
    "whose change it was": (
        ("UPDATE pghistory_context SET metadata = jsonb_set(metadata, '{user}', '424242')",),
        "row_changed",
    ),
    "why it was done": (
        ("UPDATE pghistory_context SET metadata = jsonb_set(metadata, '{reason}', '\"another\"')",),
        "words_changed",
    ),
    "a reason comes in": (
        ('UPDATE pghistory_context SET metadata = metadata || \'{"note": "so"}\'',),
        "words_changed",
    ),
    "what the contexts say is emptied": (("TRUNCATE pghistory_context CASCADE",), "words_changed"),
    "what signalled a decision": (
        ("UPDATE corpus_rightsdecision SET signal = 'another'",),
        "words_changed",
    ),
    "the words of a decision go, and its document does not": (
        ("UPDATE corpus_rightsdecision SET document_title='', signal='', evidence='', note=''",),
        "words_changed",
    ),
    "a class in a snapshot": (
        ("UPDATE corpus_corpussnapshot SET documents = jsonb_set(documents, '{0,1}', '\"public\"')",),
        "row_changed",
    ),
    "a snapshot is removed": (("DELETE FROM corpus_corpussnapshot",), "row_gone"),
    "what was refused": (("UPDATE corpus_auditevent SET about = '{}'",), "row_changed"),
    "a refusal is removed": (("DELETE FROM corpus_auditevent",), "row_gone"),
    "a decision is removed": (("DELETE FROM corpus_rightsdecision",), "row_gone"),
    "a log is emptied": (("TRUNCATE corpus_documentevent",), "row_gone"),
    "a record slips in": ((_SLIPS_IN,), "row_not_sealed"),
    "a link is changed": (
        ("UPDATE corpus_auditlink SET row_sha256 = previous WHERE number = 3",),
        "link_changed",
    ),
    "a link is removed": (("DELETE FROM corpus_auditlink WHERE number = 2",), "link_changed"),
    "two links change places": (
        (
            "UPDATE corpus_auditlink SET number = -1 WHERE number = 2",
            "UPDATE corpus_auditlink SET number = 2 WHERE number = 3",
            "UPDATE corpus_auditlink SET number = 3 WHERE number = -1",
        ),
        "link_changed",
    ),
    "record and link go together": (
        (
            "DELETE FROM corpus_rightsdecision",
            "DELETE FROM corpus_auditlink WHERE table_name = 'corpus_rightsdecision'",
        ),
        "link_changed",
    ),
    "the last records go": (
        (
            "DELETE FROM corpus_documentevent WHERE pgh_id = (SELECT max(pgh_id) FROM corpus_documentevent)",
            "DELETE FROM corpus_auditlink WHERE number = (SELECT max(number) FROM corpus_auditlink)",
        ),
        "end_changed",
    ),
}


@pytest.mark.parametrize("name", TAMPERS)
def test_a_tamper_of_whoever_owns_the_database_is_found(chain: Document, name: str) -> None:
    statements, what = TAMPERS[name]

    execute(*statements)

    assert what in found()
    result = CliRunner().invoke(audit, ["verify"])
    assert result.exit_code == 1
    assert " tampered." in result.output


def test_a_chain_made_anew_is_found_by_a_head_that_was_kept(chain: Document) -> None:
    known = verifying.head()
    execute(
        "DELETE FROM corpus_auditlink WHERE number = (SELECT max(number) FROM corpus_auditlink)",
        "DELETE FROM corpus_documentevent WHERE pgh_id = (SELECT max(pgh_id) FROM corpus_documentevent)",
        "UPDATE corpus_audithead SET (number, sha256) = "
        "(SELECT number, sha256 FROM corpus_auditlink ORDER BY number DESC LIMIT 1)",
    )

    assert found() == set()
    assert found(known=known) == {"known_head_gone"}


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: AuditLink.objects.update(by="x"),
        lambda: AuditLink.objects.all().delete(),
        lambda: RightsDecision.objects.update(to_class="public"),
        lambda: RightsDecision.objects.all().delete(),
        lambda: CorpusSnapshot.objects.update(name="x"),
        lambda: AuditEvent.objects.all().delete(),
        lambda: AuditEvent.objects.update(kind="x"),
        lambda: as_the_program("UPDATE corpus_auditevent SET by = ''"),
        lambda: as_the_program("DELETE FROM corpus_auditlink"),
        lambda: as_the_program("UPDATE corpus_documentevent SET license_class = 'public'"),
    ],
)
def test_the_program_itself_cannot(chain: Document, attempt: Callable[[], object]) -> None:
    with pytest.raises(DatabaseError, match="Cannot update or delete"):
        attempt()

    assert found() == set()


def test_words_that_go_with_their_document_break_nothing(chain: Document) -> None:
    from corpus.actions import deletion

    deletion.delete(document_id=chain.pk)

    assert RightsDecision.objects.get().signal == ""
    assert found() == set()


@pytest.mark.parametrize("table", ["corpus_auditlink", "corpus_auditevent", "corpus_documentevent"])
def test_a_log_that_the_program_empties_is_missed(chain: Document, table: str) -> None:
    as_the_program(f"TRUNCATE {table}")

    assert found() & {"row_gone", "row_not_sealed", "end_changed"}


def test_later_work_under_one_context_is_sealed_with_what_it_adds(librarian: User) -> None:
    first, second = DocumentFactory.create_batch(2, license_class=LicenseClass.PUBLIC.value)
    with pghistory.context(user=librarian.pk):
        quarantine.hold(document=first, by=librarian, reason="one")
        quarantine.hold(document=second, by=librarian, reason="another")

    links = AuditLink.objects.filter(table_name="pghistory_context", by=str(librarian.pk))
    assert len({link.row_id.partition(":")[0] for link in links}) == 1
    assert links.count() == 2
    assert found() == set()


def test_a_transaction_of_many_records_seals_its_context_once(librarian: User) -> None:
    before = AuditLink.objects.filter(table_name="pghistory_context").count()

    with transaction.atomic(), pghistory.context(user=librarian.pk, reason="all at once"):
        for document in DocumentFactory.create_batch(3, license_class=LicenseClass.PUBLIC.value):
            Document.objects.filter(pk=document.pk).update(bucket="other")

    assert AuditLink.objects.filter(table_name="pghistory_context").count() == before + 1
    assert found() == set()


def test_many_at_once_make_one_chain() -> None:
    documents = DocumentFactory.create_batch(24, license_class=LicenseClass.PUBLIC.value)
    start = threading.Barrier(6)
    failures: list[BaseException] = []

    def work(mine: list[Document]) -> None:
        try:
            start.wait()
            for document in mine:
                decide(document)
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(documents[number::6],)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert found() == set()
    assert AuditLink.objects.filter(table_name="corpus_rightsdecision").count() == 24


def test_records_from_before_the_chain_are_sealed_when_it_comes() -> None:
    upgrade, downgrade = sealed(
        "corpus_rightsdecision", key="id", erasable="document_title,signal,evidence,note"
    )
    with connection.cursor() as cursor:
        cursor.execute(downgrade)
    try:
        for document in DocumentFactory.create_batch(3, license_class=LicenseClass.PUBLIC.value):
            decide(document)
        assert not AuditLink.objects.filter(table_name="corpus_rightsdecision").exists()
    finally:
        with connection.cursor() as cursor:
            cursor.execute(upgrade)

    assert AuditLink.objects.filter(table_name="corpus_rightsdecision").count() == 3
    decide(DocumentFactory(license_class=LicenseClass.PUBLIC.value))
    assert found() == set()


def test_the_head_is_printed_and_asked_for_again(chain: Document) -> None:
    head = CliRunner().invoke(audit, ["head"]).output.strip()

    assert head == f"{AuditHead.objects.get().number}:{AuditHead.objects.get().sha256}"
    assert CliRunner().invoke(audit, ["verify", "--known", head]).exit_code == 0
    assert CliRunner().invoke(audit, ["verify", "--known", "12:ab"]).exit_code == 2
