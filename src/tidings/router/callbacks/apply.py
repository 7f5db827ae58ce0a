"""The use case "events have found their attempts": tell the ladders, tenant by tenant.

An event's id is the receipt's: told twice, because a worker died before it was marked, it is taken once.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from itertools import chain
from typing import Final

import msgspec

from tidings.contracts.callback_forms import Canonical, Details, ReadEvent
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.halving import SetFailed, halve
from tidings.kernel.durable.locked_sets import TENANT_TIMEOUT, for_each_tenant
from tidings.kernel.errors import DatabaseError, DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.logs import get_logger
from tidings.kernel.tracing import span_of_set, started
from tidings.router.adapters.redaction import kept_code
from tidings.router.adapters.registry import kind_of
from tidings.router.callbacks import store
from tidings.router.callbacks.model import CallbackObserver
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.callbacks.store import ClaimedEvent, CorrelatedAttempt, EventDetails
from tidings.router.ids import InboundWebhookEventId
from tidings.router.receipts import ApplyReceipts, Receipt
from tidings.router.status_map import store as status_map
from tidings.router.status_map.model import StatusMeaning

_log = get_logger("callbacks")
#: What a code can say more about than the vendor's word does.
_FAILURES: Final[frozenset[Canonical]] = frozenset(
    {"failed_temp", "failed_perm", "rejected_by_provider", "rejected_by_recipient", "bounced", "unknown"}
)

_read_details = msgspec.json.Decoder(Details).decode

#: An event with the attempt that it is about.
Correlated = tuple[ClaimedEvent, CorrelatedAttempt]


def purpose(event_id: str) -> str:
    """What the details of an event are sealed for: in another row they do not open."""
    return f"event:{event_id}"


def details_of(read: ReadEvent) -> Details | None:
    """What is kept of an event beside its status; of one that means nothing its word too, so that it can be given a meaning."""
    if read.status != "unknown":
        return read.details
    word = kept_code("_".join(read.word.lower().split()))
    return msgspec.structs.replace(read.details or Details(), word=word)


@dataclass(frozen=True, slots=True)
class _Said:
    """An event on its way to its ladder."""

    event: ClaimedEvent
    receipt: Receipt
    #: The vendor's word, where that alone means nothing.
    word: str | None

    @property
    def codes(self) -> list[tuple[str, str]]:
        """What its meaning is looked up by, the more telling first."""
        if self.receipt.status not in _FAILURES:
            return []
        return [
            (self.event.vendor, code) for code in (self.receipt.provider_code, self.word) if code is not None
        ]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Applier:
    """Tells ladders what vendors said."""

    db: Database
    keyring: Keyring
    apply_receipts: ApplyReceipts
    _: KW_ONLY
    #: Hears that an execution has to be looked at now.
    on_woken: Callable[[datetime], None]
    observer: CallbackObserver = CallbackObserver()
    #: Tenants at once.
    slots: asyncio.Semaphore = field(init=False, default_factory=lambda: asyncio.Semaphore(4))

    async def apply(self, events: Sequence[Correlated], *, now: datetime) -> set[InboundWebhookEventId]:
        """Tell them; the events that could not be told now."""
        if not events:
            return set()
        receipts = await self._receipts(events)
        by_tenant: dict[TenantId, list[_Said]] = {}
        for (_, found), said in zip(events, receipts, strict=True):
            by_tenant.setdefault(found.tenant_id, []).append(said)

        async def tell(tenant_id: TenantId, told: Sequence[_Said]) -> Sequence[_Said]:
            return await self._tell(tenant_id, told, now)

        failed, left = await for_each_tenant(by_tenant, tell, self.slots)
        return {said.event.id for said in (*left, *chain.from_iterable(failed))}

    async def _tell(self, tenant_id: TenantId, told: Sequence[_Said], now: datetime) -> list[_Said]:
        """Tell a tenant's in one transaction, halved where that fails; those that could not be told."""

        async def tell(some: Sequence[_Said]) -> None:
            await self._tell_set(tenant_id, some, now)

        failed: list[_Said] = []
        async for part in halve(told, tell):
            if isinstance(part, SetFailed):
                if isinstance(part.error, DatabaseUnavailableError):
                    raise part.error
                self._note(tenant_id, len(part.items), part.error)
                failed += part.items
        return failed

    async def _tell_set(self, tenant_id: TenantId, told: Sequence[_Said], now: datetime) -> None:
        since = started()
        async with asyncio.timeout(TENANT_TIMEOUT), self.db.tenant(tenant_id) as tx:
            meanings = await self._meanings(tx, told)
            receipts = [_read_as(one.receipt, [meanings.get(code) for code in one.codes]) for one in told]
            applied = await self.apply_receipts(tx, receipts, now=now)
            await self._count_unknown(tx, told, meanings, fresh=applied.fresh, now=now)
        with span_of_set(
            "callbacks",
            "callbacks apply",
            applied.traceparents,
            since=since,
            tenant_id=tenant_id,
            event_ids=sorted(applied.fresh),
        ):
            if applied.woken:
                self.on_woken(now)

    def _note(self, tenant_id: TenantId, count: int, error: Exception) -> None:
        self.observer.failed("callbacks")
        ours = None if isinstance(error, DatabaseError | TimeoutError) else error
        _log.warning(
            "receipts_not_applied",
            tenant_id=tenant_id,
            count=count,
            error=type(error).__name__,
            exc_info=ours,
        )

    async def _meanings(self, tx: TenantTx, told: Sequence[_Said]) -> Mapping[tuple[str, str], StatusMeaning]:
        """What the vendors' codes, or else their words, mean for this tenant."""
        codes = {code for said in told for code in said.codes}
        return await status_map.find_meanings(tx, sorted(codes)) if codes else {}

    async def _count_unknown(
        self,
        tx: TenantTx,
        told: Sequence[_Said],
        meanings: Mapping[tuple[str, str], StatusMeaning],
        *,
        fresh: frozenset[str],
        now: datetime,
    ) -> None:
        """Codes, or else words, without a meaning; each event once, however often it is told."""
        counts = Counter(
            said.codes[0]
            for said in told
            if said.receipt.id in fresh and said.codes and not any(code in meanings for code in said.codes)
        )
        if counts:
            adapters = {vendor: kind.name for vendor, _ in counts if (kind := kind_of(vendor)) is not None}
            await status_map.note_unknown(tx, counts, adapters=adapters, now=now)

    async def _receipts(self, events: Sequence[Correlated]) -> list[_Said]:
        async with self.db.platform() as tx:
            told = await store.load_details(tx, [event for event, _ in events])
            sealed = any(one.payload is not None for one in told.values())
            key = await self.keyring.platform_key(tx, PLATFORM_PURPOSE) if sealed else None
        nothing = EventDetails(occurred_at=None, payload=None)
        return [_receipt(event, found, told.get(event.id, nothing), key) for event, found in events]


def _read_as(receipt: Receipt, meanings: Sequence[StatusMeaning | None]) -> Receipt:
    meaning = next((one for one in meanings if one is not None), None)
    if meaning is None:
        return receipt
    return msgspec.structs.replace(
        receipt, status=meaning.canonical, reason=meaning.reason, effect=meaning.effect
    )


def _receipt(event: ClaimedEvent, found: CorrelatedAttempt, told: EventDetails, key: DataKey | None) -> _Said:
    details = Details()
    if told.payload is not None and key is not None:
        try:
            details = _read_details(key.unseal(told.payload, purpose(event.id)))
        except (UnreadableError, msgspec.DecodeError):
            # The status is what counts; a code that can't be read must not hold it up.
            _log.error("callback_details_unreadable", event_id=event.id)
    word = details.word if event.status == "unknown" else None
    receipt = Receipt(
        id=event.id,
        attempt_id=found.attempt_id,
        execution_id=found.execution_id,
        attempt_started_at=found.started_at,
        status=event.status,
        occurred_at=told.occurred_at,
        # What an unknown event is found by when it gets a meaning.
        provider_code=details.code or word,
        reason=details.reason,
        cost_micros=details.cost.micros if details.cost is not None else None,
        cost_currency=details.cost.currency if details.cost is not None else None,
        effect=details.effect,
    )
    return _Said(event=event, receipt=receipt, word=word)
