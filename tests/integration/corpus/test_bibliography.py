"""Importing a library: files, works, rights, and that doing it again changes nothing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpus import cli
from corpus.bibliography import works
from corpus.bibliography.identifiers import Identifier
from corpus.bibliography.importing import NothingRead, import_library
from corpus.models import Document, EditorialEvent, IngestionItem, IngestionRun, RightsDecision, Source
from tests.factories.corpus import DocumentFactory
from tests.integration.corpus.ingesting import OPTIONS, HashEmbedder, paper, write

pytestmark = pytest.mark.django_db

LIBRARY = r"""
@article{held, title = {Storing {Straw}}, author = {M{\"u}ller, J{\"o}rg and Doe, Ann}, date = {2010-05},
  journaltitle = {J. Straw}, doi = {https://doi.org/10.1000/ABC}, copyright = {CC BY-ND 4.0},
  file = {Text:files/1/a.md:text/markdown;Gone:files/1/gone.pdf:application/pdf}}
@book{book, title = {A book}, editor = {Ed, An}, year = 2001, isbn = {0-306-40615-2}, file = {storage:K/b.md}}
@article{cited, title = {Only cited}, author = {A B}, eprint = {2101.00001v2}, archiveprefix = {arXiv}}
@misc{nothing, title = {Nothing to do}}
@misc{evil, title = {Evil}, file = {../secret.md}}
"""
ZOTERO_RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:link="http://purl.org/rss/1.0/modules/link/" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <bib:Article rdf:about="#item_1"><z:itemType>journalArticle</z:itemType><dc:title>Straw</dc:title>
    <dc:identifier>DOI 10.1000/rdf</dc:identifier><dc:rights>CC BY 4.0</dc:rights>
    <link:link rdf:resource="#item_12"/></bib:Article>
  <z:Attachment rdf:about="#item_12"><z:itemType>attachment</z:itemType>
    <rdf:resource rdf:resource="files/12/Straw - 2010.md"/></z:Attachment>
</rdf:RDF>"""


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, settings, monkeypatch) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    monkeypatch.setattr("corpus.ingestion.active_embedder", HashEmbedder)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    write(tmp_path, "secret.md", paper("secret"))
    write(tmp_path, "export/files/1/a.md", paper("90 days"))
    write(tmp_path, "export/storage/K/b.md", paper("30 days"))
    return write(tmp_path, "export/lib.bib", LIBRARY)


def take(path: Path, **options: object):
    return import_library(path, options=OPTIONS, **options)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli.corpus, ["import", *map(str, arguments)])


def everything() -> list[list[dict]]:
    return [list(model.objects.order_by("id").values()) for model in (Document, Source, RightsDecision)]


def test_files_become_documents_described_by_their_records(library):
    report = take(library)

    document = Document.objects.get(doi_normalised="10.1000/abc")
    assert (document.title, document.authors, document.year) == (
        "Storing Straw",
        ["Jörg Müller", "Ann Doe"],
        2010,
    )
    assert (document.journal, document.doi) == ("J. Straw", "10.1000/ABC")
    assert [(item.path, item.outcome.value, item.reason) for item in report.run.reports] == [
        ("files/1/a.md", "ready", ""),
        ("files/1/gone.pdf", "failed", "missing_file"),
        ("storage/K/b.md", "ready", ""),
        ("../secret.md", "failed", "outside_folder"),
    ]
    assert IngestionItem.objects.get(reason="missing_file").detail.startswith("Record held on line 2: ")
    assert not Document.objects.filter(title="Evil").exists()


def test_declared_rights_are_a_signal_and_never_a_class(library):
    take(library)

    document = Document.objects.get(doi_normalised="10.1000/abc")
    assert (document.license_class, document.license_source) == ("unknown", "CC BY-ND 4.0")
    assert document.no_derivatives
    assert not RightsDecision.objects.exists()


def test_works_are_registered_by_their_identifiers_held_or_cited(library):
    report = take(library)

    found = {
        (source.identifier_type, source.identifier_value): source.documents.count()
        for source in Source.objects.all()
    }
    assert found == {("doi", "10.1000/abc"): 1, ("isbn", "9780306406157"): 1, ("arxiv", "2101.00001"): 0}
    assert Source.objects.get(identifier_type="arxiv").title == "Only cited"
    assert (report.works.new, report.plan.idle) == (3, 2)


def test_importing_again_changes_nothing(library):
    take(library)
    before = everything()

    again = take(library)

    assert everything() == before
    assert again.run.counts == {"ready": 0, "duplicate": 2, "needs_ocr": 0, "failed": 2}
    assert (again.works.new, again.works.completed, again.works.known) == (0, 0, 3)


def test_a_dry_run_says_the_same_and_writes_nothing(library, monkeypatch, tmp_path):
    monkeypatch.setattr("corpus.ingestion.active_embedder", lambda: pytest.fail("asked for an embedder"))

    report = take(library, dry_run=True)

    assert report.run.counts == {"ready": 2, "duplicate": 0, "needs_ocr": 0, "failed": 2}
    assert report.works.new == 3
    assert not any(model.objects.exists() for model in (Document, Source, IngestionRun))
    assert not (tmp_path / "media").exists()


def test_what_the_registry_knows_is_never_overwritten_only_completed(library):
    Source.objects.create(
        identifier_type="doi", identifier_value="10.1000/abc", title="As catalogued", year=1999
    )
    Source.objects.create(identifier_type="arxiv", identifier_value="2101.00001", year=1998)

    report = take(library)

    first, second = (Source.objects.get(identifier_type=kind) for kind in ("doi", "arxiv"))
    assert (first.title, first.year) == ("As catalogued", 1999)
    assert (second.title, second.year) == ("Only cited", 1998)
    assert (report.works.new, report.works.completed, report.works.known) == (1, 1, 1)


def test_a_library_without_files_makes_no_run(tmp_path):
    path = write(tmp_path, "lib.ris", "TY  - JOUR\nTI  - T\nDO  - 10.1000/abc\nER  - \n")

    report = take(path)

    assert report.run is None
    assert not report.is_lost
    assert not IngestionRun.objects.exists()
    assert Source.objects.get().title == "T"


def test_every_format_brings_its_files(tmp_path):
    for name in "abc":
        write(tmp_path, f"files/{name}.md", paper(name))
    libraries = {
        "a.ris": "TY  - JOUR\nTI  - From RIS\nL1  - files/a.md\nER  - \n",
        "b.json": json.dumps(
            [{"type": "book", "title": "From CSL", "attachments": [{"path": "files/b.md"}]}]
        ),
        "c.csv": '"Key","Item Type","Title","File Attachments"\n"K","book","From CSV","files\\c.md"\n',
    }

    for name, text in libraries.items():
        take(write(tmp_path, name, text))

    assert sorted(Document.objects.values_list("title", flat=True)) == ["From CSL", "From CSV", "From RIS"]


def test_a_thousand_works_are_registered_in_few_queries(tmp_path, django_assert_max_num_queries):
    entries = "".join(f"@article{{k{n}, title={{T{n}}}, doi={{10.1000/{n}}}}}\n" for n in range(1_000))
    path = write(tmp_path, "lib.bib", entries)

    with django_assert_max_num_queries(20):
        take(path)

    assert Source.objects.count() == 1_000


def test_a_file_without_a_record_is_told_in_one_line(tmp_path):
    with pytest.raises(NothingRead, match="neither BibTeX"):
        take(write(tmp_path, "x.bib", "words"))


class TestHolding:
    """A document whose record names a book or preprint is a copy of that work."""

    WORK = Identifier("isbn", "9780306406157")

    @pytest.fixture
    def work(self) -> Source:
        return Source.objects.create(identifier_type="isbn", identifier_value=self.WORK.value, title="A book")

    def test_a_nameless_record_gives_way(self, work):
        nameless = Source.objects.create(title="Same")
        document = DocumentFactory(source=nameless)

        assert works.hold(document_id=document.pk, identifier=self.WORK)

        document.refresh_from_db()
        assert document.source == work
        assert not Source.objects.filter(pk=nameless.pk).exists()
        assert not works.hold(document_id=document.pk, identifier=self.WORK)

    def test_a_record_with_its_own_identifier_stays(self, work):
        other = Source.objects.create(identifier_type="doi", identifier_value="10.1000/abc")
        document = DocumentFactory(source=other)

        assert not works.hold(document_id=document.pk, identifier=self.WORK)
        document.refresh_from_db()
        assert document.source == other

    def test_a_record_somebody_said_something_about_stays(self, work):
        nameless = Source.objects.create(title="Same")
        EditorialEvent.objects.create(
            source=nameless, kind="retraction", origin="manual", happened_on="2020-01-01"
        )
        document = DocumentFactory(source=nameless)

        assert not works.hold(document_id=document.pk, identifier=self.WORK)

    def test_a_record_shared_with_another_document_is_kept(self, work):
        nameless = Source.objects.create(title="Same")
        document, _ = DocumentFactory(source=nameless), DocumentFactory(source=nameless)

        assert works.hold(document_id=document.pk, identifier=self.WORK)
        assert Source.objects.filter(pk=nameless.pk).exists()

    def test_a_work_nobody_registered_changes_nothing(self):
        document = DocumentFactory()

        assert not works.hold(document_id=document.pk, identifier=self.WORK)


class TestCommand:
    """What the command prints and its exit codes."""

    def test_it_prints_files_problems_and_counts(self, library):
        result = run(library)

        assert result.exit_code == 0
        lines = result.stdout.splitlines()
        assert lines[0].startswith("files/1/a.md\tready\t")
        assert (
            f"{library}:7: nothing_to_do: nothing: Nothing to do: no identifier, and it names no file."
            in lines
        )
        assert lines[-1] == (
            "5 records of bibtex: 4 files, 3 works registered, 0 completed, 0 known, "
            "2 records with nothing to do."
        )

    def test_json_is_one_object_with_key_and_line_of_every_file(self, library):
        report = json.loads(run(library, "--json", "--bucket", "zotero").stdout)

        assert (report["format"], report["records"], report["dry_run"]) == ("bibtex", 5, False)
        assert report["works"] == {"registered": 3, "completed": 0, "known": 0}
        assert [(item["key"], item["line"], item["outcome"]) for item in report["items"]] == [
            ("held", 2, "ready"),
            ("held", 2, "failed"),
            ("book", 5, "ready"),
            ("evil", 8, "failed"),
        ]
        assert [item["code"] for item in report["problems"]] == ["nothing_to_do", "nothing_to_do"]
        assert set(Document.objects.values_list("bucket", flat=True)) == {"zotero"}

    def test_a_dry_run_says_would(self, library):
        assert "3 works would be registered" in run(library, "--dry-run").stdout

    @pytest.mark.parametrize(
        "arguments", [("--bucket", ""), ("--encoding", "klingon"), ("--encoding", "hex")]
    )
    def test_what_makes_no_sense_is_a_usage_error(self, library, arguments):
        assert run(library, *arguments).exit_code == 2

    def test_a_library_that_cannot_be_read_is_one_line(self, tmp_path):
        result = run(write(tmp_path, "x.bib", "words"))

        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.output

    def test_the_exit_code_is_1_when_nothing_came_of_it(self, tmp_path):
        assert run(write(tmp_path, "x.bib", "@misc{a, title={T}, file={gone.pdf}}")).exit_code == 1

    def test_the_encoding_of_the_file_can_be_told(self, tmp_path):
        path = tmp_path / "x.bib"
        path.write_bytes("@book{k, title = {期刊}, isbn = {0306406152}}".encode("gbk"))

        assert run(path, "--encoding", "gbk").exit_code == 0
        assert Source.objects.get().title == "期刊"

    def test_zotero_rdf_with_its_files_comes_in_like_the_other_formats(self, tmp_path):
        write(tmp_path, "export/files/12/Straw - 2010.md", paper("60 days"))
        path = write(tmp_path, "export/My Library.rdf", ZOTERO_RDF)

        assert run(path).exit_code == 0

        document = Document.objects.get()
        assert (document.title, document.doi, document.license_class) == ("Straw", "10.1000/rdf", "unknown")
        assert (document.license_source, document.source.identifier_value) == ("CC BY 4.0", "10.1000/rdf")
