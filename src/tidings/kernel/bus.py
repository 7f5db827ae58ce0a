"""The port of the bus: what is promised, whichever engine keeps the promise.

*Publishing* is `Outbox.append` in the transaction of the change. A *relay* carries committed events from one
service's outbox to the bus. A *consumer* reads the bus for one group and hands events to its handler.

Promised by every implementation, and asked of each by `tests/conformance/test_bus.py`:

- Nothing that was committed is left out, whatever order writers commit in, whichever process is killed, and however
  long some other transaction stays open.
- Events of one lane (tenant and ordering key) reach a group in the order in which they were committed.
- An event has its effect once in a group: the handler's writes and the note that the event was consumed
  commit together. Handlers work in sets; one transaction holds one tenant's events, or those of the tenants that it names.
- Processes that read for the same group share it without help. When one is killed, another goes on within
  the lease.
- An event whose handler fails is set aside and tried again, later and later. The events behind it in its
  lane wait with it; all other lanes go on. After the last attempt it becomes a dead letter, and its lane
  goes on without it.
- The bus keeps 7 days, dead letters 14. A group that has been away longer than that has missed events.
- A reader outside gets all of its tenant's events in the order of the bus, each once behind its cursor, and no other tenant's.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Literal, LiteralString, Protocol

from tidings.kernel.db import PlatformTx, TenantsTx, TenantTx
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.events import Event
from tidings.kernel.ids import DeadLetterId, TenantId

#: Applies one tenant's events, all in `tx`. It raises to have them tried again, one by one.
TenantHandler = Callable[[TenantTx, Sequence[Event]], Awaitable[None]]
#: Applies events of several tenants, all in `tx`, which names them.
TenantsHandler = Callable[[TenantsTx, Sequence[Event]], Awaitable[None]]
#: Says which of some events a group has a use for; the others are passed over, and not noted as consumed. No transaction is open.
SelectEvents = Callable[[Sequence[Event]], Awaitable[Collection[Event]]]
#: Applies events as the platform, all in `tx`.
PlatformHandler = Callable[[PlatformTx, Sequence[Event]], Awaitable[None]]

_PATTERN = re.compile(r"(?:[a-z0-9_]+|\*)(?:\.(?:[a-z0-9_]+|\*))*(?:\.>)?|>")
_WILD = frozenset("*>")
_GROUP = re.compile(r"[a-z][a-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Subscription:
    """What one consumer group wants, and what it does with it.

    With `on_tenant_events` each tenant's events come in a transaction of that tenant, and events without a
    tenant go to `on_platform_events`. With `on_platform_events` alone, everything goes there. With `on_tenants_events`
    the events of several tenants share a transaction; every table that the handler touches must be open to sets.
    """

    #: The name under which the group's place on the bus is kept. Changing it starts a new group.
    group: str
    #: Which subjects, as NATS writes them: `tenant.*.v1` (one word), `notification.>` (one or more).
    subjects: tuple[str, ...]
    _: KW_ONLY
    #: The schema of the service whose `consumed_events` remembers what was applied.
    ledger: LiteralString
    on_tenant_events: TenantHandler | None = None
    on_tenants_events: TenantsHandler | None = None
    on_platform_events: PlatformHandler | None = None
    #: Where a group that has never read begins: with the oldest event still kept, or with the next one.
    start: Literal["beginning", "now"] = "beginning"
    #: Handlers that work on large tables by set; see `Database.tenant`.
    by_index: bool = False
    #: A transaction for each ordering key: for handlers whose work on one is long, or locks much.
    by_lane: bool = False
    #: Asked before a transaction is opened: for groups that hear much, and want little of it.
    select: SelectEvents | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        if not _GROUP.fullmatch(self.group):
            raise BadValueError("group", "must be lower-case letters, digits, dots and dashes, at most 100")
        if not self.subjects or not all(_PATTERN.fullmatch(pattern) for pattern in self.subjects):
            raise BadValueError("subjects", "must be dotted words, * for one word, > at the end for the rest")
        if self.on_tenants_events is not None and (self.on_tenant_events is not None or self.by_lane):
            raise BadValueError(
                "on_tenants_events", "takes the place of on_tenant_events, and no lanes apart"
            )
        if not any((self.on_tenant_events, self.on_tenants_events, self.on_platform_events)):
            raise BadValueError("on_tenant_events", "or on_platform_events must be given")

    def expression(self) -> str:
        """The subjects as one regular expression, in the part of the syntax that Python and Postgres share."""
        return _any_of(self.subjects)

    @property
    def plain(self) -> list[str]:
        """The subjects that stand for themselves: an equal text is found many times faster than a fitting one."""
        return [pattern for pattern in self.subjects if not _WILD & set(pattern)]

    @property
    def wild(self) -> str | None:
        """The others as one expression; None where there are none."""
        patterns = [pattern for pattern in self.subjects if _WILD & set(pattern)]
        return _any_of(patterns) if patterns else None


def tenant_by_tenant(handle: TenantHandler) -> TenantsHandler:
    """Calls a handler that knows one tenant for each tenant of a set, in the same transaction, in the order of tenants."""

    async def apply(tx: TenantsTx, events: Sequence[Event]) -> None:
        by_tenant: dict[TenantId, list[Event]] = {}
        for event in events:
            if event.tenant_id is None:
                raise NoHandlerError
            by_tenant.setdefault(event.tenant_id, []).append(event)
        for tenant_id in sorted(by_tenant):
            await handle(tx.of(tenant_id), by_tenant[tenant_id])

    return apply


def _any_of(patterns: Iterable[str]) -> str:
    return f"^({'|'.join(map(_expression, patterns))})$"


def _expression(pattern: str) -> str:
    words = {"*": "[^.]+", ">": ".+"}
    return r"\.".join(words.get(word, word) for word in pattern.split("."))


class NoHandlerError(TidingsError):
    """The event has no tenant, and its subscription takes only tenants' events."""

    code = "no_handler"


class NoSuchDeadLetterError(TidingsError):
    """There is no such dead letter; it may have been replayed, discarded or swept."""

    code = "no_such_dead_letter"


class NoSuchGroupError(TidingsError):
    """No consumer group has that name."""

    code = "no_such_group"


class BusUnavailableError(TidingsError):
    """The engine of the bus can't be reached; events wait in the outboxes and on the stream."""

    code = "bus_unavailable"


class BusMovedError(TidingsError):
    """The stream of this database is on another engine than the one this process was started with."""

    code = "bus_moved"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """An event that a group has given up on."""

    id: DeadLetterId
    #: The group whose handler failed; the other groups are not concerned.
    group: str
    event: Event
    #: How often the handler was called.
    attempts: int
    #: The code or class of the last error; never its words.
    error: str
    died_at: datetime
    #: After this it is swept.
    expires_at: datetime


class EventDeadLetters(Protocol):
    """The events that groups have given up on."""

    async def list(
        self, *, group: str | None = None, after: DeadLetterId | None = None, limit: int = 100
    ) -> Sequence[DeadLetter]:
        """The oldest first; `after` is the last one of the page before."""
        ...

    async def show(self, letter: DeadLetterId) -> DeadLetter:
        """One of them, or a `NoSuchDeadLetterError`."""
        ...

    async def replay(self, letter: DeadLetterId) -> None:
        """Hand it to its group again, with all its attempts before it."""
        ...

    async def discard(self, letter: DeadLetterId) -> None:
        """Forget it."""
        ...

    async def sweep(self, *, limit: int = 5_000) -> int:
        """Remove up to so many that have expired; how many that were."""
        ...


class Runner(Protocol):
    """A relay or a consumer."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`; an outage of the database is waited out."""
        ...

    async def drain(self) -> int:
        """Do all that is there to be done now, then return; how many events that were."""
        ...


class SubjectFilter:
    """Which subjects are wanted, as NATS writes them: `tenant.*.v1` (one word), `notification.>` (one or more)."""

    __slots__ = ("_expression", "patterns")

    def __init__(self, patterns: Iterable[str]) -> None:
        #: In the order of words, each once.
        self.patterns = tuple(sorted(set(patterns)))
        if not self.patterns or not all(_PATTERN.fullmatch(pattern) for pattern in self.patterns):
            raise BadValueError("types", "must be dotted words, * for one word, > at the end for the rest")
        self._expression = re.compile(_any_of(self.patterns))

    @property
    def expression(self) -> str:
        """As one regular expression, in the part of the syntax that Python and Postgres share."""
        return self._expression.pattern

    def takes(self, subject: str) -> bool:
        """Whether it is wanted."""
        return self._expression.match(subject) is not None


#: Every subject.
EVERYTHING = SubjectFilter([">"])


class CursorError(BadValueError):
    """A cursor is none of this bus."""

    def __init__(self) -> None:
        super().__init__(
            "after", "is no cursor of this feed; take next_cursor of an answer, beginning, or now"
        )


class CursorExpiredError(TidingsError):
    """The bus does not keep what comes after this cursor any more; some of it would be left out."""

    code = "cursor_expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """Some events of one tenant, in their order."""

    events: tuple[Event, ...]
    #: Of each event the cursor behind it.
    cursors: tuple[str, ...]
    #: Where the next page begins: opaque, and good for as long as the bus keeps events.
    next_cursor: str
    #: The bus had no more when it was read. A page may be empty before that, where others' events were passed over.
    at_end: bool


#: Where a reader without a cursor begins: with the oldest event still kept, or with the next one.
FeedStart = Literal["beginning", "now"]


class EventFeed(Protocol):
    """One tenant's events for readers outside, who keep their own cursors; nothing is left out, and nothing is another tenant's."""

    async def cursor(self, start: FeedStart) -> str:
        """Where a reader without a cursor begins."""
        ...

    async def read(self, tenant_id: TenantId, wanted: SubjectFilter, *, after: str, limit: int) -> FeedPage:
        """The next events behind a cursor; a `CursorError` for one that is none, a `CursorExpiredError` for one that is too old."""
        ...

    def listen(self, tenant_id: TenantId, wanted: SubjectFilter) -> AbstractContextManager[asyncio.Event]:
        """An event that is set whenever there may be more to read; clear it before each read."""
        ...


class Bus(Protocol):
    """Makes the parts; a process runs those that its role needs."""

    def relay(self, schema: LiteralString, *, prompt: bool = False) -> Runner:
        """Carries one service's outbox to the bus, at once where it is to be `prompt`. Any number of processes may run one."""
        ...

    def consumer(self, subscription: Subscription) -> Runner:
        """Reads for a group. Any number of processes may run one."""
        ...

    @property
    def dead_letters(self) -> EventDeadLetters:
        """The events that groups have given up on."""
        ...

    @property
    def feed(self) -> EventFeed:
        """A tenant's events, for readers outside."""
        ...

    async def run(self, stop: asyncio.Event) -> None:
        """What the bus itself needs while relays and consumers run: its wake-up connection, say."""
        ...


class BusObserver:
    """Observes the bus, for the metrics; a subclass overrides what it counts."""

    def relayed(self, outbox: str, count: int, lag_seconds: float) -> None:
        """So many events were carried over; the oldest had waited that long since its statement."""

    def consumed(self, group: str, count: int) -> None:
        """So many events had their effect."""

    def parked(self, group: str, count: int) -> None:
        """So many events were set aside, failed or waiting behind one."""

    def died(self, group: str, count: int) -> None:
        """So many events became dead letters."""

    def took_over(self, group: str) -> None:
        """A lease was taken from a process that had let it run out."""

    def failed(self, part: str) -> None:
        """A relay or a consumer could not go on, and tries again."""

    def waiting(self, outbox: str, seconds: float) -> None:
        """The oldest event in that outbox has waited so long for a relay; 0 where there is none."""

    def behind(self, group: str, seconds: float) -> None:
        """The oldest event that the group has not read was put on the bus so long ago; 0 where there is none."""

    def engine_connected(self, connected: bool) -> None:  # noqa: FBT001  # its only argument
        """The engine behind the stream, where it is another server than the database, was reached or lost."""
