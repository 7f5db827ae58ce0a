"""The use cases around a subscription: make one, change it, pause and resume it, delete it, try again what was refused."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.outside_subjects import OutsideSubjectError, OutsideSubjects
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.event_subscriptions import store
from tidings.notify.event_subscriptions.errors import (
    NoBrokerError,
    SubjectNotReadableError,
    TooManySubscriptionsError,
)
from tidings.notify.event_subscriptions.model import (
    MOST_SUBSCRIPTIONS,
    EventSubscription,
    MessageRefusal,
    check_tenant_word,
)
from tidings.notify.event_subscriptions.take import MessageTaker
from tidings.notify.ids import EVENT_SUBSCRIPTION, EventSubscriptionId, RefusedMessageId
from tidings.notify.received_events.model import AcceptedEvent
from tidings.notify.tenants.store import find_named

#: Refused messages that one call tries again at most, and in one set.
MOST_RETRIED: Final = 500


@dataclass(frozen=True, slots=True)
class Broker:
    """The broker of this installation."""

    #: None: its bus is in Postgres.
    subjects: OutsideSubjects | None

    def get(self) -> OutsideSubjects:
        """The broker; a `NoBrokerError` that says what to set where there is none."""
        if self.subjects is None:
            raise NoBrokerError
        return self.subjects


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRule:
    """Whose events messages are, as it was asked for: an id or a slug, a word of the subject, or events about tenants."""

    for_tenant: str | None = None
    tenant_word: int | None = None
    about_tenants: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Retried:
    """What came of refused messages that were tried again."""

    accepted: int
    repeated: int
    refused: int
    #: The last that was tried, where more are kept than were; None otherwise.
    next_after: RefusedMessageId | None


class SubscriptionChanger:
    """Changes subscriptions; each change and its audit row are one transaction."""

    def __init__(
        self,
        *,
        db: Database,
        broker: Broker,
        taker: MessageTaker,
        keyring: Keyring,
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self._db = db
        self._broker = broker
        self._taker = taker
        self._keyring = keyring
        self._audit = audit
        self._clock = clock

    async def check(self, subject: str, rule: TenantRule) -> None:
        """Whether the broker has such a subject and lets it be read; not inside a transaction."""
        subjects = self._broker.get()
        subjects.check(subject)
        if rule.tenant_word is not None:
            check_tenant_word(subject, rule.tenant_word)
        try:
            await subjects.locate(subject)
        except OutsideSubjectError as error:
            raise SubjectNotReadableError(str(error)) from None

    async def create(
        self,
        tx: PlatformTx,
        *,
        name: str,
        subject: str,
        rule: TenantRule,
        is_test: bool,
        may_erase: bool,
        from_now: bool,
        enabled: bool,
        actor: str,
    ) -> EventSubscription:
        """A new one; `prepare` follows the commit."""
        if await store.count_subscriptions(tx) >= MOST_SUBSCRIPTIONS:
            raise TooManySubscriptionsError
        now = self._clock.now()
        made = EventSubscription(
            id=EVENT_SUBSCRIPTION.new(now),
            name=name,
            subject=subject,
            for_tenant=await _tenant(tx, rule),
            tenant_word=rule.tenant_word,
            is_test=is_test,
            may_erase=may_erase,
            since=now if from_now else None,
            enabled=enabled,
            version=1,
            created_at=now,
            updated_at=now,
        )
        _check_together(made)
        await store.insert_subscription(tx, made)
        await self._note(tx, "created", made, actor)
        return made

    async def prepare(self, made: EventSubscription) -> None:
        """From now on the broker keeps its messages, also while no worker runs."""
        await self._broker.get().prepare(made.interest(None))

    async def change(
        self,
        tx: PlatformTx,
        subscription_id: EventSubscriptionId,
        *,
        expect: Callable[[int], None],
        actor: str,
        name: str | None = None,
        rule: TenantRule | None = None,
        is_test: bool | None = None,
        may_erase: bool | None = None,
    ) -> EventSubscription:
        """As it is after the change; what is None stays."""
        known = await store.find_subscription(tx, subscription_id, lock=True)
        expect(known.version)
        changed = replace(
            known,
            name=known.name if name is None else name,
            is_test=known.is_test if is_test is None else is_test,
            may_erase=known.may_erase if may_erase is None else may_erase,
        )
        if rule is not None:
            if rule.tenant_word is not None:
                check_tenant_word(known.subject, rule.tenant_word)
            changed = replace(changed, for_tenant=await _tenant(tx, rule), tenant_word=rule.tenant_word)
        _check_together(changed)
        return await self._save(tx, known, changed, "changed", actor)

    async def switch(
        self, tx: PlatformTx, subscription_id: EventSubscriptionId, *, enabled: bool, actor: str
    ) -> EventSubscription:
        """Read on, or stop; its messages wait on the broker meanwhile."""
        if enabled:
            self._broker.get()
        known = await store.find_subscription(tx, subscription_id, lock=True)
        changed = replace(known, enabled=enabled)
        return await self._save(tx, known, changed, "resumed" if enabled else "paused", actor)

    async def delete(self, tx: PlatformTx, subscription_id: EventSubscriptionId, *, actor: str) -> None:
        """It is gone; a worker has the broker forget it, as soon as it can be reached."""
        known = await store.find_subscription(tx, subscription_id, lock=True)
        now = self._clock.now()
        gone = replace(known, deleted_at=now, updated_at=now, version=known.version + 1)
        await store.save_subscription(tx, gone)
        if self._broker.subjects is None:
            await store.forget_subscription(tx, subscription_id)
        await self._note(tx, "deleted", gone, actor)

    async def retry(
        self,
        subscription_id: EventSubscriptionId,
        *,
        ids: Sequence[RefusedMessageId] | None,
        after_id: RefusedMessageId | None,
        actor: str,
    ) -> Retried:
        """Take refused messages once more, by what the subscription says now; what is taken is no longer kept."""
        async with self._db.platform() as tx:
            known = await store.find_subscription(tx, subscription_id)
            found = await store.load_refused(
                tx, self._keyring, subscription_id, ids=ids, after_id=after_id or "", limit=MOST_RETRIED + 1
            )
        some = found[:MOST_RETRIED]
        outcomes = await self._taker.take(known, [message for _, message in some])
        taken = [id_ for (id_, _), one in zip(some, outcomes, strict=True) if isinstance(one, AcceptedEvent)]
        again = [
            (id_, one)
            for (id_, _), one in zip(some, outcomes, strict=True)
            if isinstance(one, MessageRefusal)
        ]
        repeated = sum(isinstance(one, AcceptedEvent) and one.duplicate for one in outcomes)
        async with self._db.platform() as tx:
            await store.settle_refused(tx, subscription_id, taken=taken, again=again)
            after = {"accepted": len(taken) - repeated, "repeated": repeated, "refused": len(again)}
            await self._audit.append(
                tx, [Entry("event_subscription", subscription_id, "refused.retried", actor, after=after)]
            )
        return Retried(
            accepted=len(taken) - repeated,
            repeated=repeated,
            refused=len(again),
            next_after=some[-1][0] if len(found) > MOST_RETRIED else None,
        )

    async def _save(
        self, tx: PlatformTx, known: EventSubscription, changed: EventSubscription, action: str, actor: str
    ) -> EventSubscription:
        if changed == known:
            return known
        changed = replace(changed, version=known.version + 1, updated_at=self._clock.now())
        await store.save_subscription(tx, changed)
        await self._note(tx, action, changed, actor, before=known)
        return changed

    async def _note(
        self,
        tx: PlatformTx,
        action: str,
        now: EventSubscription,
        actor: str,
        *,
        before: EventSubscription | None = None,
    ) -> None:
        told = None if before is None else asdict(before)
        entry = Entry("event_subscription", now.id, action, actor, before=told, after=asdict(now))
        await self._audit.append(tx, [entry])


def _check_together(wanted: EventSubscription) -> None:
    if wanted.about_tenants and wanted.is_test:
        raise InvalidError(
            [
                FieldError(
                    "environment", "must be live for events about tenants: there are no tenants of tests"
                )
            ]
        )


async def _tenant(tx: PlatformTx, rule: TenantRule) -> TenantId | None:
    if rule.for_tenant is None:
        return None
    found = (await find_named(tx, {rule.for_tenant})).get(rule.for_tenant)
    if found is None:
        raise BadValueError(
            "for_tenant", "must be the id or the slug of a tenant; `tidings tenant list` shows them"
        )
    return found[0]
