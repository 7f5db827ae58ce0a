"""Calls about inbound routes: which webhook is told what people write. Send them with `Tidings.call`."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call, new_key

_HOME = "/api/v1/router/inbound-routes"
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


def page(*, inbound: str | None = None, removed: bool = False, cursor: str | None = None) -> Call[Shown]:
    """Some routes, the newest first; `removed` shows those whose grace is over too."""
    wanted = {"inbound": inbound, "removed": "true" if removed else None, "cursor": cursor}
    return Call(method="GET", path=_HOME, read=_read, query=_given(wanted))


def show(route_id: str) -> Call[Shown]:
    """One route."""
    return Call(method="GET", path=_one(route_id), read=_read)


def create(wish: Shown, *, key: str | None = None) -> Call[Shown]:
    """Make one: `inbound`, `webhook_url`, `secret_ref`."""
    return Call(method="POST", path=_HOME, read=_read, body=msgspec.json.encode(wish), key=key or new_key())


def put(route_id: str, wish: Shown, *, version: int) -> Call[Shown]:
    """Change it from that version."""
    return _Change(
        method="PUT", path=_one(route_id), read=_read, body=msgspec.json.encode(wish), version=version
    )


def remove(route_id: str, *, version: int, grace_seconds: int | None = None) -> Call[Shown]:
    """Remove it as of that version; it goes on working until its grace is over."""
    wanted = {"grace_seconds": None if grace_seconds is None else str(grace_seconds)}
    return _Change(method="DELETE", path=_one(route_id), read=_read, query=_given(wanted), version=version)


def restore(route_id: str) -> Call[Shown]:
    """Bring a removed one back."""
    return Call(method="POST", path=f"{_one(route_id)}/restore", read=_read)


def try_out(route_id: str) -> Call[Shown]:
    """Call its webhook with a message that nobody wrote."""
    return Call(method="POST", path=f"{_one(route_id)}/test", read=_read)


def deliveries(
    *,
    status: str | None = None,
    route: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Shown]:
    """Messages on their way to webhooks, the newest first."""
    wanted = {
        "status": status,
        "route": route,
        "limit": None if limit is None else str(limit),
        "cursor": cursor,
    }
    return Call(method="GET", path=f"{_HOME}/deliveries", read=_read, query=_given(wanted))


def redeliver(delivery_id: str) -> Call[Shown]:
    """Tell the webhook once more."""
    path = f"{_HOME}/deliveries/{quote(delivery_id, safe='')}/redeliver"
    return Call(method="POST", path=path, read=_read)


def redeliver_dead(*, route: str | None = None, since: str | None = None) -> Call[Shown]:
    """Tell the webhooks again what was given up: all of it, or a route's; a thousand at a time."""
    wish = _given({"route": route, "since": since})
    return Call(
        method="POST", path=f"{_HOME}/deliveries/redeliver", read=_read, body=msgspec.json.encode(wish)
    )


def _given(wanted: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if value is not None}


def _one(route_id: str) -> str:
    return f"{_HOME}/{quote(route_id, safe='')}"
