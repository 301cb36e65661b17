"""Scopes that the domain profile gives a name, so that something can be made for exactly them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from corpus.rights import ALL_CLASSES, CLOSED, LicenseClass
from corpus.scope import RetrievalScope, scope

Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,59}$")]
Names = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(min_length=1)]


class NamedScope(BaseModel):
    """The fields of a scope. What is left out does not restrict; an empty list would allow nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    license_classes: Annotated[tuple[LicenseClass, ...], Field(min_length=1)] | None = None
    buckets: Names | None = None
    authors: Names | None = None
    journals: Names | None = None
    year_min: Annotated[int, Field(ge=0, le=9999)] | None = None
    year_max: Annotated[int, Field(ge=0, le=9999)] | None = None
    exclude_dois: tuple[str, ...] = ()
    # As answers do when nothing else is asked for.
    exclude_retracted: bool = True

    @model_validator(mode="after")
    def _is_a_scope(self) -> NamedScope:
        self.scope()
        return self

    def scope(self) -> RetrievalScope:
        """Return the scope; raise `InvalidScope`."""
        return scope(**self.model_dump())


# What answers start from: for who may see everything, and for who may see the open classes.
DEFAULTS = {
    "everything": NamedScope(),
    "open": NamedScope(license_classes=tuple(each for each in ALL_CLASSES if each not in CLOSED)),
}
