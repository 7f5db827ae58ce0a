"""Who wrote, who wants no more, who wants it again."""

from datetime import timedelta
from typing import Any

from tests.integration.correspondence.conftest import correspondents
from tests.integration.notifications.world import SentWorld
from tests.support.people import rows, told
from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.correspondence import Correspondent, KeywordOptOut
from tidings.contracts.ids import NOTIFICATION, RecipientId
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId, time_of
from tidings.notify.suppressions.model import SuppressionReason, SuppressionSpec

NUMBER = NormalisedAddress("+2348012345678")
CONVERSATION = "conv_01M7FH87G06QQE67ATFGNQ1BJ2"
IN_FORCE = "SELECT reason, notes, expires_at FROM notification.suppressions WHERE released_at IS NULL"


def wrote(number: str = NUMBER, **facts: Any) -> Correspondent:
    return Correspondent(channel="whatsapp", address=NormalisedAddress(number), **facts)


def wish(recipient_id: RecipientId | None = None, **facts: Any) -> KeywordOptOut:
    said: dict[str, Any] = {
        "channel": "whatsapp",
        "address": NUMBER,
        "recipient_id": recipient_id,
        "keyword": "TSAYA",
        "language": "ha",
        "conversation_id": CONVERSATION,
        "at": SystemClock().now(),
    }
    return KeywordOptOut(**said | facts)


async def _written_to(world: SentWorld, tenant_id: TenantId, person: RecipientId, days_ago: float) -> None:
    id_ = NOTIFICATION.new(SystemClock().now() - timedelta(days=days_ago))
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.notifications (tenant_id, id, retention_class, created_at, expires_at, status, "
            "channel, category, use_case, recipient_id, template_id, template_version_id, template_key, "
            "template_semver, variables_hash) VALUES ($1, $2, 'standard', $3, $3, 'delivered', 'whatsapp', "
            "'transactional', 'txn', $4, 'tpl_x', 'tpv_x', 'k', '1.0.0', 'h')",
            tenant_id,
            id_,
            time_of(id_),
            person,
        )


async def test_whoever_was_written_to_last_is_found(world: SentWorld) -> None:
    tenant = await world.tenant()
    never = await world.recipient(tenant.id, ("whatsapp", NUMBER))
    long_ago = await world.recipient(tenant.id, ("whatsapp", NUMBER))
    lately = await world.recipient(tenant.id, ("whatsapp", NUMBER))
    other = await world.recipient(tenant.id, ("sms", NUMBER))
    await _written_to(world, tenant.id, long_ago, 0.3)
    await _written_to(world, tenant.id, lately, 0.1)
    there = correspondents(world)

    async with world.db.tenant(tenant.id) as tx:
        found = await there.find(tx, [wrote("+4915112345678"), wrote()])
        by_sms = await there.find(tx, [Correspondent(channel="sms", address=NUMBER)])

    assert found == [None, lately]
    assert by_sms == [other]
    assert never != lately


async def test_an_address_that_its_owner_gave_up_is_not_theirs(world: SentWorld) -> None:
    """Numbers are given to others: whoever writes from it now is somebody else."""
    tenant = await world.tenant()
    before = await world.recipient(tenant.id, ("whatsapp", NUMBER))
    there = correspondents(world)

    async with world.db.tenant(tenant.id) as tx:
        await tx.connection.execute("DELETE FROM notification.recipient_addresses")
        found = await there.find(tx, [wrote()])
        [now] = await there.ensure(tx, [wrote()])
        address_hash = (await world.system.kernel.keyring.pepper(tx)).hash(NUMBER)
        theirs = await there.address_of(tx, now, channel="whatsapp", address_hash=address_hash)

    assert found == [None]
    assert now != before
    assert theirs is not None


async def test_a_stranger_is_made_once(world: SentWorld) -> None:
    tenant = await world.tenant()
    known = await world.recipient(tenant.id, ("whatsapp", NUMBER))
    stranger = "+2348099999999"
    there = correspondents(world)

    async with world.db.tenant(tenant.id) as tx:
        first = await there.ensure(tx, [wrote(stranger, name="Ada\n Obi"), wrote(), wrote(stranger)])
    async with world.db.tenant(tenant.id) as tx:
        second = await there.ensure(tx, [wrote(stranger, name="somebody else"), wrote()])

    assert first[1] == known
    assert first == [second[0], known, second[0]]
    made = await rows(
        world.db,
        tenant.id,
        "SELECT identity_type, display_name_ciphertext IS NOT NULL AS named FROM notification.recipients WHERE id = $1",
        second[0],
    )
    assert made == [{"identity_type": "anonymous", "named": True}]


async def test_stop_holds_once_and_start_releases_it(world: SentWorld) -> None:
    tenant = await world.tenant()
    person = await world.recipient(tenant.id, ("whatsapp", NUMBER))
    there = correspondents(world)

    for _ in range(2):
        async with world.db.tenant(tenant.id) as tx:
            await there.stop(tx, [wish(person), wish(person)])
    held = await rows(world.db, tenant.id, IN_FORCE)
    async with world.db.tenant(tenant.id) as tx:
        released = await there.start(tx, [wish(person), wish(channel="sms")])
    async with world.db.tenant(tenant.id) as tx:
        again = await there.start(tx, [wish(person)])

    assert held == [
        {"reason": "opt_out", "notes": f"TSAYA, in Hausa, conversation {CONVERSATION}", "expires_at": None}
    ]
    assert (released, again) == ([True, False], [False])
    assert await rows(world.db, tenant.id, IN_FORCE) == []
    [(_, event)] = await told(world.db, tenant.id, "optout.recorded")
    assert (event["keyword"], event["language"], event["recipient_id"]) == ("TSAYA", "ha", person)
    assert (event["conversation_id"], event["channel"]) == (CONVERSATION, "whatsapp")
    assert NUMBER not in str(event)
    changes = [subject for subject, _ in await told(world.db, tenant.id, "suppression.")]
    assert changes == ["suppression.added.v1", "suppression.released.v1"]


async def test_start_releases_nothing_that_came_after_it(world: SentWorld) -> None:
    """It was held up on its way, and they have opted out since, here or elsewhere."""
    tenant = await world.tenant()
    there, now = correspondents(world), SystemClock().now()
    early = [wish(at=now - timedelta(hours=2)), wish(channel="sms", at=now - timedelta(hours=2))]
    async with world.db.tenant(tenant.id) as tx:
        await there.stop(tx, [wish(at=now - timedelta(hours=1))])
        elsewhere = SuppressionSpec(channel="sms", address=NUMBER, reason=SuppressionReason.OPT_OUT)
        await world.system.notify.suppressor.add(tx, [elsewhere], actor="test")

        held_up = await there.start(tx, early)
        in_time = await there.start(tx, [wish(at=now - timedelta(minutes=30))])

    assert (held_up, in_time) == ([False, False], [True])


async def test_an_opt_out_takes_the_place_of_what_a_vendor_found_out_and_of_nothing_else(
    world: SentWorld,
) -> None:
    there = correspondents(world)
    left = {}
    for reason in (SuppressionReason.SOFT_BOUNCE, SuppressionReason.COMPLIANCE):
        tenant = await world.tenant()
        before = SuppressionSpec(
            channel="whatsapp",
            address=NUMBER,
            reason=reason,
            expires_at=SystemClock().now() + timedelta(days=3),
        )
        async with world.db.tenant(tenant.id) as tx:
            await world.suppressor.add(tx, [before], actor="test")
            await there.stop(tx, [wish()])
        [held] = await rows(world.db, tenant.id, IN_FORCE)
        async with world.db.tenant(tenant.id) as tx:
            released = await there.start(tx, [wish()])
        left[reason] = (held["reason"], held["expires_at"], released)

    assert left == {
        SuppressionReason.SOFT_BOUNCE: ("opt_out", None, [True]),
        # Nobody lifts that by writing a word; and it does not run out any more.
        SuppressionReason.COMPLIANCE: ("compliance", None, [False]),
    }
