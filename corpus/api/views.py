"""What every view of the API is: asked by key, counted, allowed or not, and strict about what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from django.conf import settings
from django.http import Http404, HttpResponse
from pydantic import BaseModel
from rest_framework import authentication, exceptions
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView
from structlog.contextvars import bind_contextvars

from corpus.api import problems, requests
from corpus.keys import throttling
from corpus.keys.authentication import Caller, authenticate
from corpus.keys.permissions import Permission

_SCHEME = "bearer"
M = TypeVar("M", bound=requests.Sent)


class KeyAuthentication(authentication.BaseAuthentication):
    """Takes the key of the Authorization header. Nothing else authenticates: no cookie, no address."""

    def authenticate(self, request: Request) -> tuple[Any, Caller]:
        """Return who asks; raise a `KeyRefused`."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        caller = authenticate(secret.strip() if scheme.lower() == _SCHEME else "")
        return caller.user, caller

    def authenticate_header(self, request: Request) -> str:
        """Return what the header of a refusal asks for."""
        return problems.CHALLENGE


class ApiView(APIView):
    """One address. `permissions` says for each method what the key has to allow."""

    authentication_classes: Sequence[type[authentication.BaseAuthentication]] = (KeyAuthentication,)
    permission_classes = ()
    throttle_classes = ()
    parser_classes: Sequence[type[BaseParser]] = (requests.JsonParser,)
    renderer_classes = (JSONRenderer,)
    metadata_class = None
    http_method_names: Sequence[str] = ("get", "head", "post")

    permissions: ClassVar[Mapping[str, Permission]] = {}
    # What the address may hold after its question mark, of a reading request.
    parameters: ClassVar[type[requests.Sent]] = requests.NoParameters

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Find out who asks, count it, see whether they may, and read the parameters, in this order."""
        if settings.SECURE_SSL_REDIRECT and not request.is_secure():
            raise problems.invalid("Ask over https.")
        method = str(request.method)
        if method not in self.allowed_methods:
            raise exceptions.MethodNotAllowed(method)
        self.admit(request)
        reading = method in ("GET", "HEAD")
        self._wanted = requests.read_parameters(
            request, self.parameters if reading else requests.NoParameters
        )

    def admit(self, request: Request) -> None:
        """Let the request in, or raise why not."""
        self.perform_authentication(request)
        caller = self.caller
        bind_contextvars(key=str(caller.key))
        throttling.count(caller)
        method = "GET" if request.method == "HEAD" else str(request.method)
        caller.require(self.permissions[method])

    def wanted(self, model: type[M]) -> M:
        """Return the parameters of the address, which are of this model."""
        return cast("M", self._wanted)

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return cast("Caller", self.request.auth)

    def require_right(self, name: str) -> None:
        """Refuse unless the key's owner has the right: a key allows nothing that they may not."""
        if not self.caller.user.has_perm(name):
            raise problems.Problem(
                problems.Code.INSUFFICIENT_SCOPE, "The account that the key belongs to may not do this."
            )

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Answer in JSON whatever the request would rather have."""
        return JSONRenderer(), JSONRenderer.media_type

    def get_exception_handler(self) -> Any:
        """Have every exception answered as a problem."""
        return problems.handled


class OpenView(ApiView):
    """An address that anybody may ask, because it says nothing about anything."""

    authentication_classes = ()

    def admit(self, request: Request) -> None:
        """Let everybody in."""


class NothingHere(OpenView):
    """Every address of the API that is none."""

    schema = None
    http_method_names = ("get", "head", "post", "put", "patch", "delete", "options", "trace")

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Say that there is nothing, to whoever asks."""
        raise Http404


def reply(value: BaseModel, *, status: int = 200) -> HttpResponse:
    """Send `value`."""
    return HttpResponse(value.model_dump_json(), status=status, content_type="application/json")
