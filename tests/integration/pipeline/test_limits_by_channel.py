"""So many messages to one person over one channel: what is over it waits, and a second call is no second message."""

import pytest

from tests.support.people import unused
from tests.support.pipeline import PipelineWorld, person
from tidings.contracts.tenants import NotificationPolicy, SendingLimits
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("pipeline-sent")

ONE_MAIL = NotificationPolicy(limits=SendingLimits(per_recipient_per_channel_per_day={"email": 1}))


async def test_over_it_a_message_waits_and_explain_says_why(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    async with world.sender(ONE_MAIL) as sender:
        whom = (await sender.client.post("/api/v1/recipients", json=person(to, "+4915198000777"))).json()[
            "id"
        ]
        first = await sender.send(recipient=whom)
        await world.settle()
        second = await sender.send(recipient=whom)
        await world.settle()
        text = await sender.send(recipient=whom, template="otp", variables={"code": "482915"}, channel="sms")
        await world.settle()
        told = await sender.explain(second["id"])
        statuses = [await sender.status(one["id"]) for one in (first, second, text)]
        await world.advance(days=1, minutes=1)
        later = await sender.status(second["id"])
    assert statuses == ["delivered", "scheduled", "delivered"], "another channel has its own limit"
    [waiting] = [gate for gate in told["decision"] if gate["verdict"] == "defer"]
    assert (waiting["gate"], waiting["reason"]) == ("rate_limits", "recipient_channel_limited")
    assert "as many messages over this channel" in waiting["explanation"]
    assert later == "delivered"
    assert len(world.received(to)) == 2


@pytest.mark.parametrize("channel", ["email", "auto"])
async def test_a_call_that_is_made_again_is_counted_once(world: PipelineWorld, channel: str) -> None:
    to = f"{unused()}@example.test"
    async with world.sender(ONE_MAIL, channels=("email",)) as sender:
        whom = (await sender.client.post("/api/v1/recipients", json=person(to))).json()["id"]
        world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=1))
        sent = await sender.send(recipient=whom, channel=channel)
        await world.settle()
        await world.advance(minutes=10)
        assert await sender.status(sent["id"]) == "delivered", (
            "the first call took its place, and the second has it"
        )
        more = await sender.send(recipient=whom, channel=channel)
        await world.settle()
        told = await sender.explain(more["id"])
    assert len(world.received(to)) == 1
    assert "recipient_channel_limited" in [gate["reason"] for gate in told["decision"]]
