"""The file field in the forms reference managers write it."""

import pytest

from corpus.bibliography.file_fields import attachments


@pytest.mark.parametrize(
    ("field", "found"),
    [
        ("files/12/a.pdf", [("files/12/a.pdf", "", "")]),
        ("Full Text:files/12/a.pdf:application/pdf", [("files/12/a.pdf", "Full Text", "application/pdf")]),
        (
            "Full Text PDF:files/1/a.pdf:application/pdf;Snapshot:files/2/b.html:text/html",
            [
                ("files/1/a.pdf", "Full Text PDF", "application/pdf"),
                ("files/2/b.html", "Snapshot", "text/html"),
            ],
        ),
        (":2.pdf:PDF;stuff:1.pdf:PDF", [("2.pdf", "", "pdf"), ("1.pdf", "stuff", "pdf")]),
        (r"R1:C\:\\Users\\j\\x.pdf:PDF", [(r"C:\Users\j\x.pdf", "R1", "pdf")]),
        (r"C:\Users\j\x.pdf", [(r"C:\Users\j\x.pdf", "", "")]),
        (r"Text:C:\Users\j\x.pdf:application/pdf", [(r"C:\Users\j\x.pdf", "Text", "application/pdf")]),
        (r":C$\backslash$:/Users/j/x.pdf:pdf", [("C:/Users/j/x.pdf", "", "pdf")]),
        ("storage:ABCD2345/x.pdf", [("storage:ABCD2345/x.pdf", "", "")]),
        ("file:///home/j/x.pdf", [("file:///home/j/x.pdf", "", "")]),
        (r"/home/j/a\;b\:c.pdf;d.pdf", [("/home/j/a;b:c.pdf", "", ""), ("d.pdf", "", "")]),
        ("x.pdf:PDF", [("x.pdf", "", "PDF".lower())]),
        (" ; ;", []),
        ("", []),
    ],
)
def test_path_title_and_type_are_told_apart(field: str, found: list[tuple[str, str, str]]) -> None:
    read = [(item.paths[0], item.title, item.media_type) for item in attachments(field)]

    assert read == found


def test_a_path_in_latex_has_its_unicode_spelling_too() -> None:
    (item,) = attachments(r"files/M{\"u}ller\_2020.pdf")

    assert "files/Müller_2020.pdf" in item.paths


def test_a_colon_in_a_name_leaves_the_whole_name_as_a_spelling() -> None:
    (item,) = attachments("Straw: a study.pdf")

    assert "Straw: a study.pdf" in item.paths
