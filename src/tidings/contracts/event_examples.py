"""An example of the data of each event, made of its own schema: for those who write a receiver before anything has happened."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from tidings.contracts.events import EVENTS
from tidings.kernel.event_schemas import schema_of

#: The time of all examples, and the id in all of them behind its prefix.
_TIME: Final = "2026-11-15T12:00:00Z"
_ULID: Final = "01M7FHHCF0AHCRX0GVMG9Q799D"
_PREFIXES: Final[Mapping[str, str]] = {
    "attempt_id": "att",
    "batch_id": "dbt",
    "conversation_id": "conv",
    "delivery_id": "whd",
    "event_id": "evt",
    "execution_id": "exec",
    "item_id": "inb",
    "key_id": "key",
    "notification_id": "ntf",
    "recipient_id": "rcp",
    "subscription_id": "whs",
    "suppression_id": "sup",
    "template_id": "tpl",
    "tenant_id": "tnt",
    "version_id": "tpv",
}
#: What stands in a field of this name, whatever event has it.
_WORDS: Final[Mapping[str, str]] = {
    "category": "reminder",
    "channel": "email",
    "default_locale": "en-US",
    "default_timezone": "Europe/Berlin",
    "end": "07:00",
    "event_type": "notification.delivered.v1",
    "key": "order_confirmation",
    "kind": "text",
    "name": "Bamiyan Books",
    "overlap_ends_at": _TIME,
    "reason": "opt_out",
    "region": "eu-central",
    "requested_at": _TIME,
    "semver": "1.0.0",
    "source": "/shop",
    "start": "21:00",
    "template_key": "order_confirmation",
    "vendor": "smtp",
}


@cache
def example_of(subject: str) -> Mapping[str, Any]:
    """The data of an event of this type, with all that it must say; a `KeyError` where there is no such type."""
    schema = schema_of(subject, EVENTS[subject])
    found: Mapping[str, Any] = _value(schema, "", subject, schema.get("$defs", {}))
    return found


def _value(schema: Mapping[str, Any], name: str, subject: str, defs: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _value(defs[schema["$ref"].rpartition("/")[2]], name, subject, defs)
    if "anyOf" in schema:
        return _value(schema["anyOf"][0], name, subject, defs)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"]
    if kind == "object":
        # Where nothing must be said, all that can be is shown.
        fields = schema.get("properties", {})
        return {
            field: _value(fields[field], field, subject, defs) for field in schema.get("required") or fields
        }
    if kind == "array":
        return [_value(schema["items"], name, subject, defs)]
    if kind == "string":
        return _TIME if schema.get("format") == "date-time" else _text(name, subject)
    plain: dict[str, Any] = {"integer": schema.get("minimum", 1), "number": 1.0, "boolean": False}
    return plain[kind]


def _text(name: str, subject: str) -> str:
    if name == "status":
        # `notification.delivered.v1` says that the status is `delivered`.
        return subject.split(".")[-2]
    if name.endswith("_id") or name == "id":
        return f"{_PREFIXES.get(name, name.removesuffix('_id')[:3])}_{_ULID}"
    return _WORDS.get(name, "example")
