"""Calls about how a tenant looks. Send them with `Tidings.call`."""

from typing import Any

import msgspec

from tidings_client.calls import Call

#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode
_HOME = "/api/v1/branding/"


def show() -> Call[dict[str, Any]]:
    """The look, and its version."""
    return Call(method="GET", path=_HOME, read=_read)


def put(branding: dict[str, Any], *, version: int) -> Call[dict[str, Any]]:
    """Say the whole of it, made from this version."""
    return Call(
        method="PUT",
        path=_HOME,
        read=_read,
        body=msgspec.json.encode(branding),
        if_match=f'"v{version}"',
    )
