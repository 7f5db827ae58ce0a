"""Flushes windows that are due: claim, render without a transaction, and write; a set of whatever tenants at once.

A claimed window takes no more items. In one transaction the digest is accepted, its items are superseded and the window is
closed: whoever dies before it leaves a window that another worker flushes, and whoever dies after it has sent one digest.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Struct

from tidings.contracts.enums import AUTO, NotificationStatus, Priority
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.durable.claims import Claim, ClaimSettings, SetAnswered
from tidings.kernel.durable.halving import SetDone, halve, is_of_an_item
from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.logs import get_logger, where
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.events import moved_event
from tidings.notify.accept.group_commit import Wake
from tidings.notify.accept.order import AcceptedOrder, Order, OrderedBy, Outcome
from tidings.notify.accept.row import RANKS, VARIABLES_PURPOSE, NotificationRow
from tidings.notify.decide import trace
from tidings.notify.decide.model import Gate, Pass, Stop
from tidings.notify.decide.reasons import GateReason
from tidings.notify.digests import flush_store as store
from tidings.notify.digests.astray import find_astray
from tidings.notify.digests.flush_store import (
    ClosedWindow,
    DigestItem,
    FlushedWindow,
    FlushResult,
    SettledItem,
)
from tidings.notify.digests.lines import MOST_SHOWN, DigestLine, line_of, variables_of
from tidings.notify.dispatch.compose import ComposeAsk, Composed, Composer, letterhead_of
from tidings.notify.dispatch.store import load_with_people
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import Facts
from tidings.notify.ids import DigestWindowId
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.render.errors import RenderInterruptedError
from tidings.notify.templates.digest_template import TEMPLATE, Gathered, digest_templates
from tidings.notify.templates.resolve import TemplateResolver

#: After so many flushes that ended in an error, each item goes by itself.
_MOST_FAILURES: Final = 3
#: What another process has opened, or an operator wants flushed, is found within the longest sleep.
FLUSH_SETTINGS: Final = ClaimSettings(limit=50, most_in_hand=100, most_of_a_tenant=None, longest_sleep=1.0)

_BEST: Final[tuple[Priority, ...]] = ("critical", "high", "normal", "low")
_EXPIRED: Final = trace.encode(
    [trace.line_of(Gate.EXPIRY, Stop(NotificationStatus.EXPIRED, GateReason.EXPIRED))]
)
_log = get_logger("digests")


class _Draft(Struct, frozen=True, kw_only=True):
    """A window with what its digest would say."""

    window: FlushedWindow
    #: The key of its template.
    template: str = TEMPLATE
    #: Those that it may go over.
    channels: frozenset[Channel] = frozenset()
    lines: Mapping[NotificationId, DigestLine] = {}
    #: No digest is tried any more.
    apart: bool = False

    def __repr__(self) -> str:
        return f"_Draft({self.window.id}, ***)"


class _Plan(Struct, frozen=True, kw_only=True):
    """What is left in a window, and the order of its digest where there is one."""

    draft: _Draft
    live: list[DigestItem]
    expired: list[DigestItem]
    #: Those that are not for its reader any more.
    astray: list[DigestItem]
    order: Order | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DigestFlusher:
    """Flushes sets of windows."""

    db: Database
    loader: FactsLoader
    keyring: Keyring
    composer: Composer
    templates: TemplateResolver
    acceptor: Acceptor
    wake: Wake
    clock: Clock
    #: Which of the counts this process adds to.
    stripe: int = 0
    #: Hears how many windows ended how.
    flushed: Callable[[FlushResult, int], object] = lambda _, __: None

    async def flush(
        self, worker: str, claims: Sequence[Claim[DigestWindowId]], answered: SetAnswered
    ) -> None:
        """Flush what was claimed; a window that can't be flushed fails alone, and is tried again."""
        async for part in halve(claims, partial(self._flush_set, worker), blames_item=_is_apart):
            if not isinstance(part, SetDone):
                await self._failed(worker, part.items, part.error)
            answered(len(part.items))

    async def _flush_set(self, worker: str, claims: Sequence[Claim[DigestWindowId]]) -> None:
        drafts = await self._drafts(worker, claims)
        if drafts:
            await self._write(worker, drafts)

    async def _drafts(self, worker: str, claims: Sequence[Claim[DigestWindowId]]) -> list[_Draft]:
        """The windows with their lines; rendered with no transaction open."""
        shared = await self.loader.shared()
        named = {claim.tenant_id for claim in claims}
        async with self.db.tenants(named, by_index=True) as tx:
            windows = await store.load_windows(tx, claims, worker=worker)
            tried = [window for window in windows if window.attempts < _MOST_FAILURES]
            drafts = [_Draft(window=window, apart=True) for window in windows if window not in tried]
            if not tried:
                return drafts
            items = await store.find_items(tx, tried, most=MOST_SHOWN)
            wanted = [(window.tenant_id, id_) for window in tried for id_ in items[window.id]]
            loaded = await load_with_people(tx, wanted)
            tenant_ids = {window.tenant_id for window in tried}
            peppers = await self.keyring.peppers(tx, tenant_ids)
            facts = await self.loader.load_set(
                tx,
                shared,
                tenant_ids,
                loaded.people,
                # No addresses are needed; one channel is named so that the keys come along.
                channels=["inapp"],
                others=[(window.tenant_id, window.recipient_id) for window in tried],
            )
        rows = {id_: row for (_, id_), row in loaded.notifications.items()}
        lines = await self._lines(tried, items, rows, facts, peppers)
        templates = await digest_templates(self.templates, {_gathered(window) for window in tried})
        for window in tried:
            template = templates[_gathered(window)]
            there = facts[window.tenant_id].tenant.channels
            drafts.append(
                _Draft(
                    window=window,
                    template=template.key,
                    channels=frozenset(there) & template.channels
                    if window.channel == AUTO
                    else frozenset({window.channel}),
                    lines=lines[window.id],
                )
            )
        return drafts

    async def _lines(
        self,
        windows: Sequence[FlushedWindow],
        items: Mapping[DigestWindowId, Sequence[NotificationId]],
        rows: Mapping[NotificationId, NotificationRow],
        facts: Mapping[TenantId, Facts],
        peppers: Mapping[TenantId, Pepper],
    ) -> dict[DigestWindowId, dict[NotificationId, DigestLine]]:
        asks: list[tuple[DigestWindowId, ComposeAsk]] = []
        for window in windows:
            # One that is alone goes by itself, and needs no line.
            for id_ in items[window.id] if len(items[window.id]) > 1 else ():
                row = rows.get(id_)
                ask = _ask(row, facts[window.tenant_id], window.recipient_id) if row is not None else None
                if ask is not None:
                    asks.append((window.id, ask))
        channels: dict[TenantId, set[Channel]] = {window.tenant_id: set() for window in windows}
        for _, ask in asks:
            channels[ask.pending.tenant_id].add(ask.channel)
        composed = await self.composer.compose(
            [ask for _, ask in asks],
            {
                tenant_id: letterhead_of(facts[tenant_id], peppers[tenant_id], theirs)
                for tenant_id, theirs in channels.items()
            },
            headlines=True,
        )
        lines: dict[DigestWindowId, dict[NotificationId, DigestLine]] = {window.id: {} for window in windows}
        for (window_id, ask), words in zip(asks, composed, strict=True):
            row = ask.pending
            lines[window_id][row.id] = line_of(
                words.rendered if isinstance(words, Composed) else None,
                _opened(row, ask.owner),
                template_key=row.template_key,
                at=row.created_at,
                allowed_link_domains=facts[row.tenant_id].tenant.policy.allowed_link_domains,
            )
        return lines

    async def _write(self, worker: str, drafts: Sequence[_Draft]) -> None:
        now = self.clock.now()
        async with self.db.tenants({d.window.tenant_id for d in drafts}, by_index=True) as tx:
            mine = await store.lock_windows(tx, [d.window for d in drafts], worker=worker)
            drafts = [draft for draft in drafts if draft.window.id in mine]
            if not drafts:
                return
            items = await store.lock_items(tx, [draft.window for draft in drafts])
            astray = await find_astray(tx, [(d.window, items[d.window.id]) for d in drafts])
            plans = [_planned(draft, items[draft.window.id], astray, now) for draft in drafts]
            accepted = await self._accept(tx, plans)
            closed = await self._settle(tx, plans, accepted, now)
        for result, count in Counter(window.result for window in closed).items():
            self.flushed(result, count)
        self.wake(express=False)

    async def _accept(self, tx: TenantsTx, plans: Sequence[_Plan]) -> dict[DigestWindowId, NotificationId]:
        """The digests that were made; where one is refused, its items go by themselves."""
        made: dict[DigestWindowId, NotificationId] = {}
        for is_test in (False, True):
            # A set is of one environment.
            ordered = [
                (plan.draft.window, plan.order)
                for plan in plans
                if plan.order is not None and plan.draft.window.is_test is is_test
            ]
            if not ordered:
                continue
            outcomes: Sequence[Outcome] = await self.acceptor.accept_within(
                tx, [order for _, order in ordered]
            )
            for (window, _), outcome in zip(ordered, outcomes, strict=True):
                if isinstance(outcome, AcceptedOrder):
                    made[window.id] = outcome.id
                else:
                    _log.warning("digest_refused", window_id=window.id, error=_code(outcome.error))
        return made

    async def _settle(
        self,
        tx: TenantsTx,
        plans: Sequence[_Plan],
        accepted: Mapping[DigestWindowId, NotificationId],
        now: datetime,
    ) -> list[ClosedWindow]:
        settled: list[SettledItem] = []
        closed: list[ClosedWindow] = []
        marks: list[tuple[TenantId, NotificationId, str]] = []
        for plan in plans:
            window, digest_id = plan.draft.window, accepted.get(plan.draft.window.id)
            settled += [
                SettledItem(
                    item=item, status=NotificationStatus.EXPIRED, trace=_EXPIRED, reason=GateReason.EXPIRED
                )
                for item in plan.expired
            ]
            settled += [
                _waiting(item, _mark(GateReason.DIGEST_FOR_ANOTHER, window.id)) for item in plan.astray
            ]
            result: FlushResult = "empty"
            if digest_id is not None:
                result = "digest"
                settled += [_superseded(item, digest_id) for item in plan.live]
                marks.append((window.tenant_id, digest_id, _mark_of_digest(plan)))
            elif plan.live:
                result = "single" if len(plan.live) == 1 else "apart"
                reason = GateReason.DIGEST_OF_ONE if result == "single" else GateReason.DIGEST_NOT_MADE
                settled += [_waiting(item, _mark(reason, window.id)) for item in plan.live]
            closed.append(
                ClosedWindow(
                    tenant_id=window.tenant_id, id=window.id, result=result, digest_notification_id=digest_id
                )
            )
        if settled:
            settled.sort(key=lambda one: (one.item.tenant_id, one.item.id))
            events = [
                moved_event(
                    one.item.tenant_id,
                    one.item,
                    one.status.value,
                    reason=one.reason,
                    clock=self.clock,
                    traceparent=one.item.traceparent,
                    digest_notification_id=accepted.get(one.item.window_id)
                    if one.status is NotificationStatus.SUPERSEDED
                    else None,
                )
                for one in settled
            ]
            await store.settle_items(tx, settled, events, now=now, stripe=self.stripe)
        if marks:
            await store.mark_digests(tx, marks)
        await store.close_windows(tx, closed, now=now)
        return closed

    async def _failed(self, worker: str, claims: Sequence[Claim[DigestWindowId]], error: Exception) -> None:
        if isinstance(error, DatabaseUnavailableError):
            # Nobody has it in hand any more: it is freed as what is ours by name only.
            raise error
        to_blame = is_of_an_item(error) and not isinstance(error, RenderInterruptedError)
        code = _code(error)
        if to_blame:
            _log.error(
                "flush_failed", count=len(claims), error=code, window_id=claims[0].id, where=where(error)
            )
        else:
            _log.warning("flush_interrupted", count=len(claims), error=code)
        now = self.clock.now()
        async with self.db.tenants({claim.tenant_id for claim in claims}) as tx:
            await store.give_back(
                tx,
                claims,
                worker=worker,
                error=code,
                to_blame=to_blame,
                now=now,
            )


def _is_apart(error: Exception) -> bool:
    """A set that holds one to blame, or whose tenants wait for somebody's lock, goes on in halves."""
    return is_of_an_item(error) or isinstance(error, DatabaseBusyError)


def _gathered(window: FlushedWindow) -> Gathered:
    return window.tenant_id, window.category, window.channel


def _planned(
    draft: _Draft, items: Sequence[DigestItem], gone_astray: Collection[NotificationId], now: datetime
) -> _Plan:
    expired = [item for item in items if item.expires_at <= now]
    astray = [item for item in items if item.expires_at > now and item.id in gone_astray]
    live = [item for item in items if item.expires_at > now and item.id not in gone_astray]
    if len(live) < 2 or draft.apart:
        return _Plan(draft=draft, live=live, expired=expired, astray=astray)
    window = draft.window
    variables = variables_of(draft.lines, [item.id for item in live], draft.channels)
    # A line is there for each that could be opened; without any there is nothing to tell.
    order = (
        Order(
            by=OrderedBy(window.tenant_id, is_test=window.is_test),
            recipient=RecipientSpec(id=window.recipient_id),
            template=draft.template,
            channel=window.channel,
            variables=variables,
            category=window.category,
            priority=min((item.priority for item in live), key=_BEST.index),
            correlation_id=window.id,
        )
        if variables["items"]
        else None
    )
    return _Plan(draft=draft, live=live, expired=expired, astray=astray, order=order)


def _ask(row: NotificationRow, facts: Facts, reader_id: RecipientId) -> ComposeAsk | None:
    """How an item is rendered: by the first of its channels, in its language or the reader's."""
    owner, reader = facts.people.get(row.recipient_id), facts.people.get(reader_id)
    if owner is None or reader is None or owner.erased:
        return None
    channel = row.channel if row.channel != AUTO else next(iter(row.template_versions or ()), None)
    if channel is None:
        return None
    return ComposeAsk(pending=row, channel=channel, owner=owner.key, reader=reader)


def _opened(row: NotificationRow, key: DataKey | None) -> Mapping[str, Any]:
    if key is None:
        return {}
    try:
        read: Any = msgspec.json.decode(key.unseal(row.variables, VARIABLES_PURPOSE))
    except (DestroyedKeyError, UnreadableError):
        return {}
    return read if isinstance(read, dict) else {}


def _superseded(item: DigestItem, digest_id: NotificationId) -> SettledItem:
    stop = Stop(NotificationStatus.SUPERSEDED, GateReason.DIGESTED, digest_id)
    return SettledItem(
        item=item,
        status=NotificationStatus.SUPERSEDED,
        trace=trace.encode([trace.line_of(Gate.DIGEST, stop)]),
        reason=GateReason.DIGESTED,
    )


def _waiting(item: DigestItem, mark: str) -> SettledItem:
    """It goes on by itself."""
    return SettledItem(item=item, status=NotificationStatus.SCHEDULED, trace=mark, rank=RANKS[item.priority])


def _mark_of_digest(plan: _Plan) -> str:
    """By what a digest is known. One that tells a guardian of others is for that guardian, whoever hears for them in turn."""
    lines = [trace.line_of(Gate.DIGEST, Pass(GateReason.IS_DIGEST, plan.draft.window.id))]
    reader = plan.draft.window.recipient_id
    if any(item.is_copy or item.recipient_id != reader for item in plan.live):
        lines.insert(0, trace.line_of(Gate.RECIPIENT, Pass(GateReason.COPY_FOR_GUARDIAN)))
    return trace.encode(lines)


def _mark(reason: GateReason, window_id: DigestWindowId) -> str:
    return trace.encode([trace.line_of(Gate.DIGEST, Pass(reason, window_id))])


def _code(error: Exception) -> str:
    return error.code if isinstance(error, TidingsError) else type(error).__name__
