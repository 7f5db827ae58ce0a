"""The connections to one server under one login: opened when there is work, shared by all who send, closed when idle.

Work waits in line, what is urgent before the rest, and the tenants take turns. Each connection takes the next message when it can, so a slow one
holds up only the message it has. A message on a connection that ended before the server could have taken it goes back to the head of the
line once, because servers close idle connections without a word; the second time it is given back to the caller.

A message that has only so much time has it from its turn on. Waiting for others costs it nothing; waiting for a server that can't be
reached by anybody does.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from tidings.contracts.messages import OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.errors import BadValueError
from tidings.kernel.logs import get_logger
from tidings.router.adapters.connect import ConnectError
from tidings.router.adapters.pending_outcomes import LATE, UNANSWERED
from tidings.router.adapters.smtp.client import SmtpConnection
from tidings.router.adapters.smtp.window import ConnectionWindow

_log = get_logger("smtp")
CLOSED: Final = TryLater(reason="the adapter is closed", code="closed")


class MailOnWire:
    """A message built for the wire."""

    __slots__ = ("data", "needs_utf8", "sender", "to")

    def __init__(self, *, sender: str, to: str, data: bytes, needs_utf8: bool) -> None:
        self.sender = sender
        self.to = to
        self.data = data
        self.needs_utf8 = needs_utf8


#: Builds a message for the wire when its turn has come.
BuildMail: TypeAlias = Callable[[OutboundMessage], MailOnWire]


class _Batch:
    """Messages that were handed over together."""

    __slots__ = ("began_at", "bell", "deadline", "done", "learned", "outcomes", "over", "waiting", "within")

    def __init__(self, size: int, seconds: float, within: float | None, learned: list[Outcome]) -> None:
        self.outcomes: list[Outcome | None] = [None] * size
        #: The caller's: has each answer as soon as it is read, and in the end what is certain of all.
        self.learned = learned
        self.waiting = size
        self.began_at = asyncio.get_running_loop().time()
        self.deadline = self.began_at + seconds
        #: The seconds of each of them; None: as many as the server's answers may take.
        self.within = within
        self.bell: asyncio.TimerHandle | None = None
        #: Its caller has gone; what has not begun is not begun.
        self.over = False
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class _Job:
    """One message of a batch, from the line to its outcome."""

    __slots__ = (
        "_batch",
        "_ends",
        "_place",
        "_pool",
        "begun",
        "build",
        "data",
        "message",
        "needs_utf8",
        "returned",
        "sender",
        "to",
    )

    def __init__(
        self, pool: "SmtpPool", message: OutboundMessage, build: BuildMail, batch: _Batch, place: int
    ) -> None:
        self._pool = pool
        self.build = build
        self._batch = batch
        self._place = place
        #: Its own end, from its turn on, where it has one.
        self._ends: float | None = None
        self.message = message
        #: A connection has it.
        self.begun = False
        self.returned = False
        self.sender = self.to = ""
        self.data = b""
        self.needs_utf8 = False

    @property
    def wanted(self) -> bool:
        return not self._batch.over and self._batch.outcomes[self._place] is None

    @property
    def too_late(self) -> bool:
        return asyncio.get_running_loop().time() > self._batch.deadline

    @property
    def told(self) -> Outcome:
        """What is certain of it now."""
        return self._batch.outcomes[self._place] or (UNANSWERED if self.begun else LATE)

    def deadline(self, seconds: float) -> float:
        """By when the server must have answered, at most so many seconds from now."""
        now = asyncio.get_running_loop().time()
        within = self._batch.within
        if within is None:
            return now + seconds
        if self._ends is None:
            self._ends = now + within
        return min(now + seconds, self._ends)

    def settle(self, outcome: Outcome) -> None:
        """Tell the caller; the first word counts."""
        batch = self._batch
        self._leave()
        if batch.outcomes[self._place] is None:
            batch.outcomes[self._place] = outcome
            if not batch.over:
                batch.learned[self._place] = outcome
            batch.waiting -= 1
            if batch.waiting == 0 and not batch.done.done():
                batch.done.set_result(None)

    def give_back(self, reason: str) -> None:
        """The connection ended too early: once more over another, then the caller decides."""
        if self._batch.outcomes[self._place] is not None:
            return
        over = self._ends is not None and asyncio.get_running_loop().time() >= self._ends
        if self.returned or over:
            self.settle(TryLater(reason=reason, code="connection"))
        else:
            self._leave()
            self.begun = False
            self.returned = True
            self._pool.put_first(self)

    def _leave(self) -> None:
        """Its connection is done with it."""
        if self.data:
            self.data = b""
            self._pool.ended(self)


class _Turns:
    """Messages of several tenants, one of each in turn."""

    __slots__ = ("_by_tenant", "_count", "_first")

    def __init__(self) -> None:
        #: The tenant whose turn is next comes first.
        self._by_tenant: dict[str, deque[_Job]] = {}
        #: Those that were given back.
        self._first: deque[_Job] = deque()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, job: _Job) -> None:
        self._count += 1
        mine = self._by_tenant.get(job.message.tenant_id)
        if mine is None:
            mine = self._by_tenant[job.message.tenant_id] = deque()
        mine.append(job)

    def appendleft(self, job: _Job) -> None:
        self._count += 1
        self._first.appendleft(job)

    def popleft(self, too_many: Callable[[str], bool]) -> _Job:
        """The next one; not of a tenant that has `too_many` under way, unless all have."""
        self._count -= 1
        if self._first:
            return self._first.popleft()
        tenant_id = next(iter(self._by_tenant))
        if too_many(tenant_id):
            tenant_id = next((other for other in self._by_tenant if not too_many(other)), tenant_id)
        mine = self._by_tenant.pop(tenant_id)
        job = mine.popleft()
        if mine:
            self._by_tenant[tenant_id] = mine
        return job


class _Line:
    """Two lines in truth: no message of the second is served while one waits in the first."""

    __slots__ = ("_rest", "_urgent")

    def __init__(self) -> None:
        self._urgent = _Turns()
        self._rest = _Turns()

    def __len__(self) -> int:
        return len(self._urgent) + len(self._rest)

    def append(self, job: _Job) -> None:
        self._of(job).append(job)

    def appendleft(self, job: _Job) -> None:
        self._of(job).appendleft(job)

    def popleft(self, too_many: Callable[[str], bool] = lambda _: False) -> _Job:
        return (self._urgent or self._rest).popleft(too_many)

    def _of(self, job: _Job) -> _Turns:
        return self._urgent if job.message.urgent else self._rest


class SmtpPool:
    """Sends over as many connections as there is work for, up to a limit."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[SmtpConnection]],
        *,
        connections: int,
        idle_seconds: float,
        batch_seconds: float,
        goodbye_seconds: float,
    ) -> None:
        self._connect = connect
        self._most = connections
        self._window: ConnectionWindow | None = None
        #: Connections that send just now.
        self._sending = 0
        #: Messages that a connection has, by tenant.
        self._under_way: Counter[str] = Counter()
        self._idle_seconds = idle_seconds
        self._batch_seconds = batch_seconds
        self._goodbye_seconds = goodbye_seconds
        self._line = _Line()
        self._workers: set[asyncio.Task[None]] = set()
        self._idle: deque[asyncio.Future[None]] = deque()
        #: Workers that have a connection, or are about to.
        self._hopeful = 0
        #: Connections that are open.
        self._open = 0
        #: Since when none is.
        self._cut_off_at = 0.0
        self._closed = False

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        build: BuildMail,
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> list[Outcome]:
        """One outcome each, in order; `learned` has what is certain where the call is cancelled."""
        if not messages:
            return []
        if self._closed:
            return [CLOSED for _ in messages]
        outcomes: list[Outcome] = [LATE] * len(messages) if learned is None else learned
        if self._window is None:
            self._window = ConnectionWindow(self._most, on_more=self._call_workers)
        batch = _Batch(len(messages), self._batch_seconds, within, outcomes)
        jobs = [_Job(self, message, build, batch, place) for place, message in enumerate(messages)]
        for job in jobs:
            self._line.append(job)
        self._call_workers()
        if within is not None:
            self._hurry(batch, jobs, within)
        try:
            await batch.done
        finally:
            # From here on none of it begins.
            batch.over = True
            if batch.bell is not None:
                batch.bell.cancel()
            outcomes[:] = [job.told for job in jobs]
        return outcomes

    async def close(self) -> None:
        """Give back what waits, let what is under way end, close."""
        self._closed = True
        self._fail_line("the adapter is closed", "closed")
        while self._idle:
            _wake(self._idle.popleft())
        workers = list(self._workers)
        if workers:
            _, late = await asyncio.wait(workers, timeout=self._goodbye_seconds)
            for worker in late:
                worker.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    @property
    def connections(self) -> int:
        """How many there are now, or are being opened."""
        return len(self._workers)

    def put_first(self, job: _Job) -> None:
        """Back to the head of the line."""
        if self._closed:
            job.settle(CLOSED)
            return
        self._line.appendleft(job)
        # The worker that gives it back looks for the next itself.
        self._call_workers(besides=1)

    def _hurry(self, batch: _Batch, jobs: Sequence[_Job], within: float) -> None:
        """Give back what has waited for so long while no connection reached the server; look again until the set is over."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        since = now if self._open else max(self._cut_off_at, batch.began_at)
        if now < since + within:
            batch.bell = loop.call_at(since + within, self._hurry, batch, jobs, within)
            return
        for job in jobs:
            if not job.begun:
                job.settle(TryLater(reason="the server could not be reached in time", code="connection"))

    @property
    def _room(self) -> int:
        """Connections that may be in use beside those that are."""
        return (self._window.size if self._window else self._most) - self._sending

    def _wake_idle(self) -> int:
        """Have idle connections look at the line, as many as there is work and room for; how many do."""
        woken = min(len(self._idle), len(self._line), self._room)
        for _ in range(woken):
            _wake(self._idle.popleft())
        return max(woken, 0)

    def _call_workers(self, *, besides: int = 0) -> None:
        """Have the line served by as many as there is work and room for, `besides` those that come by themselves."""
        woken = self._wake_idle() + besides
        # Those that are neither idle nor sending are about to.
        about_to = len(self._workers) - len(self._idle) - self._sending
        more = min(len(self._line) - woken, self._most - len(self._workers), self._room - about_to)
        for _ in range(more):
            self._hopeful += 1
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._ended)

    def _ended(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        if not worker.cancelled() and (error := worker.exception()) is not None:
            _log.error("smtp.worker_failed", error=type(error).__name__)
            if not self._workers:
                self._fail_line("the adapter failed", "internal")
        if self._line and not self._workers:
            self._call_workers()
        elif self._line:
            # It may have been one of few that were in use, and found no other connection.
            self._wake_idle()

    async def _work(self) -> None:
        connection: SmtpConnection | None = None
        try:
            while not self._closed:
                if connection is not None and not connection.usable:
                    gone, connection = connection, None
                    await self._leave(gone)
                if not self._line or self._room <= 0:
                    if connection is None or not await self._rest(connection):
                        return
                    continue
                if connection is None:
                    try:
                        connection = await self._connect()
                    except ConnectError as error:
                        # The others may do better: a server may allow fewer connections than we do.
                        if self._hopeful == 1:
                            self._fail_line(error.reason, error.code)
                        return
                    self._open += 1
                    if self._window is not None:
                        connection.on_sent = self._window.sent
                self._sending += 1
                try:
                    await connection.run(self._take)
                finally:
                    self._sending -= 1
        finally:
            self._hopeful -= 1
            if connection is not None:
                await self._leave(connection)

    async def _leave(self, connection: SmtpConnection) -> None:
        self._open -= 1
        self._cut_off_at = asyncio.get_running_loop().time()
        await connection.close()

    async def _rest(self, connection: SmtpConnection) -> bool:
        """Wait for work; False when it is time to go."""
        loop = asyncio.get_running_loop()
        bell: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(self._idle_seconds, _wake, bell)
        connection.wire.on_gone = lambda: _wake(bell)
        self._idle.append(bell)
        try:
            await bell
        finally:
            timer.cancel()
            if bell in self._idle:
                self._idle.remove(bell)
        return bool(self._line)

    def _take(self) -> _Job | None:
        """The next message, built; none where more connections are in use than are needed."""
        while self._line and self._room >= 0:
            job = self._line.popleft(self._has_half)
            if not job.wanted:
                continue
            if job.too_late:
                job.settle(LATE)
                continue
            try:
                ready = job.build(job.message)
            except BadValueError as error:
                job.settle(Refused(reason=str(error), code="bad_message"))
                continue
            except Exception as error:  # noqa: BLE001  # our own mistake costs this message, not its whole set
                _log.error("smtp.unbuildable", message_id=job.message.message_id, error=type(error).__name__)
                job.settle(TryLater(reason="the message could not be built", code="internal"))
                continue
            job.sender, job.to, job.data = ready.sender, ready.to, ready.data
            job.needs_utf8 = ready.needs_utf8
            job.begun = True
            self._under_way[job.message.tenant_id] += 1
            return job
        return None

    def _has_half(self, tenant_id: str) -> bool:
        """Whether a tenant's messages, which may be slow, are on half of the connections."""
        return self._under_way[tenant_id] * 2 >= self._most

    def ended(self, job: _Job) -> None:
        """A connection does not have it any more."""
        self._under_way[job.message.tenant_id] -= 1
        if not self._under_way[job.message.tenant_id]:
            del self._under_way[job.message.tenant_id]

    def _fail_line(self, reason: str, code: str) -> None:
        while self._line:
            self._line.popleft().settle(TryLater(reason=reason, code=code))


def _wake(bell: asyncio.Future[None]) -> None:
    if not bell.done():
        bell.set_result(None)
