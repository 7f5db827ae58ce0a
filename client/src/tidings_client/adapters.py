"""Calls about kinds of vendors and whether accounts work. Send them with `Tidings.call`."""

from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


def kinds(*, platform: bool = False) -> Call[Shown]:
    """All kinds of vendors with what they can do and need."""
    return Call(method="GET", path=f"{_home(platform=platform)}/kinds", read=_read)


def check(
    account_id: str,
    *,
    dry_call: bool = False,
    to: str | None = None,
    sender: str | None = None,
    channel: str | None = None,
    platform: bool = False,
) -> Call[Shown]:
    """Look step by step whether an account works; nothing is sent."""
    named = {"to": to, "sender": sender, "channel": channel}
    body = {"dry_call": dry_call, **{name: value for name, value in named.items() if value is not None}}
    return Call(
        method="POST",
        path=f"{_home(platform=platform)}/{quote(account_id, safe='')}/check",
        read=_read,
        body=msgspec.json.encode(body),
    )


def _home(*, platform: bool) -> str:
    return f"/{'internal' if platform else 'api'}/v1/router/adapters"
