"""Calls about people: known, found and changed, what they chose, to be forgotten, to see everything. Send them with `Tidings.call`."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call
from tidings_client.messages import Recipient

_HOME = "/api/v1/recipients"
#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change(Call[Shown]):
    """A call that names the version it is made from."""

    version: int

    @property
    def headers(self) -> dict[str, str]:
        """Those that belong to this call."""
        return {"content-type": self.media_type, "if-match": f'"v{self.version}"'}


def create(recipient: Recipient | Shown) -> Call[Shown]:
    """Make somebody known, or bring them up to date; by identity, or by addresses alone."""
    return Call(method="POST", path=_HOME, read=_read, body=msgspec.json.encode(recipient))


def show(recipient_id: str, *, reveal: bool = False) -> Call[Shown]:
    """One recipient; `reveal` shows addresses in the clear, needs `recipients:write` and is audited."""
    query = {"reveal": "true"} if reveal else {}
    return Call(method="GET", path=_one(recipient_id), read=_read, query=query)


def find(channel: str, address: str) -> Call[Shown]:
    """Everybody who has an address: `items`, the oldest first. Audited with the hash of the address."""
    body = msgspec.json.encode({"channel": channel, "address": address})
    return Call(method="POST", path=f"{_HOME}/lookup", read=_read, body=body)


def find_identity(kind: str, identity_id: str) -> Call[Shown]:
    """Who this is by your own id, such as `find_identity("guest", "g-77")`: `items` with one or none."""
    query = {"identity_type": kind, "identity_id": identity_id}
    return Call(method="GET", path=_HOME, read=_read, query=query)


def page(*, tag: str | None = None, cursor: str | None = None) -> Call[Shown]:
    """Some recipients, the newest first."""
    query = {name: value for name, value in (("tag", tag), ("cursor", cursor)) if value is not None}
    return Call(method="GET", path=_HOME, read=_read, query=query)


def change(recipient_id: str, changes: Shown, *, version: int) -> Call[Shown]:
    """Change what is named; `version` is the one that the change is made from."""
    body = msgspec.json.encode(changes)
    return _Change(method="PATCH", path=_one(recipient_id), read=_read, body=body, version=version)


def preferences(recipient_id: str) -> Call[Shown]:
    """What somebody chose; version 0 where they never did."""
    return Call(method="GET", path=f"{_one(recipient_id)}/preferences", read=_read)


def change_preferences(recipient_id: str, changes: Shown, *, version: int) -> Call[Shown]:
    """Change the choices that are named; each is replaced whole."""
    path = f"{_one(recipient_id)}/preferences"
    body = msgspec.json.encode(changes)
    return _Change(method="PATCH", path=path, read=_read, body=body, version=version)


def erase(recipient_id: str, *, reason: str | None = None) -> Call[Shown]:
    """Erase a recipient for good; the receipt, as it was signed."""
    body = msgspec.json.encode({} if reason is None else {"reason": reason})
    return Call(method="POST", path=f"{_one(recipient_id)}/erase", read=_read, body=body)


def erasure(recipient_id: str) -> Call[Shown]:
    """The receipt of an erasure again."""
    return Call(method="GET", path=f"{_one(recipient_id)}/erasure", read=_read)


def export(recipient_id: str) -> Call[bytes]:
    """Everything about a recipient, as a zip; `Tidings.download` takes it in pieces."""
    return Call(method="POST", path=f"{_one(recipient_id)}/export", read=bytes)


def _one(recipient_id: str) -> str:
    return f"{_HOME}/{quote(recipient_id, safe='')}"
