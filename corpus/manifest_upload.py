"""A manifest that came through a form, checked against the files that came with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from corpus import manifest as manifests
from corpus import uploads
from corpus.actions import rights
from corpus.forms import MOST_MANIFEST_CHARACTERS, ManifestForm
from corpus.manifest import Code, Entry, Problem
from corpus.uploads import Line, Sent, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# What to do about each problem.
FIXES = {
    Code.UNREADABLE: gettext_lazy("Save the manifest as UTF-8 text."),
    Code.TOO_LARGE: gettext_lazy("Split the manifest, or use `sci-rag ingest --manifest`."),
    Code.INVALID_JSON: gettext_lazy("Write one JSON object a line, with keys and text in double quotes."),
    Code.NOT_AN_OBJECT: gettext_lazy("Put the line in braces, each field with its name."),
    Code.INVALID_FIELD: gettext_lazy("Correct the field, or leave it out."),
    Code.UNKNOWN_LICENSE_CLASS: gettext_lazy(
        "Use public, open_commercial, open_noncommercial, restricted or unknown."
    ),
    Code.MISSING_TITLE: gettext_lazy("Add a title; without one the file's own is taken."),
    Code.MISSING_FILE: gettext_lazy("Add the file to this form, under the same name."),
    Code.UNSUPPORTED_FILE_TYPE: gettext_lazy("Convert the file to a type that is read."),
    Code.OUTSIDE_FOLDER: gettext_lazy("Name the file by a path below the manifest."),
    Code.DUPLICATE_PATH: gettext_lazy("Remove one of the two lines, or give the files different names."),
    Code.UNKNOWN_KEY: gettext_lazy("Rename the key or remove it; the line is taken in without it."),
    Code.LOOSER_THAN_ITS_SIGNAL: gettext_lazy("Declare the stricter class, or name what the class rests on."),
}
_MOST_LINES = 400
_LONGEST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the manifest with what is wrong with it."""

    number: int
    text: str
    problems: tuple[tuple[Problem, str], ...]

    @property
    def refuses(self) -> bool:
        """Whether the line's file cannot be taken in."""
        return any(problem.refuses for problem, _fix in self.problems)


@dataclass(frozen=True, slots=True)
class Examined:
    """What a form holds: the text, the files that are kept for it, and every problem by line."""

    text: str = ""
    error: str = ""
    rows: tuple[Row, ...] = ()
    left_out: int = 0
    entries: tuple[Entry, ...] = ()
    problems: int = 0
    is_clean: bool = False
    tokens: tuple[tuple[str, str], ...] = ()
    refused: tuple[Line, ...] = ()
    unnamed: tuple[str, ...] = ()

    @property
    def has_problems(self) -> bool:
        """Whether anything has to be decided before files are taken in."""
        return bool(self.refused) or not self.is_clean

    def may_take(self, *, good_lines_only: bool) -> bool:
        """Say whether its files may be taken in: all when nothing is wrong, else the good ones if asked."""
        return bool(self.entries) and (good_lines_only or not self.has_problems)

    def with_error(self, error: str) -> Examined:
        """Return the same with an error about the whole."""
        return replace(self, error=error)


EMPTY = Examined()


@dataclass(slots=True)
class _Files:
    """The files of the form by name: those sent now and those kept from an earlier check."""

    by_name: dict[str, tuple[str, Sent]] = field(default_factory=dict)
    refused: list[Line] = field(default_factory=list)


def examine(request: HttpRequest, *, by: User) -> Examined:
    """Check the manifest of a form. Good files are kept, so that they need not be sent again."""
    form = ManifestForm(request.POST)
    files = _files(request, by=by)
    text, error = _text(request, form)
    found = Examined(
        text=text,
        error=error,
        tokens=tuple((name, token) for name, (token, _file) in sorted(files.by_name.items())),
        refused=tuple(files.refused),
    )
    return found if error else _linted(found, files, by=by)


def _linted(found: Examined, files: _Files, *, by: User) -> Examined:
    manifest = manifests.read_text(
        found.text, {name: file.path for name, (_t, file) in files.by_name.items()}
    )
    entries = tuple(manifest.entries)
    rows, left_out = _rows(found.text, manifest.problems)
    named = {entry.path for entry in entries}
    error = ""
    if not by.has_perm(rights.PERMISSION) and any(entry.described.license_class for entry in entries):
        error = _("Your account may not declare licences: remove license_class from the manifest.")
    elif not entries and not manifest.problems:
        error = _("The manifest has no entries.")
    return replace(
        found,
        error=error,
        rows=rows,
        left_out=left_out,
        entries=entries,
        problems=len(manifest.problems),
        is_clean=not manifest.has_errors,
        unnamed=tuple(name for name, (_t, file) in sorted(files.by_name.items()) if file.path not in named),
    )


def _files(request: HttpRequest, *, by: User) -> _Files:
    files = _Files(uploads.kept(request.POST.getlist("kept"), by=by))
    sent, files.refused = uploads.sent(request)
    names = Counter(file.name for file in sent)
    for file in sent:
        line = uploads.judge(file, by=by)
        if names[file.name] > 1:
            detail = _("Two files of this name were sent, and the manifest cannot tell them apart.")
            files.refused.append(Line(file.name, Verdict.REFUSED, "duplicate_name", detail))
        elif line.verdict is Verdict.REFUSED:
            files.refused.append(line)
        else:
            token = uploads.keep(file, by=by)
            files.by_name |= uploads.kept([token], by=by)
    return files


def _text(request: HttpRequest, form: ManifestForm) -> tuple[str, str]:
    """Return the manifest's text and what is wrong with it as a whole."""
    sent, _away = uploads.sent(request, "manifest_file")
    if sent:
        if sent[0].path.stat().st_size > MOST_MANIFEST_CHARACTERS:
            return "", _("The manifest is too long for this form; use `sci-rag ingest --manifest`.")
        try:
            return sent[0].path.read_text(encoding="utf-8-sig"), ""
        except UnicodeDecodeError:
            return "", _("The manifest is not UTF-8 text.")
    text = form.data.get("manifest", "")[: MOST_MANIFEST_CHARACTERS + 1]
    if not form.is_valid():
        return text, " ".join(map(str, form.errors["manifest"]))
    text = form.cleaned_data["manifest"].replace("\r\n", "\n")
    return text, "" if text.strip() else _("Paste a manifest, or choose the file of one.")


def _rows(text: str, problems: Sequence[Problem]) -> tuple[tuple[Row, ...], int]:
    """Return the lines with their problems, and how many are left out: of a long manifest, good ones."""
    by_line: dict[int, list[tuple[Problem, str]]] = {}
    for problem in problems:
        by_line.setdefault(problem.line, []).append((problem, str(FIXES[problem.code])))
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    numbers = range(1, len(lines) + 1)
    if len(lines) > _MOST_LINES:
        numbers = [number for number in numbers if number in by_line][:_MOST_LINES]  # type: ignore[assignment]
    rows = tuple(
        Row(number, lines[number - 1][:_LONGEST_SHOWN], tuple(by_line.get(number, ()))) for number in numbers
    )
    return rows, len(lines) - len(rows)
