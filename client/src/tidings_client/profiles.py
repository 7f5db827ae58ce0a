"""Calls about what was learned about reaching people. Send them with `Tidings.call`."""

from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

_HOME = "/api/v1/router/profiles"
#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


def page(
    *, discovery_state: str | None = None, cursor: str | None = None, limit: int | None = None
) -> Call[Shown]:
    """Some profiles, the newest first."""
    given = {"discovery_state": discovery_state, "cursor": cursor, "limit": limit}
    query = {name: str(value) for name, value in given.items() if value is not None}
    return Call(method="GET", path=_HOME, read=_read, query=query)


def show(recipient_id: str) -> Call[Shown]:
    """What was learned about one person."""
    return Call(method="GET", path=_one(recipient_id), read=_read)


def tell(recipient_id: str, facts: Shown) -> Call[Shown]:
    """Say what is known: `has_whatsapp_business`, `voice_otp_supported`, `email_verified`, `observed_at`."""
    return Call(method="PATCH", path=_one(recipient_id), read=_read, body=msgspec.json.encode(facts))


def forget(recipient_id: str) -> Call[None]:
    """Forget what was learned; the person stays known."""
    return Call(method="DELETE", path=_one(recipient_id), read=_nothing)


def _nothing(_: bytes) -> None:
    return None


def _one(recipient_id: str) -> str:
    return f"{_HOME}/{quote(recipient_id, safe='')}"
