"""Calls about categories: what kinds of messages there are. Send them with `Tidings.call`."""

from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


def list_all(*, platform: bool = False) -> Call[Shown]:
    """All that can be used, in the order of pages; `platform` with a platform's key: the registry."""
    return Call(method="GET", path=f"{_home(platform=platform)}/", read=_read)


def show(category: str, *, platform: bool = False) -> Call[Shown]:
    """One of them."""
    return Call(method="GET", path=_one(category, platform=platform), read=_read)


def create(facts: Shown, *, platform: bool = False) -> Call[Shown]:
    """A new one of the caller's own."""
    return Call(
        method="POST", path=f"{_home(platform=platform)}/", read=_read, body=msgspec.json.encode(facts)
    )


def change(category: str, changes: Shown, *, version: int, platform: bool = False) -> Call[Shown]:
    """Change one that was read with this version."""
    return Call(
        method="PATCH",
        path=_one(category, platform=platform),
        read=_read,
        body=msgspec.json.encode(changes),
        if_match=f'"v{version}"',
    )


def _home(*, platform: bool) -> str:
    return "/internal/v1/categories" if platform else "/api/v1/categories"


def _one(category: str, *, platform: bool) -> str:
    return f"{_home(platform=platform)}/{quote(category, safe='')}"
