"""Polls a listing of notifications: which are new since the last poll, and which have another status."""

from collections import OrderedDict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from tidings_client import NotFoundError, Notification, Tidings
from tidings_client.calls import Filter

_PAGE = 100
#: Pages that one poll reads at most.
_MOST_PAGES = 20
#: Notifications that are remembered, to see that they have moved on.
_MOST_KNOWN = 10_000
#: Those under way that are asked after one by one, where the listing's newest pages no longer show them.
_MOST_ASKED = 20
#: Transactions end in another order than their ids begin: so far back a new one may still appear.
_LATE = timedelta(seconds=10)
#: Notifications that are older are not looked for again in the listing: it would have to read through all of them.
_RECENT = timedelta(minutes=10)


class NotificationPoller:
    """What has changed, poll after poll."""

    def __init__(self, tidings: Tidings, wanted: Filter) -> None:
        self._tidings = tidings
        self._wanted = wanted
        #: Id → the status it was last seen in; those that moved last are at the end.
        self._known: OrderedDict[str, str] = OrderedDict()
        self._open: OrderedDict[str, None] = OrderedDict()
        #: Older ones were there before we came.
        self._floor = ""

    def begin(self, lines: int) -> list[Notification]:
        """The last so many, the oldest of them first."""
        found = self._tidings.page(limit=_PAGE, **self._wanted).items
        # A page may be short of matches though there are more behind it; those are not looked for.
        if len(found) == _PAGE:
            self._floor = found[-1].id
        for one in found:
            self._note(one)
        return list(found[:lines])[::-1]

    def poll(self) -> list[Notification]:
        """What is new or has moved on since the last poll, the oldest first."""
        listed = list(self._listed())
        shown = {one.id for one in listed}
        changed = [one for one in listed if one.id > self._floor and self._known.get(one.id) != one.status]
        changed += [one for one in self._asked(shown) if self._known.get(one.id) != one.status]
        for one in changed:
            self._note(one)
        wanted = self._wanted.get("status")
        matching = [one for one in changed if wanted is None or one.status == wanted]
        return sorted(matching, key=lambda one: one.id)

    def _listed(self) -> Iterator[Notification]:
        cursor: str | None = None
        wanted: Filter = {**self._wanted, "since": datetime.now(UTC) - _RECENT}
        for _ in range(_MOST_PAGES):
            page = self._tidings.page(cursor=cursor, limit=_PAGE, **wanted)
            yield from page.items
            cursor = page.next_cursor
            if cursor is None or self._has_met(page.items):
                return

    def _has_met(self, items: tuple[Notification, ...]) -> bool:
        """Whether the page reaches back to what was seen before, and far enough behind it."""
        met = [one.created_at for one in items if one.id in self._known]
        return bool(items) and bool(met) and items[-1].created_at < max(met) - _LATE

    def _asked(self, shown: set[str]) -> Iterator[Notification]:
        behind = [known for known in self._open if known not in shown]
        for notification_id in behind[:_MOST_ASKED]:
            # Those that were asked go to the end of the line.
            self._open.move_to_end(notification_id)
            try:
                yield self._tidings.get(notification_id)
            except NotFoundError:
                self._open.pop(notification_id, None)

    def _note(self, one: Notification) -> None:
        self._known[one.id] = one.status
        self._known.move_to_end(one.id)
        if one.done:
            self._open.pop(one.id, None)
        else:
            self._open.setdefault(one.id)
        while len(self._known) > _MOST_KNOWN:
            forgotten, _ = self._known.popitem(last=False)
            self._open.pop(forgotten, None)
