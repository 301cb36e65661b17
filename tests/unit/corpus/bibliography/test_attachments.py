"""Files are found inside the folder of the export and nowhere else."""

from pathlib import Path

import pytest

from corpus.bibliography.attachments import NotFound, locate
from corpus.bibliography.planning import plan
from corpus.bibliography.records import Attachment, Code, Library, Record
from corpus.inputs import Refusal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    export = (tmp_path / "export").resolve()
    for name in (
        "files/12/a.pdf",
        "files/12/b.pdf",
        "files/13/s.html",
        "storage/ABCD/c.pdf",
        "d.md",
        "x.docm",
    ):
        (export / name).parent.mkdir(parents=True, exist_ok=True)
        (export / name).write_text(name)
    (tmp_path / "secret.pdf").write_text("secret")
    (export / "link.pdf").symlink_to(tmp_path / "secret.pdf")
    return export


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("files/12/a.pdf", "files/12/a.pdf"),
        (r"files\12\a.pdf", "files/12/a.pdf"),
        ("./files/../files/12/a.pdf", "files/12/a.pdf"),
        ("storage:ABCD/c.pdf", "storage/ABCD/c.pdf"),
        ("attachments:files/12/a.pdf", "files/12/a.pdf"),
        ("/home/other/Zotero/storage/ABCD/c.pdf", "storage/ABCD/c.pdf"),
        (r"C:\Users\other\Zotero\storage\ABCD\c.pdf", "storage/ABCD/c.pdf"),
        ("file:///home/other/files/12/a.pdf", "files/12/a.pdf"),
        ("file:///C:/Users/other/d.md", "d.md"),
    ],
)
def test_a_path_of_another_machine_leads_to_the_file_that_came_along(
    folder: Path, spelling: str, name: str
) -> None:
    assert locate(Attachment((spelling,)), folder) == folder / name


def test_an_absolute_path_inside_the_folder_is_followed(folder: Path) -> None:
    assert locate(Attachment((str(folder / "d.md"),)), folder) == folder / "d.md"


@pytest.mark.parametrize(
    ("spelling", "code"),
    [
        ("../secret.pdf", Code.OUTSIDE_FOLDER),
        (r"..\secret.pdf", Code.OUTSIDE_FOLDER),
        ("files/../../secret.pdf", Code.OUTSIDE_FOLDER),
        ("storage:../../secret.pdf", Code.OUTSIDE_FOLDER),
        ("link.pdf", Code.OUTSIDE_FOLDER),
        ("/etc/passwd", Code.OUTSIDE_FOLDER),
        ("/etc/nobody-has-this", Code.OUTSIDE_FOLDER),
        (r"C:\Windows\win.ini", Code.OUTSIDE_FOLDER),
        (r"\\server\share\x.pdf", Code.OUTSIDE_FOLDER),
        ("file:///etc/passwd", Code.OUTSIDE_FOLDER),
        ("file://[/x", Code.MISSING_FILE),
        ("gone.pdf", Code.MISSING_FILE),
        ("files", Code.MISSING_FILE),
        ("a\0b.pdf", Code.MISSING_FILE),
        ("x" * 5_000, Code.MISSING_FILE),
        ("https://example.org/x.pdf", Code.WEB_ADDRESS),
    ],
)
def test_everything_else_has_a_named_reason(folder: Path, spelling: str, code: Code) -> None:
    found = locate(Attachment((spelling,)), folder)

    assert isinstance(found, NotFound)
    assert found.code is code


def names(folder: Path, *records: Record) -> tuple[list[str], list[tuple[str, str]]]:
    made = plan(folder / "lib.bib", Library("bibtex", list(records)))
    files = [
        f"{file.code}:{file.name}" if isinstance(file, Refusal) else file.name for file in made.batch.files
    ]
    return files, [(problem.key, problem.code.value) for problem in made.problems]


def record(*paths: str, key: str = "k", doi: str = "10.1000/abc") -> Record:
    return Record(key, 7, doi=doi, attachments=tuple(Attachment((path,)) for path in paths))


def test_pdfs_come_first_and_other_forms_of_the_text_are_left_out_by_name(folder: Path) -> None:
    found = names(folder, record("files/13/s.html", "files/12/a.pdf", "gone.pdf", "files/12/b.pdf", "x.docm"))

    assert found == (
        ["files/12/a.pdf", "files/12/b.pdf", "missing_file:gone.pdf"],
        [("k", "left_out"), ("k", "left_out")],
    )


def test_without_a_pdf_the_first_file_that_is_read_counts(folder: Path) -> None:
    assert names(folder, record("x.docm", "d.md", "files/13/s.html"))[0] == ["d.md"]


def test_a_file_nobody_reads_is_refused_with_record_and_line(folder: Path) -> None:
    made = plan(folder / "lib.bib", Library("bibtex", [record("x.docm")]))

    assert made.batch.files == (
        Refusal("x.docm", "unsupported_file_type", "Record k on line 7: No parser reads '.docm' files."),
    )


def test_a_file_of_two_records_goes_with_the_first(folder: Path) -> None:
    files, _ = names(folder, record("d.md", key="k"), record("d.md", "files/../d.md", key="l"))

    assert files == ["d.md", "duplicate_path:d.md"]


def test_a_record_without_file_and_identifier_is_told(folder: Path) -> None:
    assert names(folder, record(doi=""), record("https://example.org/", doi="", key="l"), record()) == (
        [],
        [("k", "nothing_to_do"), ("l", "web_address"), ("l", "nothing_to_do")],
    )
