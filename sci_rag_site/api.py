"""The REST surface put together: the routes of every app, the OpenAPI description, and the page to try it."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from csp.decorators import csp_update
from django.http import HttpResponse
from django.urls import include, path, re_path
from django.views.decorators.http import require_safe
from django.views.generic import TemplateView
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request

from corpus.api.views import NothingHere, OpenView

# Swagger's style sheet draws its arrows as pictures that stand in the sheet itself.
_docs = csp_update({"img-src": ["data:"]})(require_safe(TemplateView.as_view(template_name="api/docs.html")))


class Description(OpenView):
    """The OpenAPI description of the surface: what it takes and answers, nothing of what it holds."""

    schema = None

    def get(self, request: Request) -> HttpResponse:
        """Send it."""
        return HttpResponse(described(), content_type="application/json")


@lru_cache(maxsize=1)
def described() -> str:
    """Return the OpenAPI description as JSON."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    schema["info"]["version"] = version("sci-rag")
    return json.dumps(schema, ensure_ascii=False)


urlpatterns = [
    path("v1/", include("corpus.api.urls")),
    path("v1/", include("retrieval.api.urls")),
    path("v1/", include("answers.api.urls")),
    path("v1/openapi.json", Description.as_view(), name="api_schema"),
    path("v1/docs", _docs, name="api_docs"),
    re_path("", NothingHere.as_view(), name="api_nothing"),
]
