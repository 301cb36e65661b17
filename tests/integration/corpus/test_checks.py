"""System checks say what is wrong and how to mend it."""

import pytest
from django.core.checks import run_checks

from corpus import checks
from corpus.checks import OLDEST_PGVECTOR, version_of
from corpus.models import EmbeddingVersion

pytestmark = pytest.mark.django_db


def _found():
    return {message.id: message for message in run_checks(databases=["default"])}


def test_this_checkout_and_its_database_pass():
    assert _found() == {}


def test_a_missing_domain_folder_is_named(settings, tmp_path):
    settings.DOMAIN_DIR = tmp_path / "nowhere"

    assert "nowhere" in _found()["corpus.E001"].msg


def test_a_damaged_domain_file_is_named_with_its_line(settings, tmp_path):
    settings.DOMAIN_DIR = tmp_path
    (tmp_path / "domain.yaml").write_text("chunk_tokens: many\n")

    assert "domain.yaml" in _found()["corpus.E001"].msg


def test_another_version_than_the_settings_name_is_reported(settings):
    EmbeddingVersion.objects.create(name="other@1536", dimensions=1536, is_active=True)

    message = _found()["corpus.W003"]
    assert "1536" in message.msg
    assert str(settings.SCI_RAG_EMBEDDING_DIMENSIONS) in message.msg


@pytest.mark.parametrize(
    ("version", "recent"),
    [("0.8.3", False), ("0.8.4", True), ("0.8.10", True), ("0.10", True), ("1.0", True)],
)
def test_versions_compare_by_number(version, recent):
    assert (version_of(version) >= OLDEST_PGVECTOR) is recent


def test_a_folder_of_models_that_is_none_is_refused(settings, tmp_path):
    settings.DOCLING_ARTIFACTS_PATH = str(tmp_path / "nowhere")

    assert "which is no folder" in _found()["corpus.E004"].msg


def test_models_that_nothing_here_can_run_are_refused(settings, tmp_path, monkeypatch):
    settings.DOCLING_ARTIFACTS_PATH = str(tmp_path)
    monkeypatch.setattr(checks, "find_spec", lambda name: None if name == "torch" else object())

    assert "torch is not installed" in _found()["corpus.E005"].msg
    monkeypatch.setattr(checks, "find_spec", lambda name: object())
    assert _found() == {}
