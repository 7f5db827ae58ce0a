"""What a JSON Schema says about the place that a path leads to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

Schema = Mapping[str, Any]
#: Schemas that may hold at one place.
_MOST_OPTIONS = 200


@dataclass(frozen=True, slots=True)
class DeclaredPath:
    """A place in the variables, by the schemas that may hold there."""

    schema: Schema | bool
    root: Schema

    def at(self, parts: Sequence[str]) -> "DeclaredPath | None":
        """The place further down; None where no variable of that name is declared."""
        here: DeclaredPath | None = self
        for part in parts:
            here = here._child(part) if here is not None else None
        return here

    def each(self) -> "DeclaredPath":
        """The place of the items of a list, or of the values of an object."""
        for schema in self._options():
            if isinstance(schema, bool):
                continue
            for word in ("items", "additionalProperties"):
                inner = schema.get(word)
                if isinstance(inner, Mapping):
                    return DeclaredPath(inner, self.root)
        return ANYTHING

    def names(self) -> list[str]:
        """Names that are declared here; not without end."""
        found: list[str] = []
        for schema in self._options():
            properties = None if isinstance(schema, bool) else schema.get("properties")
            if isinstance(properties, Mapping):
                found += [str(name) for name in islice(properties, _MOST_OPTIONS - len(found))]
        return found

    def _child(self, name: str) -> "DeclaredPath | None":
        options = list(self._options())
        for schema in options:
            if isinstance(schema, bool):
                return ANYTHING
            properties = schema.get("properties")
            if isinstance(properties, Mapping) and name in properties:
                return DeclaredPath(properties[name], self.root)
        if any(_takes_anything(schema, name) for schema in options if not isinstance(schema, bool)):
            return self.each() if name.isdigit() else ANYTHING
        return None

    def _options(self) -> Iterator[Schema | bool]:
        """The schema itself and all that it refers to or combines, each once."""
        waiting: list[Schema | bool] = [self.schema]
        # By identity: they are all parts of one tree, and a reference may lead round in a circle.
        seen: set[int] = set()
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, bool):
                yield schema
                continue
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            if len(seen) > _MOST_OPTIONS:
                # Taken on trust, rather than searched without end.
                yield True
                return
            yield schema
            inner = [one for word in ("allOf", "anyOf", "oneOf") for one in schema.get(word, ())]
            reference = schema.get("$ref")
            if isinstance(reference, str):
                target = _resolve(reference, self.root)
                inner.append(True if target is None else target)
            waiting += reversed(inner)


#: A place of which nothing is known.
ANYTHING: Final = DeclaredPath(True, {})


def _takes_anything(schema: Schema, name: str) -> bool:
    if name == "length" and ("items" in schema or schema.get("type") in ("array", "string")):
        return True
    if name.isdigit() and ("items" in schema or schema.get("type") == "array"):
        return True
    if schema.get("additionalProperties") not in (None, False) or "patternProperties" in schema:
        return True
    # A schema that says nothing about the inside takes anything.
    words = {"properties", "$ref", "allOf", "anyOf", "oneOf", "type", "additionalProperties"}
    return not (words & set(schema)) or (schema.get("type") == "object" and "properties" not in schema)


def _resolve(reference: str, root: Schema) -> Schema | bool | None:
    if not reference.startswith("#"):
        return None
    here: Any = root
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, Mapping) or name not in here:
            return None
        here = here[name]
    return here if isinstance(here, (bool, Mapping)) else None
