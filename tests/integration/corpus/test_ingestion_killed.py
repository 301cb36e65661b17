"""An ingest that is killed without warning: no half document, and running it again completes the rest."""

import os
import random
import subprocess
import sys
import time

import pytest
from django.conf import settings as site
from django.db import connection
from django.db.models import Count, F

from corpus.models import Chunk, ChunkEmbedding, Document, IngestionRun
from tests.integration.corpus.ingesting import paper, write

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = """
import sys
from pathlib import Path
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[3]
settings.MEDIA_ROOT = sys.argv[2]
import django
django.setup()
from tests.integration.corpus.ingesting import take
print("started", flush=True)
take(Path(sys.argv[1]))
"""
DOCUMENTS = 40
KILLS = 5


def _start(folder, media) -> subprocess.Popen:
    command = [sys.executable, "-c", PROGRAM, folder, media, connection.settings_dict["NAME"]]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": str(site.BASE_DIR)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"started\n"
    return process


def _half_documents() -> int:
    whole = Document.objects.annotate(found=Count("chunks")).filter(found=F("chunk_count"), found__gt=0)
    return Document.objects.count() - whole.count()


def test_after_every_kill_documents_are_whole_and_the_next_run_goes_on(tmp_path):
    folder, media = tmp_path / "in", tmp_path / "media"
    for number in range(DOCUMENTS):
        write(folder, f"{number:02}.md", paper(f"{number} days"))
    moments = random.Random(7)  # noqa: S311 - the moments are to be the same every time

    held = []
    for _ in range(KILLS):
        process = _start(folder, media)
        time.sleep(moments.uniform(0.02, 0.6))
        process.kill()
        process.communicate()
        held.append(Document.objects.count())
        assert _half_documents() == 0
        assert ChunkEmbedding.objects.count() == Chunk.objects.count()
    last = _start(folder, media)
    last.communicate()

    assert last.returncode == 0
    assert held == sorted(held)
    assert (Document.objects.count(), _half_documents()) == (DOCUMENTS, 0)
    states = list(IngestionRun.objects.order_by("started_at").values_list("state", flat=True))
    assert states[-1] == "finished"
    assert "running" not in states
