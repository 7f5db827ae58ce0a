"""Whoever writes over a messenger is known there: their id, sealed under their own key, makes them reachable."""

import pytest

from tests.integration.router.conversations.conftest import ConversationWorld
from tidings.contracts.addresses import normalise
from tidings.contracts.correspondence import Correspondent
from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.ids import TenantId
from tidings.router.profiles import store as profiles
from tidings.router.profiles.facts import FactName, TriState, sealing_purpose
from tidings.router.profiles.model import Profile

THEIRS: dict[Channel, tuple[FactName, str]] = {
    "telegram": ("telegram_chat_id", "7012345"),
    "viber": ("viber_id", "01234567890A="),
}


async def _known(
    world: ConversationWorld, tenant_id: TenantId, channel: Channel, address: str
) -> RecipientId:
    async with world.db.tenant(tenant_id) as tx:
        [who] = await world.correspondents.ensure(
            tx, [Correspondent(channel=channel, address=normalise(channel, address))]
        )
    return who


async def _profile(world: ConversationWorld, tenant_id: TenantId, who: RecipientId) -> Profile | None:
    async with world.db.tenant(tenant_id) as tx:
        return (await profiles.load(tx, [who])).get(who)


@pytest.mark.parametrize("channel", list(THEIRS))
async def test_who_writes_is_reachable(
    world: ConversationWorld, tenant_id: TenantId, channel: Channel
) -> None:
    fact, address = THEIRS[channel]
    who = await _known(world, tenant_id, channel, address)
    account = await world.account(tenant_id)
    assert await _profile(world, tenant_id, who) is None

    await world.write(account, "hello", sender=address, channel=channel, to="the bot")
    await world.job().drain()

    profile = await _profile(world, tenant_id, who)
    assert profile is not None
    assert profile.reachable(channel) is TriState.KNOWN_YES
    sealed = profile.facts[fact].value
    async with world.db.tenant(tenant_id) as tx:
        key = await world.keyring.data_key(tx, who)
        own = (await world.keyring.pepper(tx)).hash(normalise(channel, address))
    assert sealed.hash == own  # type: ignore[union-attr]
    assert key.unseal(sealed.ciphertext, sealing_purpose(fact)).decode() == address  # type: ignore[union-attr]

    await world.write(account, "hello again", sender=address, channel=channel, to="the bot")
    await world.job().drain()
    same = await _profile(world, tenant_id, who)
    assert same is not None
    assert same.version == profile.version, "what is known is not written again"


async def test_who_is_not_known_teaches_nothing(world: ConversationWorld, tenant_id: TenantId) -> None:
    """Nor does a number: that somebody has a telephone says nothing about a messenger."""
    who = await _known(world, tenant_id, "sms", "+93701234567")
    account = await world.account(tenant_id)

    await world.write(account, "hello", sender="99", channel="telegram", to="the bot")
    await world.write(account, "hello")
    await world.job().drain()

    assert await _profile(world, tenant_id, who) is None
    async with world.db.tenant(tenant_id) as tx:
        assert await tx.connection.fetchval("SELECT count(*) FROM chan.recipient_profiles") == 0


async def test_of_somebody_who_was_erased_nothing_is_learned(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    fact, address = THEIRS["telegram"]
    who = await _known(world, tenant_id, "telegram", address)
    async with world.db.tenant(tenant_id) as tx:
        await world.keyring.destroy(tx, [who])
    account = await world.account(tenant_id)

    await world.write(account, "hello", sender=address, channel="telegram", to="the bot")
    await world.job().drain()

    assert await _profile(world, tenant_id, who) is None, fact
