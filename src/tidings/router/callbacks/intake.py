"""From a verified request to rows and a raw body that outlive us: requests that come together share a transaction.

The queue is bounded by number and by bytes: beyond that vendors are told to come again, before memory grows.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

import msgspec

from tidings.contracts.callback_forms import ReadEvent, ReadInbound
from tidings.kernel.blobs.store import BlobError, BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.gather import Gatherer
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import TooBusyError
from tidings.router.callbacks import raw_bodies, store
from tidings.router.callbacks.apply import details_of, purpose
from tidings.router.callbacks.errors import HookUnavailableError
from tidings.router.callbacks.inbound_messages import InboundMessages
from tidings.router.callbacks.model import CallbackObserver
from tidings.router.callbacks.portions import portions
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE, BodyLocation
from tidings.router.callbacks.store import NewEvent, NewRequest, RequestStatus
from tidings.router.executions.model import moment
from tidings.router.ids import INBOUND_WEBHOOK, INBOUND_WEBHOOK_EVENT, InboundWebhookId

_log = get_logger("callbacks")
_MOST_BYTES_WAITING: Final = 64 * 1024 * 1024
_MOST_AT_ONCE: Final = 200
_MOST_EVENTS_TOGETHER: Final = 2000
#: Seconds that the store of raw bodies may take, because a transaction waits for it.
_PUT_SECONDS: Final = 5.0

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingCallback:
    """A request on its way in."""

    account_id: str
    signature_valid: bool
    status: RequestStatus
    #: Why it was refused.
    reason: str | None
    body: bytes = field(repr=False)
    events: Sequence[ReadEvent] = ()
    #: What people wrote.
    inbound: Sequence[ReadInbound] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeResult:
    """What came of it."""

    #: Events that are new.
    accepted: int
    #: Events that were told before.
    repeated: int


class CallbackGroupCommit:
    """The way in; one per process."""

    def __init__(
        self,
        db: Database,
        *,
        blobs: Callable[[], BlobStore],
        keyring: Keyring,
        clock: Clock,
        wakeup: Wakeup,
        wrote: InboundMessages,
        observer: CallbackObserver | None = None,
        most_waiting: int = 2000,
        most_bytes_waiting: int = _MOST_BYTES_WAITING,
        put_seconds: float = _PUT_SECONDS,
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._keyring = keyring
        self._clock = clock
        self._wakeup = wakeup
        self._wrote = wrote
        self._observer = observer or CallbackObserver()
        self._most_bytes = most_bytes_waiting
        self._put_seconds = put_seconds
        self._bytes = 0
        self._gatherer: Gatherer[str, IncomingCallback, IntakeResult] = Gatherer(
            self._group, most_at_once=_MOST_AT_ONCE, most_waiting=most_waiting
        )

    async def take(self, vendor: str, request: IncomingCallback) -> IntakeResult:
        """Keep one; it is durable when this returns."""
        size = len(request.body)
        if self._bytes and self._bytes + size > self._most_bytes:
            raise TooBusyError
        self._bytes += size
        try:
            return await self._gatherer.do(vendor, request)
        finally:
            self._bytes -= size

    async def _group(
        self, vendor: str, given: Sequence[IncomingCallback]
    ) -> Sequence[IntakeResult | Exception]:
        results: list[IntakeResult | Exception] = []
        for some in portions(
            given, lambda request: len(request.events) + len(request.inbound), _MOST_EVENTS_TOGETHER
        ):
            try:
                taken = await self._keep(vendor, some)
            except BlobError as error:
                # No body is to blame: without the store of raw bodies nothing is taken in.
                _log.error("callbacks_not_kept", vendor=vendor, count=len(some), error=type(error).__name__)
                results += [HookUnavailableError() for _ in some]
                continue
            results += taken
            self._observer.received(vendor, sum(t.accepted for t in taken), sum(t.repeated for t in taken))
            if any(t.accepted for t in taken):
                self._wakeup.set()
            if any(request.inbound for request in some):
                self._wrote.wake()
        return results

    async def _keep(self, vendor: str, given: Sequence[IncomingCallback]) -> list[IntakeResult]:
        now = moment(self._clock)
        ids = [INBOUND_WEBHOOK.new(now) for _ in given]
        async with self._db.platform() as tx:
            key = await self._keyring.platform_key(tx, PLATFORM_PURPOSE)
            packed, places = raw_bodies.pack(
                key, vendor, [(one, request.body) for one, request in zip(ids, given, strict=True)]
            )
            # Beside the statement, and waited for before the commit: a row never names a body that is not there.
            kept = asyncio.create_task(self._put(packed))
            try:
                taken = await store.insert_callbacks(
                    tx,
                    vendor=vendor,
                    requests=[_request(*one) for one in zip(ids, given, places, strict=True)],
                    events=[
                        _event(request_id, request.account_id, read, key, now)
                        for request_id, request in zip(ids, given, strict=True)
                        for read in request.events
                    ],
                    now=now,
                )
                if taken and not self._wakeup.attended:
                    await store.announce(tx)
                wrote = [(place, read) for place, request in enumerate(given) for read in request.inbound]
                heard = Counter(await self._keep_wrote(tx, vendor, given, wrote, key=key, now=now))
                await kept
            finally:
                if not kept.done():
                    kept.cancel()
                    with suppress(asyncio.CancelledError, BlobError):
                        await kept
        fresh = [taken.get(one, 0) + heard[place] for place, one in enumerate(ids)]
        return [
            IntakeResult(accepted=new, repeated=len(request.events) + len(request.inbound) - new)
            for new, request in zip(fresh, given, strict=True)
        ]

    async def _keep_wrote(
        self,
        tx: PlatformTx,
        vendor: str,
        given: Sequence[IncomingCallback],
        wrote: Sequence[tuple[int, ReadInbound]],
        *,
        key: DataKey,
        now: datetime,
    ) -> list[int]:
        """What people wrote, each with the place of its request; the places of those that are new."""
        if not wrote:
            return []
        told = [(given[place].account_id, read) for place, read in wrote]
        fresh = await self._wrote.keep(tx, vendor, told, key=key, now=now)
        return [place for (place, _), new in zip(wrote, fresh, strict=True) if new]

    async def _put(self, packed: Sequence[raw_bodies.PackedRequests]) -> None:
        try:
            async with asyncio.timeout(self._put_seconds):
                await raw_bodies.put(self._blobs(), packed)
        except TimeoutError:
            raise BlobError("the blob store did not answer in time") from None


def _request(request_id: InboundWebhookId, request: IncomingCallback, place: BodyLocation) -> NewRequest:
    return NewRequest(
        id=request_id,
        account_id=request.account_id,
        signature_valid=request.signature_valid,
        body=place,
        # What people wrote has a life of its own.
        status="applied" if request.inbound and not request.events else request.status,
        reason=request.reason,
    )


def _event(
    request_id: InboundWebhookId, account_id: str, read: ReadEvent, key: DataKey, now: datetime
) -> NewEvent:
    event_id = INBOUND_WEBHOOK_EVENT.new(now)
    read = _writable(read)
    details = details_of(read)
    return NewEvent(
        id=event_id,
        request_id=request_id,
        account_id=account_id,
        read=read,
        payload=None if details is None else key.seal(_encode(details), purpose(event_id)),
    )


def _writable(read: ReadEvent) -> ReadEvent:
    """Without a letter that the database takes in no text: the vendor must not tell it for ever, nor others share its fate."""
    if "\x00" not in f"{read.vendor_message_id}{read.word}{read.discriminator}":
        return read
    return replace(
        read,
        vendor_message_id=read.vendor_message_id.replace("\x00", ""),
        word=read.word.replace("\x00", ""),
        discriminator=read.discriminator.replace("\x00", ""),
    )
