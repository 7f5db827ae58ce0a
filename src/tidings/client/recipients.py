"""Calls about people's rights: to be forgotten, and to see everything. Send them with `Tidings.call`."""

from typing import Any
from urllib.parse import quote

import msgspec

from tidings.client.calls import Call

_HOME = "/api/v1/recipients"
_read = msgspec.json.Decoder(dict[str, Any]).decode


def erase(recipient_id: str, *, reason: str | None = None) -> Call[dict[str, Any]]:
    """Erase a recipient for good; the receipt, as it was signed."""
    body = msgspec.json.encode({} if reason is None else {"reason": reason})
    return Call(method="POST", path=f"{_one(recipient_id)}/erase", read=_read, body=body)


def erasure(recipient_id: str) -> Call[dict[str, Any]]:
    """The receipt of an erasure again."""
    return Call(method="GET", path=f"{_one(recipient_id)}/erasure", read=_read)


def export(recipient_id: str) -> Call[bytes]:
    """Everything about a recipient, as a zip; `Tidings.download` takes it in pieces."""
    return Call(method="POST", path=f"{_one(recipient_id)}/export", read=bytes)


def _one(recipient_id: str) -> str:
    return f"{_HOME}/{quote(recipient_id, safe='')}"
