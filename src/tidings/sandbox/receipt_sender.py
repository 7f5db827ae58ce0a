"""Sends receipts when their time has come, by the sandbox's clock, and again where no hook answers.

One task looks at one heap; those that are due at the same time travel together, a hundred to a request.
"""

import asyncio
import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.logs import get_logger
from tidings.sandbox.dialects.dialect import WebhookRequest
from tidings.sandbox.hooks import SandboxHook, SandboxHooks
from tidings.sandbox.receipt_format import ReceiptFormat
from tidings.sandbox.receipts import Course, ReceiptLog, SandboxReceipt, State
from tidings.sandbox.scripts import ReceiptScript
from tidings.sandbox.webhook_client import WebhookClient

#: Receipts that wait at once: half a kilobyte of memory each.
MOST_WAITING: Final = 50_000
_TOGETHER: Final = 100
_AT_ONCE: Final = 8
#: Seconds until the second try, the third, …; after the last it is given up.
_AGAIN: Final = (1.0, 3.0, 9.0, 27.0)
_log = get_logger("sandbox")


@dataclass(slots=True, kw_only=True)
class _Parcel:
    """Receipts that go to one hook in one request."""

    webhook_id: str
    vendor: str
    receipts: Sequence[SandboxReceipt]
    #: Whether it is their first way; those that follow are repeats.
    repeat: bool = False
    tries: int = 0


class ReceiptSender:
    """Plans receipts, sends them, calls them back."""

    def __init__(
        self,
        clock: Clock,
        *,
        run: str,
        ledger: ReceiptLog,
        wording: ReceiptFormat | None = None,
        carrier: WebhookClient | None = None,
        changed: Callable[[], None] = lambda: None,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        """`run` makes ids of this sandbox differ from those of every other; without `wording` all vendors tell things in the
        generic form; `changed` is told of every change."""
        self.hooks = SandboxHooks()
        self.ledger = ledger
        self.carrier = carrier or WebhookClient()
        self._clock = clock
        self._run = run
        self._wording = wording or ReceiptFormat({})
        self._changed = changed
        self._most_waiting = most_waiting
        self._numbers = count(1)
        #: Receipts that are on the heap or under way, repeats included.
        self._waiting = 0
        self._heap: list[tuple[float, int, SandboxReceipt | _Parcel]] = []
        #: Something that is due is taken from the heap, and not under way yet.
        self._busy = False
        self._flying: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._bell = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # --- planning

    @property
    def full(self) -> bool:
        """No more receipts can wait."""
        return self._waiting >= self._most_waiting

    def plan(self, message_id: str, vendor: str, script: ReceiptScript) -> None:
        """The receipts of a message that was just taken; none where no hook is set, or the vendor tells none."""
        wanted = self.hooks.of(vendor) is not None and self._wording.tells(vendor)
        beats = script.beats if wanted else ()
        now, tick = self._clock.now(), self._clock.monotonic()
        receipts = tuple(
            SandboxReceipt(
                id=f"sbr_{self._run}_{next(self._numbers)}",
                message_id=message_id,
                vendor=vendor,
                beat=beat,
                planned_at=now + timedelta(seconds=beat.after_seconds),
                happened_at=now
                + timedelta(
                    seconds=beat.after_seconds if beat.happened_seconds is None else beat.happened_seconds
                ),
            )
            for beat in beats
        )
        name = script.name if wanted else None
        self.ledger.add(Course(message_id=message_id, vendor=vendor, script=name, receipts=receipts))
        self._waiting += len(receipts)
        for receipt in receipts:
            self._push(tick + receipt.beat.after_seconds, receipt)
        self._changed()

    def cancel(self, vendor: str, message_id: str) -> bool | None:
        """Call a message back: whether it was in time; None for one that is not known."""
        course = self.ledger.get(message_id)
        if course is None or course.vendor != vendor:
            return None
        if course.begun:
            return False
        course.cancelled = True
        for receipt in course.receipts:
            receipt.state = "cancelled"
        self._note(message_id)
        return True

    # --- running

    def start(self) -> None:
        """Begin to send."""
        self._task = asyncio.get_running_loop().create_task(self._send_all())

    async def stop(self) -> None:
        """End all of it; what is planned is never sent."""
        running = [task for task in (self._task, *self._flying) if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._task = None
        self._heap.clear()
        self._waiting = 0
        await self.carrier.close()

    async def settled(self) -> None:
        """Wait until everything that is due by now was sent and answered, or is to be tried later."""
        while self._task is not None and (self._flying or self._busy or self._is_due()):
            self._bell.set()
            if self._flying:
                await asyncio.wait(set(self._flying), return_when=asyncio.FIRST_COMPLETED)
            else:
                await asyncio.sleep(0)

    async def _send_all(self) -> None:
        while True:
            self._bell.clear()
            self._busy = True
            for parcel in self._parcels():
                # Taken here: no more requests are made than are under way.
                await self._slots.acquire()
                task = asyncio.get_running_loop().create_task(self._carry(parcel))
                self._flying.add(task)
                task.add_done_callback(self._landed)
            self._busy = False
            await self._wait()

    async def _wait(self) -> None:
        """Until the next is due, or something was planned."""
        if not self._heap:
            await self._bell.wait()
            return
        left = self._heap[0][0] - self._clock.monotonic()
        if left <= 0:
            return
        waits = [asyncio.ensure_future(self._bell.wait()), asyncio.ensure_future(self._clock.sleep(left))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _landed(self, task: asyncio.Task[None]) -> None:
        self._flying.discard(task)
        self._slots.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("sandbox.receipts_lost", error=type(error).__name__)

    def _is_due(self) -> bool:
        return bool(self._heap) and self._heap[0][0] <= self._clock.monotonic()

    def _parcels(self) -> Iterator[_Parcel]:
        """All that is due now, put together by vendor; what was not answered goes as it went before."""
        fresh: dict[tuple[str, bool], list[SandboxReceipt]] = {}
        while self._is_due():
            _, _, due = heapq.heappop(self._heap)
            if isinstance(due, _Parcel):
                yield due
            elif due.state == "cancelled":
                self._waiting -= 1
            else:
                fresh.setdefault((due.vendor, due.beat.forged), []).append(due)
        for (vendor, _), receipts in fresh.items():
            for start in range(0, len(receipts), _TOGETHER):
                some, hook = receipts[start : start + _TOGETHER], self.hooks.of(vendor)
                for carried in self._wording.together(vendor, some, hook, self._clock.now()):
                    yield self._parcel(vendor, carried)

    def _parcel(self, vendor: str, receipts: Sequence[SandboxReceipt], *, repeat: bool = False) -> _Parcel:
        webhook_id = f"hook_{self._run}_{next(self._numbers)}"
        return _Parcel(webhook_id=webhook_id, vendor=vendor, receipts=receipts, repeat=repeat)

    async def _carry(self, parcel: _Parcel) -> None:
        # What was called back while it waited for its turn stays here.
        going = [receipt for receipt in parcel.receipts if receipt.state != "cancelled"]
        self._waiting -= len(parcel.receipts) - len(going)
        parcel.receipts = going
        hook = self.hooks.of(parcel.vendor)
        if not going:
            return
        calls = self._calls(parcel, hook) if hook is not None else ()
        if not calls:
            # No hook is set, or the vendor has no word for it.
            self._finish(parcel, "given_up")
            return
        parcel.tries += 1
        for receipt in going:
            receipt.tries += 1
            if not parcel.repeat:
                receipt.state = "sent"
            self._note(receipt.message_id)
        answer = await self.carrier.tell(calls, parcel.vendor)
        now = self._clock.now()
        for receipt in going:
            receipt.answer, receipt.answered_at = answer, now
        if parcel.tries == 1 and not parcel.repeat:
            self._repeat(parcel)
        if 200 <= answer < 300:
            self._finish(parcel, "answered")
        elif parcel.tries > len(_AGAIN):
            self._finish(parcel, "given_up")
        else:
            self._push(self._clock.monotonic() + _AGAIN[parcel.tries - 1], parcel)

    def _finish(self, parcel: _Parcel, state: State) -> None:
        self._waiting -= len(parcel.receipts)
        for receipt in parcel.receipts:
            if not parcel.repeat:
                receipt.state = state
            self._note(receipt.message_id)

    def _repeat(self, parcel: _Parcel) -> None:
        """Whatever is sent more than once goes again, each time in a request of its own."""
        for turn in range(1, max(receipt.beat.repeat for receipt in parcel.receipts) + 1):
            again = [receipt for receipt in parcel.receipts if receipt.beat.repeat >= turn]
            self._waiting += len(again)
            self._push(self._clock.monotonic(), self._parcel(parcel.vendor, again, repeat=True))

    def _calls(self, parcel: _Parcel, hook: SandboxHook) -> Sequence[WebhookRequest]:
        now = self._clock.now()
        return self._wording.calls(parcel.vendor, parcel.receipts, hook, now, webhook_id=parcel.webhook_id)

    def _push(self, due: float, what: SandboxReceipt | _Parcel) -> None:
        heapq.heappush(self._heap, (due, next(self._numbers), what))
        if self._heap[0][2] is what:
            self._bell.set()

    def _note(self, message_id: str) -> None:
        self.ledger.changed(message_id)
        self._changed()
