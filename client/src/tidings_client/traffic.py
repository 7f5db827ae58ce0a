"""Calls about vendor accounts: what they cost, their circuits and weights. Send them with `Tidings.call`."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

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


def adapters(*, platform: bool = False) -> Call[Shown]:
    """All vendor accounts that can be sent through; with `platform` those of the platform, for its keys."""
    return Call(method="GET", path=_home("adapters", platform=platform), read=_read)


def put_adapter(account_id: str, terms: Shown, *, version: int, platform: bool = False) -> Call[Shown]:
    """What an account costs and how much it takes, from that version."""
    return _Change(
        method="PUT",
        path=f"{_home('adapters', platform=platform)}/{quote(account_id, safe='')}",
        read=_read,
        body=msgspec.json.encode(terms),
        version=version,
    )


def add_adapter(wish: Shown, *, platform: bool = False) -> Call[Shown]:
    """A new account with a vendor: `vendor` and `secret_ref`, with what else is known of it."""
    return Call(
        method="POST",
        path=_home("adapters", platform=platform),
        read=_read,
        body=msgspec.json.encode(wish),
    )


def change_adapter(account_id: str, change: Shown, *, version: int, platform: bool = False) -> Call[Shown]:
    """Switch an account off or on (`active`), or let it read its settings anew (`secret_ref`), from that version."""
    return _Change(
        method="PATCH",
        path=f"{_home('adapters', platform=platform)}/{quote(account_id, safe='')}",
        read=_read,
        body=msgspec.json.encode(change),
        version=version,
    )


def circuits(*, platform: bool = False) -> Call[Shown]:
    """The circuits of all vendor accounts."""
    return Call(method="GET", path=_home("circuits", platform=platform), read=_read)


def hold(
    account_id: str, state: str, *, reason: str, until: str | None = None, platform: bool = False
) -> Call[Shown]:
    """Hold a circuit OPEN or CLOSED, whatever is counted."""
    body = {"state": state, "reason": reason, "until": until}
    return Call(
        method="POST",
        path=_override(account_id, platform=platform),
        read=_read,
        body=msgspec.json.encode(body),
    )


def let_go(account_id: str, *, reason: str | None = None, platform: bool = False) -> Call[Shown]:
    """Let a circuit follow the counts again."""
    query = {"reason": reason} if reason is not None else {}
    return Call(method="DELETE", path=_override(account_id, platform=platform), read=_read, query=query)


def weights(*, platform: bool = False) -> Call[Shown]:
    """How vendors share channels."""
    return Call(method="GET", path=_home("weights", platform=platform), read=_read)


def put_weights(channel: str, wish: Shown, *, version: int | None, platform: bool = False) -> Call[Shown]:
    """How vendors share a channel, from that version."""
    return _Change(
        method="PUT",
        path=f"{_home('weights', platform=platform)}/{quote(channel, safe='')}",
        read=_read,
        body=msgspec.json.encode(wish),
        version=version,
    )


def _home(what: str, *, platform: bool) -> str:
    return f"/{'internal' if platform else 'api'}/v1/router/{what}"


def _override(account_id: str, *, platform: bool) -> str:
    return f"{_home('circuits', platform=platform)}/{quote(account_id, safe='')}/override"
