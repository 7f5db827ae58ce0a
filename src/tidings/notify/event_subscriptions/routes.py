"""Operations on event subscriptions; the platform's alone, because a broker's subjects are no tenant's."""

from typing import Final

from msgspec import UNSET

from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.db import PlatformTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.logs import get_logger, why
from tidings.kernel.mapping import by_name
from tidings.notify.event_subscriptions import store
from tidings.notify.event_subscriptions.change import SubscriptionChanger
from tidings.notify.event_subscriptions.model import EventSubscription
from tidings.notify.event_subscriptions.wire import (
    ChangeEventSubscription,
    CreateEventSubscription,
    EventSubscriptionView,
    RefusedMessageView,
    RetriedMessages,
    RetryRefused,
)
from tidings.notify.ids import EventSubscriptionId

_log = get_logger("event_subscriptions")
_ONE: Final = "/{subscription_id}"
_KNOWN: Final = ("event_subscription_not_found",)
_ALL: Final = RetryRefused()
EXAMPLE: Final = {"name": "PMS", "subject": "pms.*.reservation.>", "tenant_word": 2}

event_subscriptions = Resource(
    "event-subscriptions",
    at="/event-subscriptions",
    tag="events (platform)",
    scope="events",
    owner=Owner.PLATFORM,
)


@event_subscriptions.post(
    status=201,
    problems=[
        "no_broker",
        "subject_not_readable",
        "event_subscription_taken",
        "too_many_event_subscriptions",
    ],
    example=EXAMPLE,
)
async def create_event_subscription(
    body: CreateEventSubscription, caller: Caller, open_tx: OpenTx[PlatformTx], changer: SubscriptionChanger
) -> Answer[EventSubscriptionView]:
    """Take events that other systems publish on NATS.

    Messages are CloudEvents, structured or binary, of the tenant that the subscription or a word of the subject names.
    The stream that keeps the subject is looked up; where there is none, one is made.
    """
    rule = body.rule()
    await changer.check(body.subject, rule)
    async with open_tx() as tx:
        made = await changer.create(
            tx,
            name=body.name,
            subject=body.subject,
            rule=rule,
            is_test=body.environment == "test",
            may_erase=body.may_erase,
            from_now=body.start == "now",
            enabled=body.enabled,
            actor=caller.actor,
        )
    try:
        await changer.prepare(made)
    except BusUnavailableError as error:
        # A worker does it as soon as the broker is back; messages since `made` are read then, if a stream keeps them.
        _log.warning("subscription_not_prepared", subscription_id=made.id, **why(error))
    location = f"/internal/v1/event-subscriptions/{made.id}"
    return Answer(EventSubscriptionView.of(made, None), version=made.version, location=location)


@event_subscriptions.get()
async def list_event_subscriptions(tx: PlatformTx, paging: Paging) -> Page[EventSubscriptionView]:
    """List event subscriptions, the newest first, with how far each is read."""
    rows = await store.list_subscriptions(tx, after_id=paging.after_id, limit=paging.fetch)
    progress = await store.find_progress(tx, [one.id for one in rows])
    return paging.page(rows, lambda one: EventSubscriptionView.of(one, progress.get(one.id)))


@event_subscriptions.get(_ONE, problems=_KNOWN)
async def show_event_subscription(
    tx: PlatformTx, subscription_id: EventSubscriptionId
) -> Answer[EventSubscriptionView]:
    """Show an event subscription: how far it is read, what was refused last, and why it can't be read."""
    return await _answer(tx, await store.find_subscription(tx, subscription_id))


@event_subscriptions.patch(_ONE, problems=[*_KNOWN, "event_subscription_taken", "stale_version"])
async def change_event_subscription(
    tx: PlatformTx,
    subscription_id: EventSubscriptionId,
    body: ChangeEventSubscription,
    if_match: IfMatch,
    caller: Caller,
    changer: SubscriptionChanger,
) -> Answer[EventSubscriptionView]:
    """Change an event subscription: its name, whose events its messages are, and what they may do.

    It holds for messages that are read from then on, within a second.
    """
    changed = await changer.change(
        tx,
        subscription_id,
        expect=if_match.expect,
        actor=caller.actor,
        name=None if body.name is UNSET else body.name,
        rule=body.rule(),
        is_test=None if body.environment is UNSET else body.environment == "test",
        may_erase=None if body.may_erase is UNSET else body.may_erase,
    )
    return await _answer(tx, changed)


@event_subscriptions.post(f"{_ONE}/pause", problems=_KNOWN)
async def pause_event_subscription(
    tx: PlatformTx, subscription_id: EventSubscriptionId, caller: Caller, changer: SubscriptionChanger
) -> Answer[EventSubscriptionView]:
    """Read no more; its messages wait on the broker, as long as that keeps them."""
    return await _answer(tx, await changer.switch(tx, subscription_id, enabled=False, actor=caller.actor))


@event_subscriptions.post(f"{_ONE}/resume", problems=[*_KNOWN, "no_broker"])
async def resume_event_subscription(
    tx: PlatformTx, subscription_id: EventSubscriptionId, caller: Caller, changer: SubscriptionChanger
) -> Answer[EventSubscriptionView]:
    """Read on, from where it was paused."""
    return await _answer(tx, await changer.switch(tx, subscription_id, enabled=True, actor=caller.actor))


@event_subscriptions.delete(_ONE, problems=_KNOWN)
async def delete_event_subscription(
    tx: PlatformTx, subscription_id: EventSubscriptionId, caller: Caller, changer: SubscriptionChanger
) -> None:
    """Delete an event subscription, with what was refused.

    Its place on the broker goes too, and a stream that was made for it, when nobody else reads that.
    """
    await changer.delete(tx, subscription_id, actor=caller.actor)


@event_subscriptions.get(f"{_ONE}/refused", verb="refused", listing="refused-messages", problems=_KNOWN)
async def list_refused_messages(
    tx: PlatformTx, subscription_id: EventSubscriptionId, paging: Paging
) -> Page[RefusedMessageView]:
    """List messages that were refused, the newest first, each with the reason: up to 1,000 of the last eight days."""
    await store.find_subscription(tx, subscription_id)
    rows = await store.list_refused(tx, subscription_id, after_id=paging.after_id, limit=paging.fetch)
    return paging.page(rows, RefusedMessageView.of)


@event_subscriptions.post(f"{_ONE}/refused/retry", verb="retry", problems=_KNOWN)
async def retry_refused_messages(
    subscription_id: EventSubscriptionId,
    caller: Caller,
    changer: SubscriptionChanger,
    body: RetryRefused = _ALL,
) -> RetriedMessages:
    """Take refused messages once more, when what was in the way is gone: a tenant is there, a subscription may do more.

    Up to 500 at once, the oldest first. What is taken is no longer among those that are refused.
    """
    done = await changer.retry(subscription_id, ids=body.ids, after_id=body.after, actor=caller.actor)
    return by_name(RetriedMessages, done)


async def _answer(tx: PlatformTx, one: EventSubscription) -> Answer[EventSubscriptionView]:
    progress = (await store.find_progress(tx, [one.id])).get(one.id)
    return Answer(EventSubscriptionView.of(one, progress), version=one.version)
