"""Calls about what messages cost. Send them with `Tidings.call`."""

from datetime import date
from typing import Any

import msgspec

from tidings_client.calls import Call

#: Answers are shown as they are: a newer server may say more than this client knows.
_read = msgspec.json.Decoder(dict[str, Any]).decode


def spend(*, since: date | None = None, until: date | None = None, by: str = "day") -> Call[dict[str, Any]]:
    """What was spent from one day to another, both counted: by day, channel or vendor."""
    days = {"since": since, "until": until}
    query = {"by": by, **{name: day.isoformat() for name, day in days.items() if day is not None}}
    return Call(method="GET", path="/api/v1/router/spend", read=_read, query=query)
