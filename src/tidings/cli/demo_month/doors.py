"""The doors that the month comes in by: the API with a key, the sandbox in the place of people, and the clock of the data dir."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx2

from tidings.kernel.moved_clock import read_ahead, write_ahead

#: A call of the API by its operation, as `Api.call` makes it.
ApiCall = Callable[..., dict[str, Any]]
_PIXEL: Final = re.compile(r'src="([^"]*/t/o/[^"]+)"')
_LINK: Final = re.compile(r'href="([^"]*/t/c/[^"]+)"')
#: In seconds.
_LOOK_EVERY: Final = 0.05
_LONGEST_WAIT: Final = 4.0
_CALM_LOOKS: Final = 2
#: Processes look at the file of the clock fifty times a second.
_SEEN_AFTER: Final = 0.03


class SandboxDoor:
    """What people and vendors do: the sandbox's own API."""

    def __init__(self, url: str) -> None:
        self._http = httpx2.Client(base_url=url, timeout=10)
        self.url = url

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def script(self, address: str, script: object) -> None:
        """What becomes of messages to this address."""
        self._http.put(f"/scripts/{quote(address, safe='')}", json={"script": script}).raise_for_status()

    def fault(self, **fault: object) -> None:
        """Let a vendor fail."""
        self._http.post("/faults", json=fault).raise_for_status()

    def heal(self, adapter: str, vendor: str | None = None) -> None:
        """Let it work again."""
        query = {"adapter": adapter, **({"vendor": vendor} if vendor else {})}
        self._http.delete("/faults", params=query).raise_for_status()

    def write_back(self, vendor: str, sender: str, to: str, text: str, channel: str) -> None:
        """Somebody answers a message."""
        said = {"from": sender, "to": to, "text": text, "channel": channel}
        self._http.post(f"/inbound/{vendor}", json=said).raise_for_status()

    def open_mail(self, address: str, *, follow: bool) -> None:
        """Somebody opens the newest mail to them, and may follow its first link."""
        found = self._http.get("/messages", params={"to": address, "channel": "email"}).json()["messages"]
        if not found:
            return
        html = found[-1].get("html") or ""
        for pattern in (_PIXEL, _LINK) if follow else (_PIXEL,):
            link = pattern.search(html)
            if link is not None:
                # The link may lead to a shop that is not there.
                with suppress(httpx2.HTTPError):
                    self._http.get(link[1].replace("&amp;", "&"), follow_redirects=False)


@dataclass(slots=True, kw_only=True)
class MonthClock:
    """The clock of a data dir of its own, which is moved until it shows the machine's time; or the machine's alone."""

    file: Path | None

    def now(self) -> datetime:
        """What time it is for Tidings."""
        ahead = read_ahead(self.file) if self.file is not None else None
        return datetime.now(UTC) + (ahead or timedelta(0))

    @property
    def behind(self) -> timedelta:
        """How far it is behind the machine."""
        ahead = read_ahead(self.file) if self.file is not None else None
        return max(timedelta(0), -(ahead or timedelta(0)))

    def move_to(self, moment: datetime) -> None:
        """Forward, and never past the machine's time."""
        if self.file is None or not self.behind:
            return
        ahead = min(timedelta(0), moment - datetime.now(UTC))
        if ahead > -self.behind:
            write_ahead(self.file, ahead)
            time.sleep(0.12)

    def finish(self) -> None:
        """Show the machine's time from now on."""
        if self.file is not None and self.behind:
            write_ahead(self.file, timedelta(0))
            time.sleep(_SEEN_AFTER)


def wait_until_calm(call: ApiCall, clock: MonthClock) -> None:
    """Until nothing has moved for a moment: messages are sent, receipts have come, events were told."""
    day = clock.now().date()
    seen: dict[str, int] = {}
    calm, end = 0, time.monotonic() + _LONGEST_WAIT
    while calm < _CALM_LOOKS and time.monotonic() < end:
        time.sleep(_LOOK_EVERY)
        totals = call("show_counters", query={"from": str(day - timedelta(days=1)), "to": str(day)})["totals"]
        calm = calm + 1 if totals == seen else 0
        seen = totals
