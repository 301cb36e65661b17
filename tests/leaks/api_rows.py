"""The API in the leak table: what is asked of it, with a key of each person that may do all they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.urls import reverse

from corpus.keys.models import KeyUse
from corpus.rights import LicenseClass
from corpus.scope import Ceiling
from tests.factories.keys import make_key, secret_of

if TYPE_CHECKING:
    from tests.leaks.routes import Call
    from tests.leaks.world import World

QUERY = {"query": "What does biochar hold?"}
# Asked for more than anybody but librarians may see, each in its own way.
SCOPES: tuple[dict[str, object], ...] = (
    {},
    {"license_classes": ["restricted", "unknown"]},
    {"exclude_retracted": False, "year_min": 2019},
)
# Reading requests that are made by posting.
ASKING = {"api_query", "api_answer"}


def furnish(world: World) -> None:
    """Give everybody a key."""
    world.secrets = {name: secret_of(person) for name, person in world.people.items() if person is not None}


def forget_uses() -> None:
    """Let all keys begin anew: more is asked here within a minute than programs may."""
    KeyUse.objects.all().delete()


def narrow_key_of(owner: User) -> str:
    """Return a key of `owner` that may see what is public and nothing else."""
    return make_key(owner, ceiling=Ceiling((LicenseClass.PUBLIC,), None)).secret.reveal()


def calls(world: World, words: list[str]) -> dict[str, list[Call]]:
    """Return the requests to make for each route of the API."""
    from tests.leaks.routes import Call

    def each(route: str, ids: list[object]) -> list[Call]:
        return [Call(reverse(route, args=[key])) for key in ids]

    def listed(route: str, *more: dict[str, str]) -> list[Call]:
        asked = [{}, *more, *({"q": word} for word in words)]
        return [Call(reverse(route), data=data) for data in asked]

    def sent(route: str, *bodies: dict[str, object]) -> list[Call]:
        return [Call(reverse(route), "post", body=body) for body in bodies]

    asked = [QUERY | {"scope": scope} for scope in SCOPES]
    document = str(world.documents["restricted"].pk)
    answer = str(world.answers["narrow"].pk)
    kept: dict[str, object] = {"text": "Biochar holds water."}
    return {
        "api_documents": listed(
            "api_documents", {"license_class": "restricted"}, {"bucket": f"bucket-{words[3]}"}, {"page": "2"}
        )
        + [Call(reverse("api_documents"), data={"q": f"10.9999/{word}"}) for word in words],
        "api_document": each("api_document", [row.pk for row in world.documents.values()]),
        "api_chunk": each("api_chunk", [row.public_id for row in world.passages.values()]),
        "api_sources": listed("api_sources", {"page": "2"}, {"q": f"10.9999/{words[0]}.work"}),
        "api_entities": listed("api_entities", {"type": "concept"}, {"document": document}),
        "api_notes": listed("api_notes", {"whose": "shared"})
        + sent("api_notes", kept, kept | {"from_answer": answer, "cites": ["10.9999/x"]}),
        "api_query": sent("api_query", *asked, {"query": words[3]}),
        "api_answer": sent("api_answer", *asked, QUERY | {"stream": True}),
        "api_status": [Call(reverse("api_status"))],
        "api_manifest": [Call(reverse("api_manifest"))],
        "api_ingest": [Call(reverse("api_ingest"), "post", {"bucket": "reports"})],
        "api_run": each("api_run", [run.pk for run in world.runs]),
        "api_health": [Call(reverse("api_health"))],
        "api_schema": [Call(reverse("api_schema"))],
        "api_docs": [Call(reverse("api_docs"))],
        "api_nothing": [Call(reverse("api_nothing") + "v1/nothing")],
    }
