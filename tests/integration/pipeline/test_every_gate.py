"""Every gate, open and shut: whether it was sent, how it stands, and what `explain` says about it."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.integration.pipeline import arranging as by
from tests.integration.pipeline.arranging import Case, new_case
from tests.integration.pipeline.gate_table import ELSEWHERE, TABLE, Row
from tests.support.pipeline import PipelineWorld
from tidings.contracts.ids import NotificationId
from tidings.notify.decide.model import Gate
from tidings.notify.decide.reasons import SENTENCES, GateReason
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("pipeline-gates")


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
async def test_every_gate(world: PipelineWorld, row: Row) -> None:
    async with world.sender(row.policy(world.clock.now()), channels=row.channels) as sender:
        case = await new_case(world, sender, row.addresses)
        await row.before(case)
        wish = dict(row.wish)
        if row.lasts is not None:
            wish["expires_at"] = (world.clock.now() + timedelta(seconds=row.lasts)).isoformat()
        case.id = (await sender.send(recipient=case.recipient_id, **wish))["id"]
        await row.between(case)
        if row.put_off is not None:
            world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=1))
            await world.settle()
            await row.put_off(case)
            await world.clock.advance(timedelta(minutes=2))
        await world.settle()

        told = await case.explain()
        assert told["notification"]["status"] == row.status, told["summary"]
        if row.after_the_end:
            assert [(a["step"], a["reason"]) for a in told["attempts"]][-1] == (row.step, row.reason)
        else:
            line = _line(told, row)
            assert line["explanation"], "a line can be read aloud"
        if row.outcome == "not sent" and row.status != "cancelled" and not row.after_the_end:
            assert told["notification"]["reason"] == (row.ends or row.reason)
        gets = row.gets if row.outcome == "sent" else ()
        assert _got(case) == dict.fromkeys(gets, 1)

        if row.outcome == "deferred":
            assert told["next"], "it says what comes next"
            await row.release(case)
            await world.until(datetime.fromisoformat(_line(told, row)["until"]))
            assert (await case.explain())["notification"]["status"] == "delivered"
            assert _got(case) == {"to": 1}


def _line(told: dict[str, Any], row: Row) -> dict[str, Any]:
    wanted = (row.gate, row.verdict, row.reason, row.step)
    found: list[dict[str, Any]] = [
        line
        for line in told["decision"]
        if (line["gate"], line["verdict"], line["reason"], line["step"]) == wanted
    ]
    assert len(found) == 1, (wanted, told["decision"])
    stops = [line for line in told["decision"] if line["verdict"] != "pass" and line["step"] == row.step]
    assert stops == ([] if row.verdict == "pass" else found), "nothing else was in its way"
    return found[0]


def _got(case: Case) -> dict[str, int]:
    """Who of those concerned got how many."""
    people = {"to": case.to, "phone": case.phone, "guardian_to": case.guardian_to}
    found = {name: len(case.world.received(where)) for name, where in people.items() if where}
    return {name: count for name, count in found.items() if count}


async def test_a_channel_that_was_never_set_up(world: PipelineWorld) -> None:
    """There is no ladder at all, and so no step whose gate could say it: it is said before."""
    async with world.sender(channels=("sms",)) as sender:
        sent = await sender.send("nobody@example.test")
        await world.settle()
        told = await sender.explain(sent["id"])
    assert (told["notification"]["status"], told["notification"]["reason"]) == (
        "failed",
        "channel_not_set_up",
    )
    assert told["summary"].endswith("The tenant has not set this channel up; `tidings channel set` does.")
    assert told["decision"][-1]["gate"] == "channel_allowed"
    assert not world.received("nobody@example.test")


async def test_guardians_of_each_other_get_one_each(world: PipelineWorld) -> None:
    """A copy is not copied, whatever it has waited for."""
    async with world.sender(by.limited(per_second=1)(world.clock.now())) as sender:
        one, other = [await new_case(world, sender, "email") for _ in range(2)]
        for ward, guardian in ((one, other), (other, one)):
            routing = {"guardian_id": guardian.recipient_id, "mode": "copy"}
            await sender.choose(ward.recipient_id, guardian_routing=routing)
        sent = await sender.send(recipient=one.recipient_id)
        await world.settle()
        assert (len(world.received(one.to)), len(world.received(other.to))) == (1, 0)
        await by.suspend(one)
        await world.advance(seconds=1)
        await by.resume(one)
        await world.advance(minutes=10)
        rows = await sender.rows("SELECT id, recipient_id FROM notification.notifications ORDER BY id")
        [copy] = [row for row in rows if row["id"] != sent["id"]]
        told = await sender.explain(copy["id"])
    assert copy["recipient_id"] == other.recipient_id
    once = [
        line["reason"] for line in told["decision"] if line["gate"] == Gate.RECIPIENT and line["step"] is None
    ]
    assert once == [GateReason.COPY_FOR_GUARDIAN]
    assert (len(world.received(one.to)), len(world.received(other.to))) == (1, 1)


async def test_one_that_is_cancelled_while_it_waits_meets_no_gate(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        case = await new_case(world, sender, "email")
        case.id = (await sender.send(recipient=case.recipient_id))["id"]
        await by.cancel(case)
        await world.settle()
        told = await case.explain()
    assert told["notification"]["status"] == "cancelled"
    assert told["decision"] == []
    assert not _got(case)


async def test_the_table_has_every_reason() -> None:
    assert {row.reason for row in TABLE if row.reason} | set(ELSEWHERE) == set(GateReason)
    assert not {row.reason for row in TABLE} & set(ELSEWHERE)
    assert set(SENTENCES) == set(GateReason)


async def test_the_table_has_every_gate_open_and_shut() -> None:
    for verdicts in ({"pass"}, {"stop", "defer"}):
        assert {row.gate for row in TABLE if row.verdict in verdicts} >= set(Gate) - {Gate.CHANNEL_LIMIT}


async def test_a_sender_that_was_taken_away_is_refused_by_its_own_name(world: PipelineWorld) -> None:
    """The lists of senders may have become shorter since the channel was set up: asked again at the moment of sending."""
    async with world.sender() as sender:
        case = await new_case(world, sender, "email")
        await by.narrow_senders(case)
        case.id = (await sender.send(recipient=case.recipient_id))["id"]
        await world.settle()
        async with world.db.tenant(sender.tenant_id) as tx:
            found = await world.system.router.history.of_notifications(tx, [NotificationId(case.id)])
        told = await case.explain()
    [execution] = found[NotificationId(case.id)]
    assert execution.result == "REFUSED_SENDER_UNAUTHORIZED"
    assert (told["notification"]["status"], told["notification"]["reason"]) == (
        "failed",
        "sender_unauthorised",
    )
    assert not _got(case)
