"""A received event as it could be sent again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def body_of(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as its sender wrote it."""
    body = {
        "specversion": "1.0",
        "id": event["source_event_id"],
        "source": event["source"],
        "type": event["type"],
        "time": event["time"],
        **(event.get("extensions") or {}),
    }
    if event.get("subject") is not None:
        body["subject"] = event.get("subject")
    if event.get("data") is not None:
        body["data"] = event.get("data")
    return body


def anew(event: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The same as something that happens now: with an id of its own, or it would be known as a repeat."""
    body = body_of(event)
    del body["time"]
    # What was sent again once is not sent again under a longer and longer id.
    first = str(body["id"]).partition(".replay-")[0][:200]
    body["id"] = f"{first}.replay-{now:%Y%m%dT%H%M%S%f}"
    return body
