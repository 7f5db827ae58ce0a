"""What an endpoint is told: the form of Standard Webhooks, or the webhook's own. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.kernel.refusals import FieldError
from tidings.notify.triggers.variables import VariablesTooLargeError, variables_of, wrong_variables

#: Of the JSON that says what a body is made of.
MOST_TRANSFORM_BYTES: Final = 16_384
#: What paths may begin with.
_ROOTS: Final = ("$.id", "$.type", "$.timestamp", "$.data")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class WebhookBodyTooLargeError(Exception):
    """The paths of a webhook lead to more than a body may have."""


def body_of(
    event_type: str,
    event_id: str,
    happened_at: datetime,
    data: bytes,
    transform: Mapping[str, Any] | None = None,
) -> bytes:
    """`{"type", "timestamp", "data"}`, or what the transformation makes of it; the data is JSON already.

    The same event has the same body each time.
    """
    if transform is None:
        head = _encode({"type": event_type, "timestamp": happened_at})
        return head[:-1] + b',"data":' + data + b"}"
    scope = {"id": event_id, "type": event_type, "timestamp": happened_at.isoformat(), "data": _decode(data)}
    try:
        return _encode(variables_of(transform, scope))
    except VariablesTooLargeError:
        raise WebhookBodyTooLargeError from None


def wrong_transform(transform: Mapping[str, Any] | None) -> list[FieldError]:
    """Paths that can't be read, or that begin with nothing that an event has."""
    if transform is None:
        return []
    if len(_encode(transform)) > MOST_TRANSFORM_BYTES:
        return [FieldError("transform", f"must take at most {MOST_TRANSFORM_BYTES} bytes as JSON")]
    return wrong_variables(transform, "transform") or list(_strangers(transform, "transform"))


def _strangers(value: Any, field: str) -> "list[FieldError]":
    if isinstance(value, Mapping):
        return [wrong for name, inner in value.items() for wrong in _strangers(inner, f"{field}.{name}")]
    if isinstance(value, list):
        return [
            wrong for place, inner in enumerate(value) for wrong in _strangers(inner, f"{field}[{place}]")
        ]
    if isinstance(value, str) and value.startswith("$.") and not value.startswith(_ROOTS):
        return [FieldError(field, "must begin with $.id, $.type, $.timestamp or $.data")]
    return []
