"""Reading what was sent, strictly: unknown names, other types and values out of bounds are refused."""

from __future__ import annotations

import re
from typing import IO, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request

from corpus.api import hygiene
from corpus.api.problems import invalid, of_fields
from corpus.upload_handlers import none_left_open

M = TypeVar("M", bound="Sent")
_DIGITS = re.compile(r"-?[0-9]{1,9}", re.ASCII)


class Sent(BaseModel):
    """What a request may hold. Other names than these are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoParameters(Sent):
    """An address that takes no parameters."""


def _whole(given: Any) -> Any:
    if isinstance(given, str) and not _DIGITS.fullmatch(given):
        raise ValueError("Input should be a whole number")
    return given


# As it stands in an address, where everything is text.
Whole = Annotated[int, BeforeValidator(_whole)]


class Paging(Sent):
    """Which part of a list."""

    page: Whole = Field(default=1, ge=1, le=100_000, description="The number of the page, from 1.")
    page_size: Whole = Field(default=25, ge=1, le=100, description="How many a page has.")

    @property
    def part(self) -> slice:
        """Return the place of the page in the whole list."""
        return slice((self.page - 1) * self.page_size, self.page * self.page_size)


class Json(str):
    """The text of a JSON object that was found to be clean."""

    __slots__ = ()


class JsonParser(BaseParser):
    """Reads a JSON object; what it is made of is for the model of the request to say."""

    media_type = "application/json"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the text, once it is known to be clean; raise `UnusableJson`."""
        return Json(hygiene.checked(stream.read(hygiene.MOST_BYTES + 1)))


class FilesParser(MultiPartParser):
    """Reads a form with files; they are on disk by then, each bounded by the site's upload handler."""

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the form; of a damaged one no file is left open."""
        with none_left_open(parser_context["request"]):
            return super().parse(stream, media_type, parser_context)


def read_body(request: Request, model: type[M]) -> M:
    """Return the JSON body as `model`; a problem is raised for any other."""
    text = request.data
    if not isinstance(text, Json):
        raise invalid("Send a JSON object, with the content type application/json.")
    try:
        return model.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise of_fields(error) from None


def read_parameters(request: Request, model: type[M]) -> M:
    """Return the parameters of the address as `model`; raise a problem for others and for repeated ones."""
    given: dict[str, str] = {}
    for name, values in request.query_params.lists():
        if len(values) > 1:
            raise invalid("The parameter occurs more than once.", where=_legible(name))
        for text in (name, values[0]):
            hygiene.check_text(text)
        given[name] = values[0]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise of_fields(error) from None


def _legible(name: str) -> str:
    return ascii(name[:80])[1:-1]
