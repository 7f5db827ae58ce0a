"""Calls about secrets of vendor accounts that are entered over the API. Send them with `Tidings.call`."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


def secrets(*, platform: bool = False) -> Call[Shown]:
    """All by name, with the accounts that read them; never what is in them."""
    return Call(method="GET", path=_home(platform=platform), read=_read)


def put_secret(name: str, value: str | Mapping[str, Any], *, platform: bool = False) -> Call[Shown]:
    """Enter one, or another in its place; accounts name it as `sealed://<name>`."""
    return Call(
        method="PUT",
        path=f"{_home(platform=platform)}/{quote(name, safe='')}",
        read=_read,
        body=msgspec.json.encode({"value": value}),
    )


def delete_secret(name: str, *, platform: bool = False) -> Call[None]:
    """Remove one that no account reads any more."""
    return Call(
        method="DELETE", path=f"{_home(platform=platform)}/{quote(name, safe='')}", read=lambda _: None
    )


def _home(*, platform: bool) -> str:
    return f"/{'internal' if platform else 'api'}/v1/router/secrets"
