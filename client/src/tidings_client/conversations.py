"""Calls about conversations: what people write, and what they are answered. Send them with `Tidings.call`."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call, new_key

_HOME = "/api/v1/router/conversations"
#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


def page(
    *,
    status: str | None = None,
    channel: str | None = None,
    recipient: str | None = None,
    since: datetime | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Shown]:
    """Some conversations, the newest first."""
    wanted = {
        "status": status,
        "channel": channel,
        "recipient": recipient,
        "since": since.isoformat() if since else None,
        "limit": None if limit is None else str(limit),
        "cursor": cursor,
    }
    return Call(method="GET", path=_HOME, read=_read, query=_given(wanted))


def show(conversation_id: str) -> Call[Shown]:
    """One, without what was said in it."""
    return Call(method="GET", path=_one(conversation_id), read=_read)


def transcript(conversation_id: str, *, limit: int | None = None, cursor: str | None = None) -> Call[Shown]:
    """What was said, the oldest first; that it was read is audited."""
    wanted = {"limit": None if limit is None else str(limit), "cursor": cursor}
    return Call(method="GET", path=f"{_one(conversation_id)}/messages", read=_read, query=_given(wanted))


def answer(conversation_id: str, text: str, *, key: str | None = None) -> Call[Shown]:
    """Answer over the same channel; the same key orders it once."""
    return Call(
        method="POST",
        path=f"{_one(conversation_id)}/messages",
        read=_read,
        body=msgspec.json.encode({"text": text}),
        key=key or new_key(),
    )


def close(conversation_id: str, *, reason: str | None = None) -> Call[Shown]:
    """End it by hand."""
    body = msgspec.json.encode(_given({"reason": reason}))
    return Call(method="POST", path=f"{_one(conversation_id)}/close", read=_read, body=body)


def _given(wanted: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if value is not None}


def _one(conversation_id: str) -> str:
    return f"{_HOME}/{quote(conversation_id, safe='')}"
