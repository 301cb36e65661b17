"""The domain profile: numbers and names a domain expert edits in `domain/domain.yaml`."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from corpus.named_scopes import DEFAULTS, Label, NamedScope

MAX_BYTES = 2_000_000
MAX_DEPTH = 20

File = TypeVar("File", bound=BaseModel)
Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class InvalidProfile(ValueError):
    """A profile that cannot be used. One line per problem, each with its place in the file."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LayerProfile(_Model):
    """How much one candidate generator counts, and how many candidates it hands to fusion."""

    weight: Weight
    pool: Annotated[int, Field(ge=1, le=500)] = 20


class GraphProfile(_Model):
    """How the graph layer walks. Ranking by strength and the hop are off until measured to help."""

    name_with_model: bool = True
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    strongest_path: bool = False
    citation_hop: bool = False


class LayerProfiles(_Model):
    """The five candidate generators."""

    vector: LayerProfile = LayerProfile(weight=0.6)
    keyword: LayerProfile = LayerProfile(weight=1.0)
    graph: LayerProfile = LayerProfile(weight=0.8)
    community: LayerProfile = LayerProfile(weight=0.6, pool=5)
    hyde: LayerProfile = LayerProfile(weight=0.5)


Phrases = Annotated[tuple[Annotated[str, Field(min_length=2, max_length=80)], ...], Field(max_length=200)]


class QueryClass(_Model):
    """One kind of question: the phrases that mark it, and how a passage that answers it is written."""

    cues: Phrases = ()
    style: Annotated[str, Field(min_length=1, max_length=400)]


class QueryClasses(_Model):
    """The kinds of question the router tells apart."""

    lookup: QueryClass = QueryClass(
        style="A sentence or two of a results section that state the fact with figure, unit and conditions."
    )
    comparison: QueryClass = QueryClass(
        style="A results paragraph that sets the things compared side by side, each with figures and units."
    )
    causal: QueryClass = QueryClass(
        style="A discussion paragraph that names the mechanism, the conditions and the size of the effect."
    )
    overview: QueryClass = QueryClass(
        style="The opening paragraph of a review that names the main findings and where they differ."
    )
    ambiguous: QueryClass = QueryClass(style="A paragraph of a research article that answers the question.")


class RerankerProfile(_Model):
    """Whether the best passages are ordered once more by a slower reading of question and passage."""

    kind: Literal["none", "model", "cross_encoder"] = "none"
    pool: Annotated[int, Field(ge=2, le=50)] = 20
    seconds: Annotated[float, Field(gt=0, le=120)] = 15.0


class CompressionProfile(_Model):
    """In which search profiles passages are condensed for the question before a model writes; off in all.

    A passage that the fast model gives less than `floor` of ten is set aside; what is not condensed within
    `seconds` is kept whole.
    """

    profiles: tuple[Literal["interactive", "deep"], ...] = ()
    floor: Annotated[int, Field(ge=0, le=10)] = 3
    seconds: Annotated[float, Field(gt=0, le=60)] = 15.0


class DomainProfile(_Model):
    """What is particular to one library's field."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = "General science"
    chunk_tokens: Annotated[int, Field(ge=50, le=8000)] = 800
    overlap_tokens: Annotated[int, Field(ge=0, le=4000)] = 150
    table_tokens: Annotated[int, Field(ge=50, le=20_000)] = 3000
    layers: LayerProfiles = LayerProfiles()
    fusion_k: Annotated[int, Field(ge=1, le=1000)] = 60
    supersession_factor: Annotated[float, Field(ge=0, le=1)] = 0.5
    max_per_document: Annotated[int, Field(ge=1, le=50)] | None = None
    graph_walk: GraphProfile = GraphProfile()
    reranker: RerankerProfile = RerankerProfile()
    compression: CompressionProfile = CompressionProfile()
    query_classes: QueryClasses = QueryClasses()
    community_scopes: Annotated[dict[Label, NamedScope], Field(max_length=20)] = DEFAULTS

    @model_validator(mode="after")
    def _each_scope_has_one_name(self) -> DomainProfile:
        names: dict[str, str] = {}
        for name, named in self.community_scopes.items():
            other = names.setdefault(named.scope().selection.digest(), name)
            if other != name:
                message = f"it allows the same as '{other}': one scope has one name"
                raise PydanticCustomError(
                    "scope", "{message}", {"place": ("community_scopes", name), "message": message}
                )
        return self

    @model_validator(mode="after")
    def _overlap_leaves_room(self) -> DomainProfile:
        if self.overlap_tokens * 2 > self.chunk_tokens:
            raise ValueError("overlap_tokens may be at most half of chunk_tokens")
        return self

    def digest(self) -> str:
        """Return the SHA-256 of the profile's values: comments and layout do not change it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def active_profile() -> DomainProfile:
    """Return the profile of this installation; read again when the file has changed."""
    path = settings.DOMAIN_DIR / "domain.yaml"
    try:
        changed = path.stat().st_mtime_ns
    except FileNotFoundError:
        raise InvalidProfile(f"There is no domain profile at {path}.") from None
    return _load_cached(path, changed)


@lru_cache(maxsize=4)
def _load_cached(path: Path, _changed: int) -> DomainProfile:
    return load(path)


def load(path: Path) -> DomainProfile:
    """Read and check a profile; raise `InvalidProfile` naming file, line and field of every problem."""
    return checked(path, DomainProfile)


def checked(path: Path, model: type[File]) -> File:
    """Read a file of the domain folder as `model`; raise `InvalidProfile` naming line and field."""
    if path.stat().st_size > MAX_BYTES:
        raise InvalidProfile(f"{path.name} is larger than {MAX_BYTES // 1_000_000} MB.")
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except UnicodeDecodeError:
        raise InvalidProfile(f"{path.name} is not UTF-8 text.") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidProfile(_yaml_problem(path.name, error)) from None
    lines: dict[tuple[str, ...], int] = {}
    values = {} if root is None else _Reading(path.name, lines).plain(root, ())
    if not isinstance(values, dict):
        raise InvalidProfile(f"{path.name} line 1: the file is a mapping of names to values.")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InvalidProfile("\n".join(_problems(path.name, error, lines))) from None


def _yaml_problem(name: str, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f" line {mark.line + 1}" if mark else ""
    return f"{name}{line}: {getattr(error, 'problem', None) or 'cannot be read as YAML'}."


class _Reading:
    """Turns YAML nodes into values and remembers the line of each. Refuses aliases and tags."""

    def __init__(self, name: str, lines: dict[tuple[str, ...], int]) -> None:
        self.name = name
        self.lines = lines
        self._seen: set[int] = set()

    def plain(self, node: yaml.Node, place: tuple[str, ...], *, named_by: yaml.Node | None = None) -> Any:
        """Return the value of a node. Its line is that of the name it has, where it has one."""
        self._check(node, place, named_by or node)
        if isinstance(node, yaml.MappingNode):
            return {
                key.value: self.plain(value, (*place, str(key.value)), named_by=key)
                for key, value in node.value
            }
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(item, (*place, str(index))) for index, item in enumerate(node.value)]
        try:
            return _ScalarReader("").construct_object(node)
        except (yaml.YAMLError, ValueError):
            raise self._refused(node, f"'{node.value}' cannot be read") from None

    def _check(self, node: yaml.Node, place: tuple[str, ...], named_by: yaml.Node) -> None:
        if id(node) in self._seen:
            raise self._refused(node, "aliases are not allowed")
        if place in self.lines:
            raise self._refused(node, f"'{'.'.join(place)}' stands there twice")
        if len(place) > MAX_DEPTH:
            raise self._refused(node, f"nested deeper than {MAX_DEPTH} levels")
        if not node.tag.startswith("tag:yaml.org,2002:"):
            raise self._refused(node, f"the tag {node.tag} is not allowed")
        self._seen.add(id(node))
        self.lines[place] = named_by.start_mark.line + 1

    def _refused(self, node: yaml.Node, reason: str) -> InvalidProfile:
        return InvalidProfile(f"{self.name} line {node.start_mark.line + 1}: {reason}.")


class _ScalarReader(yaml.SafeLoader):
    """Reads single values with the safe rules only."""


def _problems(name: str, error: ValidationError, lines: dict[tuple[str, ...], int]) -> list[str]:
    found = []
    for item in error.errors(include_url=False, include_input=False):
        # A rule about several fields names the one to look at itself.
        place = tuple(str(part) for part in item["loc"] or item.get("ctx", {}).get("place", ()))
        line = lines.get(place) or lines.get(place[:-1]) or 1
        found.append(f"{name} line {line}: {'.'.join(place) or 'file'}: {item['msg']}.")
    return found
