"""Calls about policies: ladders by use case, their versions, and what would happen. Send them with `Tidings.call`."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call, new_key

_HOME = "/api/v1/router/policies"
#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change(Call[Shown]):
    """A call that may name the version it is made from."""

    version: int | None

    @property
    def headers(self) -> dict[str, str]:
        """Those that belong to this call."""
        found = {"content-type": self.media_type} if self.body is not None else {}
        return found if self.version is None else {**found, "if-match": f'"v{self.version}"'}


def page(*, use_case: str | None = None, deleted: bool = False, cursor: str | None = None) -> Call[Shown]:
    """Some policies, the newest first; `deleted` shows those too."""
    wanted = {"use_case": use_case, "deleted": "true" if deleted else None, "cursor": cursor}
    return Call(method="GET", path=_HOME, read=_read, query=_given(wanted))


def show(policy_id: str) -> Call[Shown]:
    """One policy."""
    return Call(method="GET", path=_one(policy_id), read=_read)


def create(wish: Shown, *, key: str | None = None) -> Call[Shown]:
    """Make one; the wish names its use case."""
    return Call(method="POST", path=_HOME, read=_read, body=msgspec.json.encode(wish), key=key or new_key())


def put(policy_id: str, wish: Shown, *, version: int) -> Call[Shown]:
    """Change it from that version."""
    return _Change(
        method="PUT", path=_one(policy_id), read=_read, body=msgspec.json.encode(wish), version=version
    )


def delete(policy_id: str, *, version: int | None = None) -> Call[Shown]:
    """New messages do not go by it any more."""
    return _Change(method="DELETE", path=_one(policy_id), read=_read, version=version)


def restore(policy_id: str) -> Call[Shown]:
    """Put a deleted one in force again."""
    return Call(method="POST", path=f"{_one(policy_id)}/restore", read=_read)


def versions(policy_id: str, *, cursor: str | None = None) -> Call[Shown]:
    """What it was, the newest first."""
    query = _given({"cursor": cursor})
    return Call(method="GET", path=f"{_one(policy_id)}/versions", read=_read, query=query)


def version(policy_id: str, number: int) -> Call[Shown]:
    """As it was then."""
    return Call(method="GET", path=f"{_one(policy_id)}/versions/{number}", read=_read)


def roll_back(policy_id: str, number: int, *, version: int | None = None) -> Call[Shown]:
    """Let it say again what that version said."""
    body = msgspec.json.encode({"version": number})
    return _Change(method="POST", path=f"{_one(policy_id)}/rollback", read=_read, body=body, version=version)


def simulate(wish: Shown) -> Call[Shown]:
    """What would happen to a message, step by step; nothing is written or sent."""
    return Call(method="POST", path=f"{_HOME}/simulate", read=_read, body=msgspec.json.encode(wish))


def _given(wanted: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if value is not None}


def _one(policy_id: str) -> str:
    return f"{_HOME}/{quote(policy_id, safe='')}"
