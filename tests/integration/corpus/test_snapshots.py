"""Snapshots: the corpus under a name, of one moment, never changed."""

import json

import pgtrigger
import pytest
from click.testing import CliRunner
from django.db import DatabaseError, connection

from corpus import snapshots
from corpus.cli import corpus as commands
from corpus.curation import CorpusSnapshot
from corpus.fingerprint import fingerprint
from corpus.models import Document
from corpus.scope import RetrievalScope, scope
from tests.factories.corpus import ChunkFactory, DocumentFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def held():
    return [
        ChunkFactory(document=DocumentFactory(license_class=name)).document for name in ("public", "unknown")
    ]


def test_a_snapshot_holds_hashes_classes_counts_and_fingerprint(held):
    taken = snapshots.take("before the review")

    assert taken.fingerprint == fingerprint(RetrievalScope())
    assert taken.counts == {"documents": 2, "passages": 2, "references": 0}
    assert taken.documents == sorted([row.content_sha256, row.license_class, "current"] for row in held)


def test_it_stays_as_it_was_when_the_corpus_goes_on(held):
    taken = snapshots.take("one")
    Document.objects.filter(pk=held[0].pk).delete()

    taken.refresh_from_db()
    assert taken.counts["documents"] == 2
    assert snapshots.take("two").fingerprint != taken.fingerprint


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE corpus_corpussnapshot SET name = 'other'",
        "DELETE FROM corpus_corpussnapshot",
        "TRUNCATE corpus_corpussnapshot",
    ],
)
def test_the_database_refuses_to_change_or_remove_one(held, statement):
    snapshots.take("one")
    pgtrigger.enable("corpus.CorpusSnapshot:no_truncate")
    try:
        with pytest.raises(DatabaseError, match="pgtrigger"), connection.cursor() as cursor:
            cursor.execute(statement)
    finally:
        pgtrigger.disable("corpus.CorpusSnapshot:no_truncate")

    assert CorpusSnapshot.objects.get().name == "one"


def test_a_name_is_given_once(held):
    snapshots.take("one")

    with pytest.raises(snapshots.NameTaken):
        snapshots.take("one")


def test_the_commands_take_list_and_print(held):
    def run(*arguments):
        return CliRunner().invoke(commands, list(arguments))

    taken = json.loads(run("snapshot", "one", "--json").stdout)
    listed = json.loads(run("snapshot", "--list", "--json").stdout)["snapshots"]

    assert [row["name"] for row in listed] == ["one"]
    assert listed[0]["fingerprint"] == taken["fingerprint"] == run("fingerprint").stdout.strip()
    public = run("fingerprint", "--license", "public").stdout.strip()
    assert public == fingerprint(scope(license_classes=["public"])) != taken["fingerprint"]
    assert "one" in run("snapshot", "--list").stdout
    assert run("snapshot", "one").exit_code == 1
    assert run("snapshot").exit_code == run("snapshot", "two", "--list").exit_code == 2
