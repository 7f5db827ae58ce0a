"""An event in two versions: a webhook is told one of them, by the day that it is pinned to."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

import pytest

from tests.integration.webhooks.arranging import HOME, Subscriber
from tests.support.webhook_receiver import WebhookReceiver
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.kernel.event_versions.model import SETTLING, Successor
from tidings.kernel.event_versions.publish import EventVersions
from tidings.kernel.events import Event, new_event
from tidings.notify.webhooks.model import PIN_NOTICE
from tidings.notify.webhooks.queue_deliveries import WebhookQueuer

V1, V2 = "notification.delivered.v1", "notification.delivered.v2"
BOTH = ["notification.delivered.*"]


@dataclass(frozen=True, slots=True)
class DualWorld:
    """A subscriber of a release that has brought a second version of an event yesterday."""

    subscriber: Subscriber
    successor: Successor
    queuer: WebhookQueuer
    versions: EventVersions

    @property
    def introduced(self) -> date:
        """The day of the second version."""
        return self.successor.introduced

    async def happens(self, *, has_older: bool = True) -> tuple[str, str]:
        """An event in both versions, or in the newer one alone: their ids, the older one's first."""
        older, newer = self.pair()
        await self.hear(*([newer, older] if has_older else [newer]))
        return older.id, newer.id

    def pair(self) -> tuple[Event, Event]:
        """An event that nobody has heard yet, in both versions."""
        newer = new_event(
            V2,
            {"notification_id": "ntf_1", "channels": ["email"]},
            tenant_id=self.subscriber.tenant_id,
            ordering_key="k",
            source=NOTIFY_SOURCE,
            clock=self.subscriber.world.clock,
        )
        return self.successor.older(newer), newer

    async def hear(self, *events: Event) -> None:
        """What the bus brings, and the calls that follow."""
        world = self.subscriber.world
        async with world.db.tenants({self.subscriber.tenant_id}, by_index=True) as tx:
            await self.queuer.handle(tx, events)
        await world.system.webhooks.deliveries.drain()


@pytest.fixture
async def dual(subscriber: Subscriber) -> AsyncIterator[DualWorld]:
    world = subscriber.world
    # Windows are of the installation, and not of a tenant.
    await _forget_windows(subscriber)
    introduced = world.clock.now().date() - timedelta(days=1)
    successor = Successor(
        subject=V2,
        replaces=V1,
        introduced=introduced,
        down=lambda data: {"notification_id": data["notification_id"], "channel": data["channels"][0]},
    )
    versions = EventVersions([successor], db=world.db, outbox=world.system.kernel.outbox, clock=world.clock)
    queuer = replace(world.system.notify.parts.get(WebhookQueuer), versions=versions)
    yield DualWorld(subscriber, successor, queuer, versions)
    await _forget_windows(subscriber)


async def _forget_windows(subscriber: Subscriber) -> None:
    async with subscriber.world.database.owner() as owner:
        await owner.execute("TRUNCATE kernel.event_versions, kernel.event_version_readers")


async def test_one_that_was_made_before_is_told_the_older_version(
    dual: DualWorld, receiver: WebhookReceiver
) -> None:
    before = str(dual.introduced - timedelta(days=1))
    made = await dual.subscriber.webhook(receiver.url(), events=BOTH, api_version=before)
    older, _ = await dual.happens()

    assert made["api_version"] == before
    assert receiver.ids() == [older]
    assert receiver.heard[0].json()["data"] == {"notification_id": "ntf_1", "channel": "email"}


async def test_one_that_is_made_now_is_told_the_newer_version(
    dual: DualWorld, receiver: WebhookReceiver
) -> None:
    """From a day after both began: until then a process of the release before may publish the older one alone."""
    made = await dual.subscriber.webhook(receiver.url(), events=BOTH)
    first = await dual.happens()
    await dual.subscriber.world.clock.advance(SETTLING)
    _, newer = await dual.happens()

    assert made["api_version"] > str(dual.introduced)
    assert receiver.ids() == [*reversed(first), newer]


async def test_a_change_raises_the_version(dual: DualWorld, receiver: WebhookReceiver) -> None:
    await dual.versions.look()
    await dual.subscriber.world.clock.advance(SETTLING)
    before = str(dual.introduced - timedelta(days=1))
    made = await dual.subscriber.webhook(receiver.url(), events=BOTH, api_version=before)
    older, _ = await dual.happens()
    changed = await dual.subscriber.change(made["id"], api_version=str(dual.introduced))
    dual.queuer.registry.invalidate()
    still, _ = await dual.happens()
    await dual.subscriber.world.clock.advance(PIN_NOTICE)
    _, newer = await dual.happens()

    assert changed["api_version"] == str(dual.introduced)
    assert receiver.ids() == [older, still, newer]


@pytest.mark.parametrize("newer_first", [True, False])
async def test_a_change_between_the_two_versions_of_an_event_loses_nothing(
    dual: DualWorld, receiver: WebhookReceiver, newer_first: bool
) -> None:
    """Both are judged by the pin that counted when it happened, whichever comes first and however late the other one is."""
    world = dual.subscriber.world
    await dual.versions.look()
    await world.clock.advance(SETTLING)
    before = str(dual.introduced - timedelta(days=1))
    made = await dual.subscriber.webhook(receiver.url(), events=BOTH, api_version=before)
    older, newer = dual.pair()
    first, second = (newer, older) if newer_first else (older, newer)
    await dual.hear(first)
    await dual.subscriber.change(made["id"], api_version=str(dual.introduced))
    # One change before the last counts: the pin in between was never in force.
    await dual.subscriber.change(made["id"], api_version=made["api_version"])
    await dual.subscriber.change(made["id"], api_version=str(dual.introduced))
    await world.clock.advance(PIN_NOTICE)
    dual.queuer.registry.invalidate()
    await dual.hear(second)

    assert receiver.ids() == [older.id]


async def test_when_the_older_version_has_ended_all_are_told_the_newer(
    dual: DualWorld, receiver: WebhookReceiver
) -> None:
    """By the time of the event: none is told twice, and none not at all."""
    before = str(dual.introduced - timedelta(days=1))
    await dual.subscriber.webhook(receiver.url(), events=BOTH, api_version=before)
    await dual.versions.look()
    await dual.subscriber.world.clock.advance(timedelta(days=31))
    [window] = await dual.versions.look()
    assert window.closed_at is not None
    older, _ = await dual.happens()
    await dual.subscriber.world.clock.advance(window.closed_at - dual.subscriber.world.clock.now())
    _, newer = await dual.happens(has_older=False)

    assert receiver.ids() == [older, newer]


async def test_a_day_that_is_still_to_come_is_refused(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    tomorrow = str(subscriber.world.clock.now().date() + timedelta(days=1))
    answer = await subscriber.client.post(
        HOME, json={"url": receiver.url(), "events": BOTH, "api_version": tomorrow}
    )
    nonsense = await subscriber.client.post(
        HOME, json={"url": receiver.url(), "events": BOTH, "api_version": "soon"}
    )

    assert [one["field"] for one in answer.json()["errors"]] == ["api_version"]
    assert (nonsense.status_code, nonsense.json()["errors"][0]["field"]) == (400, "api_version")
