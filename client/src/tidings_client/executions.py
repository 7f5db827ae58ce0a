"""Calls about executions: how messages got there, or did not. Send them with `Tidings.call`."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

_HOME = "/api/v1/router/executions"
#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


def page(
    *,
    status: str | None = None,
    outcome: str | None = None,
    use_case: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Shown]:
    """Some of them, the newest first."""
    wanted = {
        "status": status,
        "outcome": outcome,
        "use_case": use_case,
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "limit": None if limit is None else str(limit),
        "cursor": cursor,
    }
    query = {name: value for name, value in wanted.items() if value is not None}
    return Call(method="GET", path=_HOME, read=_read, query=query)


def answer(execution_id: str, attempt_id: str) -> Call[bytes]:
    """What the vendor answered to an attempt, word for word."""
    place = f"{_HOME}/{quote(execution_id, safe='')}/attempts/{quote(attempt_id, safe='')}/answer"
    return Call(method="GET", path=place, read=bytes)


def show(execution_id: str) -> Call[Shown]:
    """One with its ladder, attempts and receipts."""
    return Call(method="GET", path=f"{_HOME}/{quote(execution_id, safe='')}", read=_read)
