"""The events that a webhook would be told, as a reader of the feed gets them."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Final

import msgspec

from tidings.cli.api_command import Api
from tidings.cli.command import JsonObject
from tidings.cli.failures import CommandError
from tidings.cli.listen_format import say
from tidings.kernel.events import Event, from_cloudevent
from tidings.notify.ids import WEBHOOK
from tidings.notify.webhooks.faults import wrong_condition, wrong_events
from tidings.notify.webhooks.model import ToldEvent, WebhookFilter

#: Seconds that the server waits for an event at most.
_WAIT: Final = 20
#: Events of one answer: so few come again where Ctrl-C comes between.
_LIMIT: Final = 50
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 8.0
_EVERYTHING: Final = (">",)
#: It is no webhook's, so that no event is about it.
_NOBODY: Final = WEBHOOK.parse("whs_" + "0" * 26)


class _Page(msgspec.Struct, frozen=True):
    #: As they stand: a body is signed byte by byte.
    events: list[msgspec.Raw]
    next_cursor: str


_decode = msgspec.json.Decoder(_Page).decode


class ListenFeed:
    """The events that a webhook with this filter would be told, in order; it outlives its server."""

    def __init__(self, api: Api, after: str, wanted: WebhookFilter, *, follow: bool) -> None:
        self._api = api
        self._wanted = wanted
        self._follow = follow
        #: The cursor behind all events of the pages before.
        self.after = after
        #: Events of this page that the reader is through with.
        self._told = 0

    def events(self) -> Iterator[Event]:
        """Those that come, for ever or to the last."""
        while True:
            events, cursor = self._page()
            for self._told, raw in enumerate(events):
                event = from_cloudevent(raw)
                if self._wanted.wants(ToldEvent(event)):
                    yield event
            self.after, self._told = cursor, 0
            if not events and not self._follow:
                return

    def place(self) -> str:
        """The cursor behind the last event that the reader is through with; that of the page, where the server is away."""
        from tidings_client import NotReachedError, UnavailableError

        if self._told:
            with suppress(NotReachedError, UnavailableError):
                _, self.after = self._ask(limit=self._told, wait=0)
                self._told = 0
        return self.after

    def _page(self) -> tuple[Sequence[bytes], str]:
        from tidings_client import NotReachedError, UnavailableError

        pause = _FIRST_PAUSE
        while True:
            try:
                page = self._read()
            except (NotReachedError, UnavailableError) as error:
                if not self._follow:
                    raise
                if pause == _FIRST_PAUSE:
                    say(f"{error} Trying again …")
                time.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            if pause != _FIRST_PAUSE:
                missed = "it goes on behind the last event, and nothing was missed"
                begins = "it begins with the next event; what happened before was not heard"
                say(f"connected again: {begins if self.after == 'now' else missed}")
            return page

    def _read(self) -> tuple[Sequence[bytes], str]:
        # The place of "now" is fixed at once: an answer that is lost while it waits would move it.
        return self._ask(limit=_LIMIT, wait=_WAIT if self._follow and self.after != "now" else 0)

    def _ask(self, *, limit: int, wait: int) -> tuple[Sequence[bytes], str]:
        query = {
            "after": self.after,
            "types": ",".join(self._wanted.event_types),
            "limit": limit,
            "wait": wait,
        }
        found = _decode(b"".join(self._api.download("read_events", query=query)))
        return [bytes(one) for one in found.events], found.next_cursor


def filter_of(
    api: Api, event: list[str] | None, condition: str | None, webhook: str | None
) -> tuple[WebhookFilter, JsonObject | None]:
    """The filter of a webhook that was never made, or of one that was, and what the body is made of."""
    if webhook is not None:
        found = api.call("show_webhook", webhook)
        made = WebhookFilter(
            id=WEBHOOK.parse(found["id"]),
            event_types=tuple(found["events"]),
            condition=found["condition"],
            is_test=found["is_test"],
            ordered=found["ordered"],
            api_version=date.fromisoformat(found["api_version"]),
        )
        return made, found["transform"]
    types = tuple(event or _EVERYTHING)
    if wrong := [*wrong_events(types), *wrong_condition(condition)]:
        named = {f"events[{place}]": f"--event {text}" for place, text in enumerate(types)}
        field = named.get(wrong[0].field, f"--{wrong[0].field.removesuffix('s')}")
        raise CommandError(f"{field} {wrong[0].remedy}")
    is_test = api.call("own_tenant")["caller"]["environment"] == "test"
    return WebhookFilter(
        id=_NOBODY,
        event_types=types,
        condition=condition,
        is_test=is_test,
        ordered=True,
        api_version=datetime.now(UTC).date(),
    ), None
