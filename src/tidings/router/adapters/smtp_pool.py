"""The connections to one account: opened when there is work, shared by all who send, closed when idle.

Work waits in one line, what is urgent before the rest. Each connection takes the next message when it can, so a slow one
holds up nobody but the message it has. A message whose connection ended before the server could have taken it goes back to the head of the
line once, because servers close idle connections without a word; the second time it is given back to the caller.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from tidings.contracts.messages import OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.kernel.logs import get_logger
from tidings.router.adapters.smtp_client import SmtpConnection
from tidings.router.adapters.smtp_open import CannotConnectError

_log = get_logger("smtp")


class Ready:
    """A message built for the wire."""

    __slots__ = ("data", "needs_utf8", "sender", "to")

    def __init__(self, *, sender: str, to: str, data: bytes, needs_utf8: bool) -> None:
        self.sender = sender
        self.to = to
        self.data = data
        self.needs_utf8 = needs_utf8


class _Batch:
    """Messages that were handed over together."""

    __slots__ = ("deadline", "done", "outcomes", "over", "waiting")

    def __init__(self, size: int, deadline: float) -> None:
        self.outcomes: list[Outcome | None] = [None] * size
        self.waiting = size
        self.deadline = deadline
        #: Its caller has gone; what has not begun is not begun.
        self.over = False
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class _Job:
    """One message of a batch, from the line to its outcome."""

    __slots__ = ("_batch", "_place", "_pool", "data", "message", "needs_utf8", "returned", "sender", "to")

    def __init__(self, pool: "SmtpPool", message: OutboundMessage, batch: _Batch, place: int) -> None:
        self._pool = pool
        self._batch = batch
        self._place = place
        self.message = message
        self.returned = False
        self.sender = self.to = ""
        self.data = b""
        self.needs_utf8 = False

    @property
    def wanted(self) -> bool:
        return not self._batch.over

    @property
    def too_late(self) -> bool:
        return asyncio.get_running_loop().time() > self._batch.deadline

    def settle(self, outcome: Outcome) -> None:
        """Tell the caller; the first word counts."""
        batch = self._batch
        self.data = b""
        if batch.outcomes[self._place] is None:
            batch.outcomes[self._place] = outcome
            batch.waiting -= 1
            if batch.waiting == 0 and not batch.done.done():
                batch.done.set_result(None)

    def give_back(self, reason: str) -> None:
        """The connection ended too early: once more over another, then the caller decides."""
        if self._batch.outcomes[self._place] is not None:
            return
        if self.returned:
            self.settle(TryLater(reason=reason, code="connection"))
        else:
            self.returned = True
            self._pool.put_first(self)


class _Line:
    """Two lines in truth: nobody in the second is served while somebody waits in the first."""

    __slots__ = ("_rest", "_urgent")

    def __init__(self) -> None:
        self._urgent: deque[_Job] = deque()
        self._rest: deque[_Job] = deque()

    def __len__(self) -> int:
        return len(self._urgent) + len(self._rest)

    def append(self, job: _Job) -> None:
        self._of(job).append(job)

    def appendleft(self, job: _Job) -> None:
        self._of(job).appendleft(job)

    def popleft(self) -> _Job:
        return (self._urgent or self._rest).popleft()

    def _of(self, job: _Job) -> deque[_Job]:
        return self._urgent if job.message.urgent else self._rest


class SmtpPool:
    """Sends over as many connections as there is work for, up to a limit."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[SmtpConnection]],
        build: Callable[[OutboundMessage], Ready],
        *,
        connections: int,
        idle_seconds: float,
        batch_seconds: float,
        goodbye_seconds: float,
    ) -> None:
        self._connect = connect
        self._build = build
        self._most = connections
        self._idle_seconds = idle_seconds
        self._batch_seconds = batch_seconds
        self._goodbye_seconds = goodbye_seconds
        self._line = _Line()
        self._workers: set[asyncio.Task[None]] = set()
        self._idle: deque[asyncio.Future[None]] = deque()
        #: Workers that have a connection, or are about to.
        self._hopeful = 0
        self._closed = False

    async def send(self, messages: Sequence[OutboundMessage]) -> list[Outcome]:
        """One outcome each, in order."""
        if not messages:
            return []
        if self._closed:
            return [TryLater(reason="the adapter is closed", code="closed") for _ in messages]
        batch = _Batch(len(messages), asyncio.get_running_loop().time() + self._batch_seconds)
        for place, message in enumerate(messages):
            self._line.append(_Job(self, message, batch, place))
        self._call_workers()
        try:
            await batch.done
        finally:
            batch.over = True
        return [outcome or Unlearned(reason="no outcome was told") for outcome in batch.outcomes]

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
            job.settle(TryLater(reason="the adapter is closed", code="closed"))
            return
        self._line.appendleft(job)
        self._call_workers()

    def _call_workers(self) -> None:
        work = len(self._line)
        while self._idle and work:
            _wake(self._idle.popleft())
            work -= 1
        for _ in range(min(work, self._most - len(self._workers))):
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

    async def _work(self) -> None:
        connection: SmtpConnection | None = None
        try:
            while not self._closed:
                if connection is not None and not connection.usable:
                    await connection.close()
                    connection = None
                if not self._line:
                    if connection is None or not await self._rest(connection):
                        return
                    continue
                if connection is None:
                    try:
                        connection = await self._connect()
                    except CannotConnectError as error:
                        # The others may do better: a server may allow fewer connections than we do.
                        if self._hopeful == 1:
                            self._fail_line(error.reason, error.code)
                        return
                await connection.run(self._take)
        finally:
            self._hopeful -= 1
            if connection is not None:
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
        """The next message, built."""
        while self._line:
            job = self._line.popleft()
            if not job.wanted:
                continue
            if job.too_late:
                job.settle(TryLater(reason="there was no time left for it in this set", code="late"))
                continue
            try:
                ready = self._build(job.message)
            except BadValueError as error:
                job.settle(Refused(reason=str(error), code="bad_message"))
                continue
            except Exception as error:  # noqa: BLE001  # our own mistake costs this message, not its whole set
                _log.error("smtp.unbuildable", message_id=job.message.message_id, error=type(error).__name__)
                job.settle(TryLater(reason="the message could not be built", code="internal"))
                continue
            job.sender, job.to, job.data = ready.sender, ready.to, ready.data
            job.needs_utf8 = ready.needs_utf8
            return job
        return None

    def _fail_line(self, reason: str, code: str) -> None:
        while self._line:
            self._line.popleft().settle(TryLater(reason=reason, code=code))


def _wake(bell: asyncio.Future[None]) -> None:
    if not bell.done():
        bell.set_result(None)
