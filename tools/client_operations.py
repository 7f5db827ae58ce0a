"""Reads the OpenAPI document as the client and the commands see it: resources, and one verb per operation."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

TENANT, PLATFORM = "/api/v1", "/internal/v1"

#: Bodies that are files, of operations that do not say so in the document.
_FILES = {"import_templates": ("application/zip",), "upload_asset": ("application/octet-stream",)}
_BY_METHOD = {"GET": "show", "POST": "create", "PUT": "put", "PATCH": "change", "DELETE": "delete"}


@dataclass(frozen=True)
class Operation:
    """One operation: where it is, what it takes, what it answers."""

    method: str
    path: str
    spec: Mapping[str, Any]
    schemas: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its name in the document."""
        return str(self.spec["operationId"])

    @property
    def home(self) -> str:
        """Whether it is a tenant's or the platform's own."""
        return PLATFORM if self.path.startswith(PLATFORM) else TENANT

    @property
    def below(self) -> str:
        """The path below its home."""
        return self.path.removeprefix(self.home)

    @cached_property
    def resource(self) -> str:
        """Such as `status-map`: as the document says, or the first segment of the path."""
        return str(self.spec.get("x-resource") or _split(self.below)[0])

    @cached_property
    def verb(self) -> str:
        """Such as `list`, `put` or `revert`: as the document says, or by method and path."""
        said = self.spec.get("x-verb")
        return str(said).replace("-", "_") if said else _verb(self)

    @property
    def safe(self) -> bool:
        """Whether it only reads, though it is a POST: its scope says so; to simulate takes the scope that sends."""
        reads = str(self.spec.get("x-scope", "")).endswith(":read") or self.verb == "simulate"
        return self.method == "POST" and reads

    @property
    def path_parameters(self) -> list[str]:
        """The names in the path, in their order."""
        return re.findall(r"\{(\w+)\}", self.path)

    @property
    def query(self) -> list[Mapping[str, Any]]:
        """The query parameters; those that have to be there come first."""
        found = [one for one in self.spec["parameters"] if one["in"] == "query"]
        return sorted(found, key=lambda one: not one["required"])

    def header(self, name: str) -> Mapping[str, Any] | None:
        """A header that it reads."""
        return next((one for one in self.spec["parameters"] if one["name"] == name), None)

    @property
    def body(self) -> Mapping[str, Any] | None:
        """The schema of its JSON body."""
        content = self.spec.get("requestBody", {}).get("content", {})
        schema: Mapping[str, Any] | None = content.get("application/json", {}).get("schema")
        return schema

    @property
    def body_required(self) -> bool:
        """Whether its body has to be there."""
        return bool(self.spec.get("requestBody", {}).get("required", False))

    @property
    def files(self) -> tuple[str, ...]:
        """What its body may be, where it is a file."""
        content = self.spec.get("requestBody", {}).get("content", {})
        return tuple(content) if content and self.body is None else _FILES.get(self.id, ())

    @cached_property
    def answer(self) -> tuple[str | None, Mapping[str, Any] | None]:
        """The media type of its answer and, for JSON, the schema; both None where the answer is empty."""
        good = next(said for status, said in self.spec["responses"].items() if status.startswith("2"))
        for media_type, content in good.get("content", {}).items():
            return media_type, content.get("schema")
        return None, None

    @property
    def page_of(self) -> Mapping[str, Any] | None:
        """The schema of the items, where it answers pages."""
        schema = self.resolved(self.answer[1])
        if schema is None or set(schema.get("properties", ())) != {"items", "next_cursor"}:
            return None
        items: Mapping[str, Any] = schema["properties"]["items"]["items"]
        return items

    def resolved(self, schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """The schema that a reference stands for."""
        if schema is not None and "$ref" in schema:
            found: Mapping[str, Any] = self.schemas[schema_name(schema["$ref"])]
            return found
        return schema


def operations(described: Mapping[str, Any]) -> list[Operation]:
    """Every operation of `/api/v1` and `/internal/v1`."""
    schemas = described["components"]["schemas"]
    return [
        Operation(method.upper(), path, spec, schemas)
        for path, methods in described["paths"].items()
        if path.startswith((TENANT, PLATFORM))
        for method, spec in methods.items()
    ]


def by_resource(found: Sequence[Operation]) -> dict[str, list[Operation]]:
    """The operations of each resource, a tenant's before the platform's."""
    grouped: dict[str, list[Operation]] = defaultdict(list)
    for operation in sorted(found, key=lambda one: (one.resource, one.home)):
        grouped[operation.resource].append(operation)
    for resource, several in grouped.items():
        names = [(one.home, one.verb) for one in several]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"{resource} has two operations for {twice}: give one of them an x-verb")
    return dict(grouped)


def schema_name(reference: str) -> str:
    """The name at the end of a `$ref`."""
    return reference.rpartition("/")[2]


def references(part: Any) -> Iterator[str]:
    """Every schema that is named in a part of the document, directly."""
    if isinstance(part, Mapping):
        if isinstance(part.get("$ref"), str):
            yield schema_name(part["$ref"])
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from references(value)


def singular(word: str) -> str:
    """`addresses` → `address`, `deliveries` → `delivery`, `versions` → `version`."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith("sses") else word.removesuffix("s")


def _split(below: str) -> tuple[str, list[str]]:
    first, *rest = below.strip("/").split("/")
    if first == "router":
        first, *rest = rest
        first = "router-audit" if first == "audit" else first
    return first, rest


def _verb(operation: Operation) -> str:
    _, rest = _split(operation.below)
    method = operation.method
    words = [part.replace("-", "_") for part in rest if not part.startswith("{")]
    ends_with_id = bool(rest) and rest[-1].startswith("{")
    if not words:
        is_list = method == "GET" and not rest and _is_list(operation)
        return "list" if is_list else _BY_METHOD[method]
    if ends_with_id:
        noun = singular(words[-1])
        return noun if method == "GET" else f"{_BY_METHOD[method]}_{noun}"
    if len(words) == 1:
        if method == "GET":
            return words[0]
        if method == "POST":
            return words[0] if words[0] == singular(words[0]) else f"add_{singular(words[0])}"
        return f"{_BY_METHOD[method]}_{words[0]}"
    noun = singular(words[-2]) if rest[-2].startswith("{") else words[-2]
    return f"{words[-1]}_{noun}" if method == "POST" else f"{noun}_{words[-1]}"


def _is_list(operation: Operation) -> bool:
    schema = operation.resolved(operation.answer[1])
    return schema is not None and set(schema.get("properties", ())) <= {"items", "next_cursor"}
