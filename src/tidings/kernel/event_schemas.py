"""JSON Schemas of events, made of the very types that write and read them; open, since a reader ignores what it does not know."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tidings.kernel.http.field_notes import describe_fields
from tidings.kernel.http.openapi import published_pattern

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REF: Final = "#/$defs/{name}"


def schema_of(subject: str, form: type[Any]) -> dict[str, Any]:
    """The schema of the data of one event, whole in itself."""
    [top], defs = msgspec.json.schema_components([form], ref_template=_REF)
    describe_fields(defs, [form])
    named = top["$ref"].removeprefix(_REF.format(name=""))
    found = defs.pop(named)
    schema = {
        "$schema": DIALECT,
        "$id": f"urn:tidings:event:{subject}",
        **found,
        **({"$defs": dict(sorted(defs.items()))} if defs else {}),
    }
    return dict(_published(schema))


def schemas_of(events: Mapping[str, type[Any]]) -> dict[str, dict[str, Any]]:
    """The schemas of these events, by their subjects."""
    return {subject: schema_of(subject, form) for subject, form in sorted(events.items())}


def _published(part: Any) -> Any:
    """Without closed objects, and with patterns as JSON Schema writes them."""
    if isinstance(part, dict):
        return {
            name: published_pattern(value)
            if name == "pattern" and isinstance(value, str)
            else _published(value)
            for name, value in part.items()
            if not (name == "additionalProperties" and value is False)
        }
    return [_published(one) for one in part] if isinstance(part, list) else part
