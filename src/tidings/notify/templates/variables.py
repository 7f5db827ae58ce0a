"""Checks variables against a version's schema, compiled once; every fault at once, each with its remedy."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.kernel.refusals import FieldError

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_MOST_FAULTS: Final = 50
#: The remedy where a variable is missing.
REQUIRED: Final = "is required"

#: Rule → what to do; `{}` is what the schema says. The library's own words quote the value.
_REMEDIES: Final = {
    "const": "must be {}",
    "contains": "must hold at least one item of the declared form",
    "exclusiveMaximum": "must be less than {}",
    "exclusiveMinimum": "must be more than {}",
    "format": "must have the form {}",
    "maxItems": "must have at most {} items",
    "maxLength": "must have at most {} characters",
    "maxProperties": "must have at most {} names",
    "maximum": "must be at most {}",
    "minItems": "must have at least {} items",
    "minLength": "must have at least {} characters",
    "minProperties": "must have at least {} names",
    "minimum": "must be at least {}",
    "multipleOf": "must be a multiple of {}",
    "not": "must not have this form",
    "oneOf": "must fit exactly one of the declared forms",
    "anyOf": "must fit one of the declared forms",
    "pattern": "must match {}",
    "uniqueItems": "must not have the same item twice",
}
_TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


#: Regular expressions are compiled in the processes that accept and send, where no tenant should wait for another's:
#: with these bounds a schema takes some 50 milliseconds at most.
_MOST_PATTERNS: Final = 50
_LARGEST_PATTERN: Final = 256 * 1024


class Checker:
    """A compiled schema."""

    def __init__(self, schema: Mapping[str, Any], *, largest_pattern: int | None = None) -> None:
        """`largest_pattern`: bytes that a regular expression may take, compiled."""
        import jsonschema_rs  # 3 MB, which a worker never needs

        # Regular expressions without look-around take linear time, whatever an author writes. Nothing is
        # fetched: a reference leads to $defs or nowhere.
        self._validator = jsonschema_rs.Draft202012Validator(
            dict(schema),
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=largest_pattern),
            offline=True,
        )

    def faults(self, variables: Any, *, field: str = "variables") -> list[FieldError]:
        """What is wrong with the variables; nothing where all is well."""
        found: list[FieldError] = []
        try:
            if self._validator.is_valid(variables):
                return []
            for error in self._validator.iter_errors(variables):
                found += _faults_of(error, field)
                if len(found) >= _MOST_FAULTS:
                    break
        except ValueError:
            # The library goes no deeper than a few hundred levels.
            return [FieldError(field, "is nested too deeply")]
        return found


def schema_faults(schema: Mapping[str, Any], *, field: str = "variables_schema") -> list[FieldError]:
    """What is wrong with a schema itself."""
    if schema.get("$schema", DIALECT) != DIALECT:
        return [FieldError(f"{field}.$schema", f"must be {DIALECT}, or left out")]
    if schema.get("type") != "object":
        return [FieldError(f"{field}.type", "must be object: variables have names")]
    if _patterns(schema) > _MOST_PATTERNS:
        return [FieldError(field, f"must have at most {_MOST_PATTERNS} regular expressions")]
    import jsonschema_rs

    try:
        Checker(schema, largest_pattern=_LARGEST_PATTERN)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        said = str(error).splitlines()[0][:300]
        if said.endswith('is not a "regex"'):
            said += " that can be used; where it is right but large, write + instead of {1,100}, and set maxLength"
        return [FieldError(field, f"is not a JSON Schema (2020-12): {said}")]
    return []


def _patterns(schema: Mapping[str, Any]) -> int:
    """How many regular expressions a schema has."""
    count = 0
    left: list[Any] = [schema]
    while left:
        part = left.pop()
        if isinstance(part, Mapping):
            names = part.get("patternProperties")
            count += isinstance(part.get("pattern"), str) + (len(names) if isinstance(names, Mapping) else 0)
            left.extend(part.values())
        elif isinstance(part, list | tuple):
            left.extend(part)
    return count


def _faults_of(error: Any, field: str) -> list[FieldError]:
    at = _path(field, error.instance_path)
    rule, said = error.kind.name, getattr(error.kind, "value", None)
    match rule:
        case "required":
            return [FieldError(f"{at}.{said}", REQUIRED)]
        case "additionalProperties" | "unevaluatedProperties":
            return [FieldError(f"{at}.{name}", "is not declared; leave it out") for name in said or ()]
        case "type":
            return [FieldError(at, f"must be {' or '.join(_TYPES.get(str(t), str(t)) for t in said or ())}")]
        case "enum":
            return [FieldError(at, f"must be one of {', '.join(map(str, said or ()))}")]
    return [FieldError(at, _REMEDIES.get(rule, f"must satisfy {rule}").format(said))]


def _path(field: str, path: Sequence[str | int]) -> str:
    return field + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
