"""Writes the schemas of the OpenAPI document as Python: structs for what is answered, typed keywords for what is asked."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.client_operations import Operation, references, schema_name

#: The module of schemas that several resources use.
SHARED = "shared"
_PLAIN = {"integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_TEXTS = {"date-time": "datetime", "date": "date"}


@dataclass
class Types:
    """Which schemas there are, in which direction each goes, and in which module it stands."""

    schemas: Mapping[str, Any]
    #: Schemas that are asked with, below the top of a body; those that are answered with; those that are whole bodies.
    asked: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    bodies: set[str] = field(default_factory=set)
    users: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        last = Counter(name.rpartition(".")[2] for name in self.schemas)
        # A name that stands in two packages carries that of its package: tidings.router.profiles.wire.ChannelView.
        self._names = {
            name: name.rpartition(".")[2]
            if last[name.rpartition(".")[2]] == 1 or "." not in name
            else f"{_camel(name.split('.')[2])}{name.rpartition('.')[2]}"
            for name in self.schemas
        }

    @classmethod
    def of(cls, schemas: Mapping[str, Any], operations: Sequence[Operation]) -> "Types":
        """Those that the operations use."""
        types = cls(schemas)
        for operation in operations:
            resource = operation.resource.replace("-", "_")
            if operation.body is not None and "$ref" in operation.body:
                body = schema_name(operation.body["$ref"])
                types.bodies.add(body)
                types.users[body].add(resource)
                types._walk(schemas[body], resource, types.asked)
            types._walk([one["schema"] for one in operation.query], resource, types.asked)
            answer = operation.page_of or operation.answer[1]
            types._walk([answer], resource, types.answered)
        return types

    def _walk(self, part: Any, resource: str, direction: set[str]) -> None:
        for name in references(part):
            if name not in direction or resource not in self.users[name]:
                direction.add(name)
                self.users[name].add(resource)
                self._walk(self.schemas[name], resource, direction)

    def module_of(self, name: str) -> str:
        """Where a schema stands."""
        users = self.users[name]
        return next(iter(users)) if len(users) == 1 else SHARED

    def in_module(self, module: str) -> list[str]:
        """The schemas of a module, those that others refer to first."""
        names = [name for name in sorted(self.users, key=self.name) if self.module_of(name) == module]
        ordered: list[str] = []
        while names:
            free = [one for one in names if not (set(references(self.schemas[one])) & set(names)) - {one}]
            if not free:
                raise ValueError(f"schemas that refer to each other: {names}")
            ordered += free
            names = [one for one in names if one not in free]
        return ordered

    def name(self, schema: str) -> str:
        """The class for a schema."""
        return self._names[schema]

    def fields_name(self, schema: str) -> str:
        """The keywords for a body; a name of its own where the same schema is a struct too."""
        is_struct = schema in self.asked | self.answered
        return f"{self.name(schema)}Fields" if is_struct else self.name(schema)

    def write(self, schema: str) -> Iterator[str]:
        """The lines that declare a schema."""
        declared = self.schemas[schema]
        if "enum" in declared:
            if schema in self.asked:
                yield f"{self.name(schema)} = {_literal(declared['enum'])}"
                yield ""
            return
        if schema in self.asked | self.answered:
            yield from self._struct(schema, declared)
        if schema in self.bodies:
            yield from self._keywords(schema, declared)

    def _struct(self, schema: str, declared: Mapping[str, Any]) -> Iterator[str]:
        answered = schema in self.answered
        more = ", omit_defaults=True" if answered and schema in self.asked | self.bodies else ""
        yield f"class {self.name(schema)}(ApiStruct, frozen=True, kw_only=True{more}):"
        yield f"    {_docstring(declared.get('description', ''))}"
        yield ""
        needed = set(declared.get("required", ()))
        for name, one in declared["properties"].items():
            kind = self.annotation(one, asked=not answered)
            yield from _note(one, answered=answered)
            if name in needed:
                yield f"    {name}: {kind}"
            elif answered:
                yield f"    {name}: {_with_default(kind, one, is_struct='$ref' in one)}"
            else:
                yield f"    {name}: {kind} | UnsetType = UNSET"
        yield ""

    def _keywords(self, schema: str, declared: Mapping[str, Any]) -> Iterator[str]:
        needed = set(declared.get("required", ()))
        yield f"class {self.fields_name(schema)}(TypedDict):"
        yield f"    {_docstring(declared.get('description', ''))}"
        yield ""
        for name, one in declared["properties"].items():
            yield from _note(one, answered=False)
            kind = self.annotation(one, asked=True)
            yield f"    {name}: {kind if name in needed else f'NotRequired[{kind}]'}"
        yield ""

    def annotation(self, schema: Mapping[str, Any], *, asked: bool) -> str:
        """The type of a value; words that are answered are plain text, since a newer server may know more of them."""
        if "$ref" in schema:
            name = schema_name(schema["$ref"])
            return "str" if "enum" in self.schemas[name] and not asked else self.name(name)
        if "anyOf" in schema:
            return self._union(schema["anyOf"], asked=asked)
        if "enum" in schema:
            return _literal(schema["enum"]) if asked else type(schema["enum"][0]).__name__
        match schema.get("type"):
            case "array":
                items = self.annotation(schema["items"], asked=asked)
                return f"Sequence[{items}]" if asked else f"tuple[{items}, ...]"
            case "object":
                values = schema.get("additionalProperties")
                inner = self.annotation(values, asked=asked) if isinstance(values, Mapping) else "Any"
                return f"Mapping[str, {inner}]"
            case "string":
                return _TEXTS.get(schema.get("format", ""), "str")
            case None:
                return "Any"
            case plain:
                return _PLAIN[plain]

    def _union(self, several: Sequence[Mapping[str, Any]], *, asked: bool) -> str:
        if asked:
            enums = [word for one in several for word in one.get("enum", ())]
            kinds = [self.annotation(one, asked=True) for one in several if "enum" not in one]
            kinds = [_literal(enums), *kinds] if enums else kinds
        else:
            kinds = list(dict.fromkeys(self.annotation(one, asked=False) for one in several))
        return "Any" if "Any" in kinds else " | ".join(sorted(kinds, key=lambda one: one == "None"))


def _with_default(kind: str, schema: Mapping[str, Any], *, is_struct: bool) -> str:
    default = schema.get("default")
    if is_struct and isinstance(default, Mapping):
        given = ", ".join(f"{name}={value!r}" for name, value in default.items())
        return f"{kind} = field(default_factory=lambda: {kind}({given}))"
    if default is None:
        return f"{kind} = None" if kind == "Any" or kind.endswith("None") else f"{kind} | None = None"
    if default == {}:
        return f"{kind} = field(default_factory=dict)"
    return f"{kind} = {tuple(default) if isinstance(default, list) else default!r}"


def _note(schema: Mapping[str, Any], *, answered: bool) -> Iterator[str]:
    said = schema.get("description", "")
    if answered and "enum" in schema and not said:
        said = "One of " + ", ".join(f"`{word}`" for word in schema["enum"]) + "."
    for line in said.split("\n") if said else ():
        yield f"    #: {line}".rstrip()


def _literal(words: Sequence[Any]) -> str:
    return f"Literal[{', '.join(repr(word) for word in words)}]"


def _docstring(text: str) -> str:
    said = " ".join(text.split()).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{said or "See the API."}"""'


def _camel(word: str) -> str:
    return "".join(part.capitalize() for part in word.split("_"))
