"""A re-embedding that is killed without warning: questions go on, and at most one batch is made again."""

import os
import random
import subprocess
import sys
import time

import pytest
from django.conf import settings as site
from django.db import connection

from corpus import reembedding
from corpus.models import ChunkEmbedding, EmbeddingVersion
from tests.integration.corpus.test_reindex import NEW, OLD, QUESTIONS, asked, fill_corpus

pytestmark = pytest.mark.django_db(transaction=True)

PASSAGES, BATCH = 600, 10
PROGRAM = """
import sys
from pathlib import Path
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
import django
django.setup()
from corpus import reembedding
from corpus.gateways.embedding import embedder_of

class Watcher:
    def begin(self, total):
        print("started", flush=True)
    def advance(self, count):
        pass

class Counting:
    version, dimensions = sys.argv[2], int(sys.argv[2].rpartition("@")[2])
    def embed(self, texts, *, task, carries):
        with Path(sys.argv[3]).open("a") as log:
            log.write("x" * len(texts))
        return embedder_of(self.version).embed(texts, task=task, carries=carries)

reembedding.reindex(embedder=Counting(), switches=True, watcher=Watcher(), batch=int(sys.argv[4]))
"""


def _start(log) -> subprocess.Popen:
    name = connection.settings_dict["NAME"]
    command = [sys.executable, "-c", PROGRAM, name, NEW, str(log), str(BATCH)]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(site.BASE_DIR)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"started\n"
    return process


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_any_moment_it_goes_on_and_questions_see_one_version(tmp_path, kills) -> None:
    fill_corpus(PASSAGES, per_document=100)
    before = [asked(question) for question in QUESTIONS]
    moments = random.Random(11)  # noqa: S311 - the moments are to be the same every time
    log = tmp_path / "embedded"

    made = []
    for _ in range(kills):
        process = _start(log)
        time.sleep(moments.uniform(0.05, 0.7))
        process.kill()
        process.communicate()
        made.append(ChunkEmbedding.objects.filter(version__name=NEW).count())
        if EmbeddingVersion.objects.get(name=OLD).is_active:
            assert [asked(question) for question in QUESTIONS] == before
    last = _start(log)
    last.communicate()

    assert last.returncode == 0
    assert made == sorted(made)
    new = EmbeddingVersion.objects.get(name=NEW)
    assert (new.is_active, reembedding.missing(new)) == (True, 0)
    assert PASSAGES <= log.stat().st_size <= PASSAGES + kills * BATCH
    assert {asked(question)[1] for question in QUESTIONS} == {NEW}
