"""Ways to bring a notification before a closed gate: what people, tenants and the platform may have done before."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, person
from tidings.contracts.addresses import normalise
from tidings.contracts.ids import NotificationId
from tidings.contracts.tenants import NotificationPolicy, QuietHours, SendingLimits, TenantDeleting
from tidings.kernel.ids import time_of
from tidings.notify.notifications.explain import Explainer
from tidings.notify.refusals import store as refusal_store
from tidings.notify.refusals.model import ChannelAddress
from tidings.notify.suppressions.model import SuppressionReason
from tidings.notify.suppressions.suppress import Suppressor

EVERY_DAY: Any = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
#: A number that no other test has.
_numbers = iter(range(200, 800))


@dataclass(slots=True, kw_only=True)
class Case:
    """One notification, and those whom it concerns."""

    world: PipelineWorld
    sender: Sender
    to: str
    phone: str
    recipient_id: str
    guardian_to: str = ""
    id: str = ""

    async def explain(self) -> dict[str, Any]:
        """As `GET …/explain` tells it; a tenant whose API is closed is told by the same code behind it."""
        answer = await self.sender.client.get(f"{HOME}/{self.id}/explain")
        if answer.status_code == 403:
            system = self.world.system
            explainer = Explainer(
                system.db,
                history=system.router.history,
                templates=system.notify.templates,
                categories=system.notify.categories,
                keyring=system.kernel.keyring,
                clock=system.clock,
            )
            told = await explainer.explain(self.sender.tenant_id, NotificationId(self.id))
            return msgspec.to_builtins(told)  # type: ignore[no-any-return]
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]


Act = Callable[[Case], Awaitable[None]]


async def nothing(_: Case) -> None:
    """Nobody does anything."""


async def new_case(world: PipelineWorld, sender: Sender, kinds: str) -> Case:
    """Somebody with addresses of these kinds."""
    to, phone = f"laila-{unused()}@{unused()}.test", f"+49151234{next(_numbers):05d}"
    addresses = [to] * ("email" in kinds) + [phone] * ("sms" in kinds)
    made = await sender.client.post("/api/v1/recipients", json=person(*addresses))
    assert made.status_code == 201, made.text
    return Case(world=world, sender=sender, to=to, phone=phone, recipient_id=made.json()["id"])


def quiet_now(now: datetime) -> NotificationPolicy:
    """Everybody is asleep, and will be for two hours."""
    start, end = (f"{now + by:%H:%M}" for by in (timedelta(hours=-1), timedelta(hours=2)))
    return NotificationPolicy(quiet_hours=(QuietHours(days=EVERY_DAY, start=start, end=end),))


def quiet_soon(now: datetime) -> NotificationPolicy:
    """Everybody goes to sleep in a minute."""
    start, end = (f"{now + by:%H:%M}" for by in (timedelta(minutes=1), timedelta(hours=2)))
    return NotificationPolicy(quiet_hours=(QuietHours(days=EVERY_DAY, start=start, end=end),))


def limited(**limits: Any) -> Callable[[datetime], NotificationPolicy]:
    """These limits."""
    return lambda _: NotificationPolicy(limits=SendingLimits(**limits))


async def suspend(case: Case) -> None:
    async with case.world.http.as_platform() as platform:
        answer = await platform.post(f"/internal/v1/tenants/{case.sender.tenant_id}/suspend")
    assert answer.status_code == 200, answer.text


async def resume(case: Case) -> None:
    async with case.world.http.as_platform() as platform:
        answer = await platform.post(f"/internal/v1/tenants/{case.sender.tenant_id}/resume")
    assert answer.status_code == 200, answer.text


async def freeze(case: Case) -> None:
    async with case.world.http.as_platform() as platform:
        answer = await platform.post(f"/internal/v1/tenants/{case.sender.tenant_id}/freeze")
    assert answer.status_code == 200, answer.text


async def delete_tenant(case: Case) -> None:
    system = case.world.system
    async with system.db.platform() as tx:
        await system.access.tenants.change(
            tx,
            case.sender.tenant_id,
            lambda known: TenantDeleting(tenant_id=known.id, version=known.version + 1),
            actor="test",
        )
    system.access.gate.forget(case.sender.tenant_id)


async def wait_two_minutes(case: Case) -> None:
    await case.world.clock.advance(timedelta(minutes=2))


async def delete_person(case: Case) -> None:
    async with case.world.unguarded("notification.recipients", "notification.recipient_addresses") as owner:
        await owner.execute("DELETE FROM notification.recipients WHERE id = $1", case.recipient_id)


async def erase_person(case: Case) -> None:
    await erase(case, case.recipient_id)


async def erase(case: Case, recipient_id: str) -> None:
    async with case.world.db.tenant(case.sender.tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE notification.recipients SET erased_at = now() WHERE id = $1", recipient_id
        )


def guardian(mode: str, *, erased: bool = False) -> Act:
    """Somebody hears instead of them, or hears too."""

    async def act(case: Case) -> None:
        other = await new_case(case.world, case.sender, "email")
        case.guardian_to = other.to
        routing = {"guardian_id": other.recipient_id, "mode": mode}
        await case.sender.choose(case.recipient_id, guardian_routing=routing)
        if erased:
            await erase(case, other.recipient_id)

    return act


def choose(**choices: Any) -> Act:
    """What they allow."""

    async def act(case: Case) -> None:
        await case.sender.choose(case.recipient_id, **choices)

    return act


async def make_category(case: Case) -> None:
    async with case.world.db.platform() as tx:
        await tx.connection.execute(
            """INSERT INTO notification_platform.categories (category, title, default_use_case, retention_class,
                   default_expiry_seconds, needs_consent, can_unsubscribe, breaks_quiet_hours, may_digest,
                   tracking_allowed)
               VALUES ('passing', 'Passing', 'txn', 'standard', 3600, false, false, false, false, false)"""
        )
    await case.world.clock.advance(timedelta(seconds=2))


async def remove_category(case: Case) -> None:
    async with case.world.unguarded("notification_platform.categories") as owner:
        await owner.execute("DELETE FROM notification_platform.categories WHERE category = 'passing'")
    await case.world.clock.advance(timedelta(seconds=2))


async def use_up(case: Case) -> None:
    """One goes through first, and takes what there was."""
    first = await case.sender.send(recipient=case.recipient_id)
    await case.world.settle()
    assert await case.sender.status(first["id"]) == "delivered"
    case.world.sandbox.store.clear()


async def cancel(case: Case) -> None:
    answer = await case.sender.client.post(f"{HOME}/{case.id}/cancel")
    assert answer.status_code == 200, answer.text


def stand(status: str) -> Act:
    """Somehow it stands like this: a state that only an odd moment leads to."""

    async def act(case: Case) -> None:
        async with case.world.db.tenant(case.sender.tenant_id) as tx:
            await tx.connection.execute(
                "UPDATE notification.notifications SET status = $1 WHERE created_at = $2 AND id = $3",
                status,
                time_of(case.id),
                case.id,
            )

    return act


async def disable_channel(case: Case) -> None:
    await case.sender.channel("email", status="disabled")


async def limit_channel(case: Case) -> None:
    await case.sender.channel("email", rate_limit={"per_minute": 1})
    await use_up(case)


async def remove_channel(case: Case) -> None:
    async with case.world.unguarded("notification.channels", "notification.channel_credentials") as owner:
        await owner.execute(
            "DELETE FROM notification.channels WHERE tenant_id = $1 AND channel = 'email'",
            case.sender.tenant_id,
        )


async def remove_addresses(case: Case) -> None:
    async with case.world.db.tenant(case.sender.tenant_id) as tx:
        await tx.connection.execute(
            "DELETE FROM notification.recipient_addresses WHERE recipient_id = $1",
            case.recipient_id,
        )


async def suppress(case: Case) -> None:
    wish = {"channel": "email", "address": case.to}
    answer = await case.sender.client.post("/api/v1/suppressions", json=wish)
    assert answer.status_code == 201, answer.text


def unsubscribe_address(category: str) -> Act:
    """Somebody else with the same address follows the link of a message to them."""

    async def act(case: Case) -> None:
        pepper_of, clock = case.world.system.kernel.keyring, case.world.system.clock
        async with case.world.db.tenant(case.sender.tenant_id) as tx:
            hashed = (await pepper_of.pepper(tx)).hash(normalise("email", case.to))
            await refusal_store.add_refusals(
                tx,
                [(ChannelAddress("email", hashed), category)],
                source="one_click",
                evidence=None,
                now=clock.now(),
            )

    return act


def suppress_for_all(*, domain: bool) -> Act:
    """The platform wants nothing sent there."""

    async def act(case: Case) -> None:
        system = case.world.system
        suppressor = Suppressor(
            keyring=system.kernel.keyring,
            outbox=system.kernel.outbox,
            audit=system.kernel.audit,
            clock=system.clock,
        )
        async with system.db.platform() as tx:
            await suppressor.add_for_platform(
                tx,
                channel="email",
                address=None if domain else normalise("email", case.to),
                mail_domain=case.to.rpartition("@")[2] if domain else None,
                reason=SuppressionReason.MANUAL,
                actor="test",
            )

    return act


async def narrow_senders(case: Case) -> None:
    await case.sender.policy(NotificationPolicy(allowed_sender_domains=("other.test",)))
