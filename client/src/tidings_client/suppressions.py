"""Calls about addresses that must not be written to, one at a time. Send them with `Tidings.call`; lists go with `imports`."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

_HOME = "/api/v1/suppressions"
#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


def add(
    channel: str,
    address: str,
    *,
    reason: str = "manual",
    notes: str | None = None,
    expires_at: datetime | None = None,
) -> Call[Shown]:
    """Suppress an address; doing it again changes nothing, except that the longer expiry holds."""
    given = {
        "channel": channel,
        "address": address,
        "reason": reason,
        "notes": notes,
        "expires_at": expires_at,
    }
    body = msgspec.json.encode({name: value for name, value in given.items() if value is not None})
    return Call(method="POST", path=_HOME, read=_read, body=body)


def find(channel: str, address: str) -> Call[Shown]:
    """All suppressions of an address, released ones too: `items`, those in force first. Audited with its hash."""
    body = msgspec.json.encode({"channel": channel, "address": address})
    return Call(method="POST", path=f"{_HOME}/lookup", read=_read, body=body)


def release(suppression_id: str, *, reason: str | None = None) -> Call[None]:
    """Let the address be written to again; the reason is for the audit."""
    query = {} if reason is None else {"reason": reason}
    path = f"{_HOME}/{quote(suppression_id, safe='')}"
    return Call(method="DELETE", path=path, read=lambda _: None, query=query)


def page(*, channel: str | None = None, reason: str | None = None, cursor: str | None = None) -> Call[Shown]:
    """Some that are in force, the newest first."""
    given = {"channel": channel, "reason": reason, "cursor": cursor}
    query = {name: value for name, value in given.items() if value is not None}
    return Call(method="GET", path=_HOME, read=_read, query=query)
