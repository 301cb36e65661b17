"""What may be asked of a search, and by whom what of it may be seen."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from corpus.api.problems import invalid
from corpus.api.requests import Sent
from corpus.api.shapes import LicenseName
from corpus.days import InvalidDay, last_day_of
from corpus.scope import RetrievalScope, scope
from retrieval.request import MAX_LIMIT, MAX_QUESTION

_MOST_NAMES = 100
_Name = Annotated[str, Field(min_length=1, max_length=300)]
_Names = Annotated[list[_Name], Field(max_length=_MOST_NAMES)]
_Year = Annotated[int, Field(ge=0, le=9999)]
ProfileName = Literal["interactive", "deep", "auto"]


class ScopeSent(Sent):
    """What may be seen. A list that is left out or null does not restrict; an empty one allows nothing.

    The lists of what to leave out are the exception: empty, they leave nothing out. Whatever is asked for, a
    request sees no more than its key.
    """

    license_classes: Annotated[list[LicenseName], Field(max_length=5)] | None = None
    buckets: _Names | None = None
    authors: _Names | None = None
    journals: _Names | None = None
    year_min: _Year | None = None
    year_max: _Year | None = None
    exclude_document_ids: Annotated[list[UUID], Field(max_length=_MOST_NAMES)] = Field(default=[])
    exclude_dois: _Names = Field(default=[])
    exclude_retracted: bool | None = Field(
        default=None, description="Left out: a search shows retracted works with a badge, an answer has none."
    )
    as_of: Annotated[str, Field(max_length=40)] | None = Field(
        default=None, description="Prefer versions in force then: 2019, 2019-05 or 2019-05-31."
    )

    def requested(self, *, exclude_retracted: bool) -> RetrievalScope:
        """Return the scope that is asked for; `exclude_retracted` holds where nothing was said of it.

        Raises `InvalidScope` for what makes none.
        """
        said = self.exclude_retracted
        return scope(
            license_classes=self.license_classes,
            buckets=self.buckets,
            authors=self.authors,
            journals=self.journals,
            year_min=self.year_min,
            year_max=self.year_max,
            exclude_document_ids=[str(key) for key in self.exclude_document_ids],
            exclude_dois=self.exclude_dois,
            exclude_retracted=exclude_retracted if said is None else said,
            as_of=self._day(),
        )

    def _day(self) -> date | None:
        if self.as_of is None:
            return None
        try:
            return last_day_of(self.as_of)
        except InvalidDay as error:
            raise invalid(str(error), where="scope.as_of") from None


class QueryAsked(Sent):
    """A question and where to look."""

    query: str = Field(min_length=1, max_length=MAX_QUESTION, description="The question, in words.")
    top_k: int = Field(default=8, ge=1, le=MAX_LIMIT, description="How many passages.")
    profile: ProfileName = Field(default="interactive", description="How to search.")
    scope: ScopeSent = Field(default=ScopeSent())
