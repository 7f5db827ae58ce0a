"""Writes the AsyncAPI 3.0 document from the schemas of events: which are published, and which are heard from other systems."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tidings.kernel.events import CONTENT_TYPE, SPEC_VERSION

_ENVELOPE: Final = "CloudEvent"
_ABOUT: Final = (
    "Every event in the CloudEvents 1.0 form. `GET /api/v1/events` and `GET /api/v1/events/stream` read them; "
    "`POST /api/v1/events` takes those that Tidings hears, and any other type of yours. "
    "A version only grows: a reader ignores what it does not know."
)
_TEXT: Final = {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDocs:
    """Which events there are."""

    #: The schemas of their data, by subject.
    schemas: Callable[[], Mapping[str, Mapping[str, Any]]] = dict
    #: Those that other systems may send.
    heard: Collection[str] = ()
    #: Those that other systems alone send.
    told_by_others: Collection[str] = ()


def asyncapi_document(events: EventDocs, *, title: str, version: str) -> dict[str, Any]:
    """The whole document."""
    schemas = events.schemas()
    operations: dict[str, Any] = {}
    for subject in schemas:
        if subject not in events.told_by_others:
            operations[f"publish-{subject}"] = _operation("send", subject)
        if subject in events.heard:
            operations[f"hear-{subject}"] = _operation("receive", subject)
    return {
        "asyncapi": "3.0.0",
        "info": {"title": title, "version": version, "description": _ABOUT},
        "defaultContentType": CONTENT_TYPE,
        "channels": {
            subject: {
                "address": subject,
                "description": schema.get("description", ""),
                "messages": {subject: {"$ref": f"#/components/messages/{subject}"}},
            }
            for subject, schema in schemas.items()
        },
        "operations": operations,
        "components": {
            "messages": {subject: _message(subject, schema) for subject, schema in schemas.items()},
            "schemas": {_ENVELOPE: _envelope(), **{name: _moved(name, one) for name, one in schemas.items()}},
        },
    }


def _operation(action: str, subject: str) -> dict[str, Any]:
    channel = f"#/channels/{subject}"
    return {
        "action": action,
        "channel": {"$ref": channel},
        "messages": [{"$ref": f"{channel}/messages/{subject}"}],
    }


def _message(subject: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": subject,
        "title": subject,
        "summary": schema.get("description", ""),
        "contentType": CONTENT_TYPE,
        "payload": {
            "allOf": [
                {"$ref": f"#/components/schemas/{_ENVELOPE}"},
                {
                    "type": "object",
                    "required": ["type", "data"],
                    "properties": {
                        "type": {"const": subject},
                        "data": {"$ref": f"#/components/schemas/{subject}"},
                    },
                },
            ]
        },
    }


def _moved(subject: str, schema: Mapping[str, Any]) -> Any:
    """The schema inside the document, where its references lead."""

    def follow(part: Any) -> Any:
        if isinstance(part, dict):
            return {
                name: value.replace("#/$defs/", f"#/components/schemas/{subject}/$defs/")
                if name == "$ref" and isinstance(value, str)
                else follow(value)
                for name, value in part.items()
            }
        return [follow(one) for one in part] if isinstance(part, list) else part

    return follow({name: value for name, value in schema.items() if name not in ("$schema", "$id")})


def _envelope() -> dict[str, Any]:
    """CloudEvents 1.0 with the attributes that every event of ours has."""
    return {
        "type": "object",
        "description": "CloudEvents 1.0, in structured mode.",
        "required": ["specversion", "id", "source", "type", "time", "partitionkey", "schemaversion", "data"],
        "properties": {
            "specversion": {"const": SPEC_VERSION},
            "id": {
                **_TEXT,
                "description": "Which event this is; a reader who has seen it does nothing again.",
            },
            "source": {**_TEXT, "description": "Which part says so."},
            "type": {**_TEXT, "description": "What happened, in which version."},
            "time": {"type": "string", "format": "date-time"},
            "tenantid": {**_TEXT, "description": "Whose event it is; left out for the platform's own."},
            "partitionkey": {**_TEXT, "description": "Events of one tenant and key come in their order."},
            "schemaversion": {**_TEXT, "description": "The minor number grows with every field added."},
            "datacontenttype": {"const": "application/json"},
            "traceparent": {**_TEXT, "description": "The trace that it belongs to."},
            "data": {},
        },
    }
