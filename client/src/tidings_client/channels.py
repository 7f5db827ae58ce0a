"""Calls about channels: how they are set up, tested, checked and rotated. Send them with `Tidings.call`."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

_HOME = "/api/v1/channels"
#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change(Call[Shown]):
    """A call that names the version it is made from."""

    version: int | None

    @property
    def headers(self) -> dict[str, str]:
        """Those that belong to this call."""
        found = {"content-type": self.media_type}
        return found if self.version is None else {**found, "if-match": f'"v{self.version}"'}


def list_all() -> Call[Shown]:
    """All channels that are set up."""
    return Call(method="GET", path=_HOME, read=_read)


def show(channel: str) -> Call[Shown]:
    """One channel."""
    return Call(method="GET", path=_one(channel), read=_read)


def put(channel: str, wish: Shown, *, version: int | None) -> Call[Shown]:
    """Set it up, or change it from that version."""
    return _Change(
        method="PUT", path=_one(channel), read=_read, body=msgspec.json.encode(wish), version=version
    )


def try_out(channel: str, to: str, *, vendor: str | None = None) -> Call[Shown]:
    """Send one message through it."""
    return _post(f"{_one(channel)}/test", {"to": to, "vendor": vendor})


def rotate(channel: str, secret_ref: str, *, vendor: str | None = None, check: bool = True) -> Call[Shown]:
    """Put a new credential in the place of the one in use."""
    body = {"secret_ref": secret_ref, "vendor": vendor, "check": check}
    return _post(f"{_one(channel)}/credentials/rotate", body)


def dns() -> Call[Shown]:
    """What name servers say about the mail sender's domain."""
    return Call(method="GET", path=f"{_HOME}/email/dns", read=_read)


def _post(path: str, body: Shown) -> Call[Shown]:
    return Call(method="POST", path=path, read=_read, body=msgspec.json.encode(body))


def _one(channel: str) -> str:
    return f"{_HOME}/{quote(channel, safe='')}"
