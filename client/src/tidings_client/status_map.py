"""Calls about what vendors' codes mean. Send them with `Tidings.call`."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec

from tidings_client.calls import Call

#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode

Shown = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change(Call[Any]):
    """A call that names the version it is made from."""

    version: int | None

    @property
    def headers(self) -> dict[str, str]:
        """Those that belong to this call."""
        found = {"content-type": self.media_type} if self.body is not None else {}
        return found if self.version is None else {**found, "if-match": f'"v{self.version}"'}


def lines(
    *,
    adapter: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    platform: bool = False,
) -> Call[Shown]:
    """A page of codes with what they mean; with `platform` the platform's own, for its keys."""
    given = {"adapter": adapter, "cursor": cursor, "limit": None if limit is None else str(limit)}
    query = {name: value for name, value in given.items() if value is not None}
    return Call(method="GET", path=_home(platform=platform), read=_read, query=query)


def unknown(*, adapter: str | None = None, platform: bool = False) -> Call[Shown]:
    """Codes and words that had no meaning."""
    query = {} if adapter is None else {"adapter": adapter}
    return Call(method="GET", path=f"{_home(platform=platform)}/unknown", read=_read, query=query)


def show(adapter: str, code: str, *, platform: bool = False) -> Call[Shown]:
    """What a code means, with earlier versions of the caller's own line."""
    return Call(method="GET", path=_one(adapter, code, platform=platform), read=_read)


def put(
    adapter: str, code: str, canonical: str, reason: str, *, version: int | None, platform: bool = False
) -> Call[Shown]:
    """Say what a code means, from that version of the caller's own line, or without one."""
    return _Change(
        method="PUT",
        path=_one(adapter, code, platform=platform),
        read=_read,
        body=msgspec.json.encode({"canonical": canonical, "reason": reason}),
        version=version,
    )


def revert(adapter: str, code: str, to_version: int, *, version: int, platform: bool = False) -> Call[Shown]:
    """Let an earlier version count again."""
    return _Change(
        method="POST",
        path=f"{_one(adapter, code, platform=platform)}/revert",
        read=_read,
        body=msgspec.json.encode({"version": to_version}),
        version=version,
    )


def remove(adapter: str, code: str, *, version: int, platform: bool = False) -> Call[None]:
    """Remove the caller's own line."""
    return _Change(
        method="DELETE",
        path=_one(adapter, code, platform=platform),
        read=lambda _: None,
        version=version,
    )


def reapply(adapter: str, code: str, *, dry_run: bool = False, platform: bool = False) -> Call[Shown]:
    """Tell receipts that were kept as unknown with what their code means now; again while there is more."""
    query = {"dry_run": "true"} if dry_run else {}
    return Call(
        method="POST", path=f"{_one(adapter, code, platform=platform)}/reapply", read=_read, query=query
    )


def _home(*, platform: bool) -> str:
    return f"/{'internal' if platform else 'api'}/v1/router/status-map"


def _one(adapter: str, code: str, *, platform: bool) -> str:
    # No address has a slash in disguise: `~` stands for one.
    place = quote(code.replace("/", "~"), safe=":")
    return f"{_home(platform=platform)}/{quote(adapter, safe='')}/{place}"
