"""Every route of the site, and how the leak table asks it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from answers.exports.forms import FORMS
from answers.notebook.exports import FORMS as NOTE_FORMS
from tests.leaks import api_rows, calibration_rows, campaign_rows, evaluation_rows
from tests.leaks.world import CASES, World, canary


@dataclass(frozen=True)
class Call:
    """One request. `about` is whose document or answer it names, when it names one."""

    path: str
    method: str = "get"
    data: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    # Sent as JSON.
    body: dict[str, object] | None = None


HTMX = {"HX-Request": "true"}
QUESTION = {"question": "What does biochar hold?"}


def names(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[str]:
    """Yield the full name of every route outside the admin; a route without a name by its pattern."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            if entry.namespace != "admin":
                yield from names(entry, prefix + (f"{entry.namespace}:" if entry.namespace else ""))
        else:
            yield prefix + (entry.name or str(entry.pattern))


def admin_paths(world: World) -> Iterator[str]:
    """Yield an address for every admin route, with the restricted document wherever an id is asked."""
    admin = next(e for e in get_resolver().url_patterns if getattr(e, "namespace", "") == "admin")
    for entry, above in _patterns(admin, "/"):
        yield above + _filled(entry, world)


def _patterns(resolver: URLResolver, above: str) -> Iterator[tuple[URLPattern, str]]:
    here = above + str(resolver.pattern).removeprefix("^")
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from _patterns(entry, here)
        elif not hasattr(entry.pattern, "_regex") or "(?P<url>" not in str(entry.pattern):
            yield entry, here


def _filled(entry: URLPattern, world: World) -> str:
    document = world.documents["restricted"]
    text = str(entry.pattern).removeprefix("^").removesuffix("$")
    for name, converter in entry.pattern.converters.items():
        kind = type(converter).__name__
        value = "1" if kind == "IntConverter" else str(document.id)
        for prefix in ("int", "str", "path", "uuid", "slug"):
            text = text.replace(f"<{prefix}:{name}>", value)
        text = text.replace(f"<{name}>", value)
    return text


def _about_answers(world: World) -> dict[str, list[Call]]:
    """Everything that can be done with an answer and its conversation, by whoever has the address."""
    keys = [answer.id for answer in world.answers.values()]
    talks = [answer.conversation_id for answer in world.answers.values()]

    def each(route: str, ids: list[uuid.UUID], method: str = "get", **data: str) -> list[Call]:
        return [Call(reverse(route, args=[key]), method, data) for key in ids]

    return {
        "answer_wrong": each("answer_wrong", keys)
        + each("answer_wrong", keys, "post", words="It is not so."),
        "answer_acquire": each("answer_acquire", keys)
        + each("answer_acquire", keys, "post", words="It is not so."),
        "answer_export": [Call(reverse("answer_export", args=[key, form])) for key in keys for form in FORMS],
        "conversation": each("conversation", talks),
        "conversation_rename": each("conversation_rename", talks, "post", title="Mine"),
        "conversation_delete": each("conversation_delete", talks),
        "conversation_export": [
            Call(reverse("conversation_export", args=[key, form])) for key in talks for form in FORMS
        ],
    }


def _about_extractions(world: World) -> dict[str, list[Call]]:
    """Runs of extraction, whose numbers are about everything."""
    keys = [run.pk for run in world.extractions]
    return {
        "extractions": [Call(reverse("extractions"))],
        "extraction": [Call(reverse("extraction", args=[key])) for key in keys],
        "extraction_events": [Call(reverse("extraction_events", args=[key])) for key in keys],
    }


def _about_entities(world: World) -> dict[str, list[Call]]:
    """The list of entities by every word, and every entity with what it is mentioned and related by."""
    listing, words = reverse("entities"), [canary(item) for item in CASES]
    shared, some = world.entities[""], ("public", "restricted")
    found = [shared, *(rows[case] for rows in (world.entities, world.tombstones) for case in some)]
    return {
        "entities": [
            Call(listing),
            Call(listing, headers=HTMX),
            Call(listing, data={"type": "concept", "order": "name"}),
            *(Call(listing, data={"q": word}) for word in words),
            *(Call(listing, data={"document": str(world.documents[case].pk)}) for case in some),
        ],
        "entity": [Call(reverse("entity", args=[row.pk])) for row in found],
        "entity_passages": [Call(reverse("entity_passages", args=[row.pk])) for row in found],
        "entity_evidence": [
            Call(reverse("entity_evidence", args=[row.pk]), data=data)
            for row in found
            for data in ({}, {"with": str(shared.pk)})
        ],
    }


def _about_notes(world: World) -> dict[str, list[Call]]:
    """Everything that can be done with a note, by whoever has the address."""
    keys = [note.id for note in world.notes.values()]
    answers = [answer.id for answer in world.answers.values()]
    listing, words = reverse("notes"), {"text": "Biochar holds water.", "kind": "finding"}

    def each(route: str, ids: list[uuid.UUID], method: str = "get", **data: str) -> list[Call]:
        return [Call(reverse(route, args=[key]), method, data) for key in ids]

    return {
        "notes": [
            Call(listing),
            Call(listing, data={"q": "biochar", "kind": "finding"}, headers=HTMX),
            Call(listing, data={"whose": "shared", "page": "2"}),
            *(Call(listing, data={"deleted": str(key)}) for key in world.deleted_notes.values()),
            *(Call(listing, data={"q": canary(item)}) for item in CASES),
        ],
        "note_new": [
            Call(reverse("note_new")),
            *(Call(reverse("note_new"), "post", words | {"named": named}) for named in ("", "10.9999/x")),
        ],
        "note": each("note", keys),
        "note_edit": each("note_edit", keys) + each("note_edit", keys, "post", **words),
        "note_delete": each("note_delete", keys),
        "note_restore": each("note_restore", [*keys, *world.deleted_notes.values()], "post"),
        "note_cite": each("note_cite", keys, "post", work="10.9999/x", relationship="cited")
        + each("note_cite", keys, "post", work="10.9"),
        "note_source": [
            Call(reverse("note_source", args=[key, number]), "post", data)
            for key in keys
            for number in (1, 4, 99)
            for data in ({"relationship": "inferred"}, {"do": "check"})
        ],
        "note_export": [
            Call(reverse("note_export", args=[key, form])) for key in keys for form in NOTE_FORMS
        ],
        "notes_export": [Call(reverse("notes_export", args=[form])) for form in NOTE_FORMS],
        "answer_note": each("answer_note", answers)
        + each("answer_note", answers, "post", source="4", **words),
    }


def _about_accounts() -> dict[str, list[Call]]:
    """One's own account, and the ways to a provider that this site does not have."""
    ending, connecting = reverse("account_end_session"), reverse("account_connect")
    return {
        "account": [Call(reverse("account"))],
        "account_end_session": [
            Call(ending, "post", {"session": value}) for value in (str(uuid.uuid4()), "x")
        ],
        "account_password": [
            Call(reverse("account_password")),
            Call(reverse("account_password"), "post", {"old_password": "a", "new_password1": "b"}),
        ],
        "account_connect": [Call(connecting, "post", {"password": "a"})],
        "sign_in_provider": [Call(reverse("sign_in_provider"))],
        "sign_in_finish": [Call(reverse("sign_in_finish"), data={"state": "a", "code": "b"})],
        "signed_out": [Call(reverse("signed_out"))],
        "sign_out_provider": [Call(reverse("sign_out_provider"))],
    }


def calls(world: World) -> dict[str, list[Call]]:
    """Return the requests to make for each route. A route that is missing here fails the table."""
    documents = [reverse("document", args=[d.id]) for d in world.documents.values()]
    passages = [reverse("passage", args=[p.public_id]) for p in world.passages.values()]
    answers = [reverse("answer", args=[a.id]) for a in world.answers.values()]
    pictures = [reverse("page_image", args=[d.id, 1]) for d in world.documents.values()]
    runs = [reverse("run", args=[run.id]) for run in world.runs]
    words = [canary(item) for item in CASES]
    wishes = [
        wanted
        for word in words
        for wanted in (f"10.9999/{word}", f"10.9999/{word}.work", f"Biochar and {word}", f"{word}.pdf")
    ]
    listing, asking, scoping = reverse("documents"), reverse("ask"), reverse("scope")
    return {
        "ask": [
            Call(asking),
            *(Call(asking, data={"from": str(answer.id)}) for answer in world.answers.values()),
            Call(asking, data={"rights": "chosen", "license_class": "restricted"}),
            Call(asking, "post", QUESTION),
            Call(asking, "post", QUESTION | {"rights": "chosen", "license_class": "restricted"}),
            Call(asking, "post", QUESTION | {"do": "scope", "include_retracted": "on"}),
        ],
        "scope": [
            Call(scoping),
            Call(scoping, data={"rights": "chosen", "license_class": "unknown"}, headers=HTMX),
        ],
        "answer_stream": [
            Call(reverse("answer_stream"), "post", QUESTION, HTMX),
            Call(
                reverse("answer_stream"),
                "post",
                QUESTION | {"rights": "chosen", "license_class": "restricted"},
                HTMX,
            ),
        ],
        "answers": [
            Call(reverse("answers")),
            Call(reverse("answers"), data={"q": "biochar"}, headers=HTMX),
            *(Call(reverse("answers"), data={"q": word}) for word in words),
        ],
        "answer": [Call(path) for path in answers],
        **_about_answers(world),
        **evaluation_rows.calls(world),
        **_about_notes(world),
        **calibration_rows.calls(world),
        "notices": [Call(reverse("notices")), Call(reverse("notices"), data={"page": "2"})],
        "notices_read": [
            Call(reverse("notices_read"), "post", {"notice": str(number)}) for number in (1, 2, 3)
        ],
        "documents": [
            Call(listing),
            Call(listing, headers=HTMX),
            Call(listing, data={"license_class": "restricted"}),
            Call(listing, data={"standing": "current", "year_min": "2019", "year_max": "2021"}),
            *(Call(listing, data={"q": f"10.9999/{word}"}) for word in words),
        ],
        "why": [
            Call(reverse("why")),
            Call(reverse("why"), data={"q": "Biochar", "who": "librarian"}),
            *(Call(reverse("why"), data={"q": wanted}) for wanted in wishes),
            *(Call(reverse("why"), data={"q": wanted, "who": "asker"}) for wanted in wishes),
            *(Call(reverse("why"), data={"q": str(d.id)}) for d in world.documents.values()),
            *(Call(reverse("why"), data={"q": str(p.public_id)}) for p in world.passages.values()),
        ],
        "access_request": [
            Call(reverse("access_request"), "post", {"wanted": "A handbook of biochar"}),
            Call(reverse("access_request"), "post", {"wanted": ""}),
        ],
        "document": [Call(path) for path in documents],
        "upload": [
            Call(reverse("upload")),
            Call(reverse("upload"), "post", {"bucket": "reports", "license_class": "public"}),
        ],
        "upload_file": [Call(reverse("upload_file"), "post", {"run": str(uuid.uuid4())})],
        "upload_manifest": [
            Call(reverse("upload_manifest")),
            Call(reverse("upload_manifest"), "post", {"manifest": '{"path": "a.md"}', "do": "take"}),
        ],
        "upload_library": [
            Call(reverse("upload_library")),
            Call(reverse("upload_library"), "post", {"bucket": "reports", "kept": "forged", "do": "take"}),
        ],
        "page_image": [Call(path) for path in pictures]
        + [Call(path, data={"width": "7"}) for path in pictures]
        + [Call(path.replace("/1.webp", "/2.webp")) for path in pictures],
        "passage": [Call(path) for path in passages]
        + [Call(path, data={"page": "1", "width": "1200", "cited": "0-10"}) for path in passages],
        **_about_entities(world),
        **_about_extractions(world),
        **campaign_rows.calls(world),
        "usage": [Call(reverse("usage")), Call(reverse("usage"), data={"by": "collection", "days": "9"})],
        "doctor": [Call(reverse("doctor"))],
        "system": [Call(reverse("system"))],
        "usage_csv": [Call(reverse("usage_csv"))],
        "runs": [Call(reverse("runs"))],
        "run": [Call(path) for path in runs] + [Call(path, data={"show": "failed"}) for path in runs],
        "run_events": [Call(reverse("run_events", args=[run.id])) for run in world.runs],
        "run_cancel": [Call(reverse("run_cancel", args=[run.id]), "post") for run in world.runs],
        "run_retry": [Call(reverse("run_retry", args=[run.id]), "post") for run in world.runs],
        "login": [Call(reverse("login")), Call(reverse("login"), "post", {"username": "a", "password": "b"})],
        "logout": [Call(reverse("logout"))],
        **_about_accounts(),
        "theme": [Call(reverse("theme"), "post", {"theme": "dark", "next": documents[3]})],
        "healthz": [Call(reverse("healthz"))],
        "readyz": [Call(reverse("readyz"))],
        "metrics": [
            Call(reverse("metrics")),
            Call(reverse("metrics"), headers={"Authorization": f"Bearer {'x' * 32}"}),
        ],
        **api_rows.calls(world, words),
    }
