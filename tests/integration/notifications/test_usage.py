"""How much a template is used is counted as notifications are accepted."""

from tests.integration.notifications.world import TEMPLATE, SentWorld


async def test_a_list_of_templates_says_how_much_each_is_used(world: SentWorld) -> None:
    async with world.sender() as sender, world.sender() as other:
        for _ in range(2):
            await sender.send()
        await sender.send(channel="auto")
        await other.send()
        listed = await sender.client.get("/api/v1/templates", params={"key": TEMPLATE})

    assert [line["accepted_30_days"] for line in listed.json()["items"]] == [3]
