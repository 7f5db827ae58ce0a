"""A notification is sent once more: a new one from the old one's words, to the same person, once for each key."""

import pytest

from tests.integration.notifications.world import HOME, SentWorld


async def test_it_is_a_new_one_from_the_old_ones_words(world: SentWorld) -> None:
    async with world.sender() as sender:
        old = await sender.send(correlation_id="A-77", metadata={"floor": 3}, variables={"name": "Laila"})
        early = await sender.client.post(f"{HOME}/{old}/resend")
        await world.arrange(sender.tenant_id, old, status="bounced")
        key = {"Idempotency-Key": "again-1"}
        again = await sender.client.post(f"{HOME}/{old}/resend", headers=key)
        twice = await sender.client.post(f"{HOME}/{old}/resend", headers=key)
        other = await sender.client.post(f"{HOME}/{old}/resend")
        before = (await sender.get(f"/{old}")).json()
        shown = (await sender.get(f"/{again.json()['id']}")).json()
        words = [(await sender.get(f"/{one}/body")).json() for one in (old, again.json()["id"])]
        async with world.db.tenant(sender.tenant_id) as tx:
            audited = await world.system.kernel.audit.read_recent(tx, entity_type="notification")

    assert (early.status_code, early.json()["code"]) == (409, "still_under_way")
    assert (again.status_code, twice.status_code, other.status_code) == (202, 202, 202)
    assert twice.json() == again.json()
    assert twice.headers["idempotency-replayed"] == "true"
    assert other.json()["id"] not in {old, again.json()["id"]}
    assert (shown["status"], shown["resent_from"], before["resent_from"]) == ("queued", old, None)
    for same in ("recipient_id", "template", "correlation_id", "metadata", "channel", "category", "priority"):
        assert shown[same] == before[same], same
    assert words[0]["subject"] == words[1]["subject"]
    assert [row.action for row in audited].count("resent") == 2


async def test_somebody_erased_is_not_written_to_again(world: SentWorld) -> None:
    async with world.sender() as sender:
        old = await sender.send()
        await world.arrange(sender.tenant_id, old, status="failed")
        person = (await sender.get(f"/{old}")).json()["recipient_id"]
        await sender.client.post(f"/api/v1/recipients/{person}/erase", json={})
        refused = await sender.client.post(f"{HOME}/{old}/resend")
        unknown = await sender.client.post(f"{HOME}/ntf_{'0' * 26}/resend")

    assert (refused.status_code, refused.json()["code"]) == (409, "recipient_erased")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "notification_not_found")


@pytest.mark.parametrize("test_key", [True, False])
async def test_what_a_test_key_sends_again_reaches_nobody(world: SentWorld, test_key: bool) -> None:
    async with world.sender(environment="test" if test_key else "live") as sender:
        old = await sender.send()
        await world.arrange(sender.tenant_id, old, status="failed")
        again = await sender.client.post(f"{HOME}/{old}/resend")
        shown = await sender.client.get(f"{HOME}/{again.json()['id']}")
        async with world.http.as_tenant(sender.tenant_id) as live:
            by_live = await live.post(f"{HOME}/{old}/resend", headers={"Idempotency-Key": "once"})
            told = await live.get(f"{HOME}/{by_live.json()['id']}")

    assert shown.json()["is_test"] is test_key
    # A live key does not make a test real.
    assert told.json()["is_test"] is test_key
