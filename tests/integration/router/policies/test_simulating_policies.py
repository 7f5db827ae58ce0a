"""What would happen to a message, step by step, at what cost; nothing is written or sent."""

import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.integration.notifications.world import Sender, SentWorld, publish
from tests.integration.router.policies.world import HOME
from tests.support.people import rows, unused
from tidings.contracts.addresses import normalise
from tidings.contracts.tenants import NotificationPolicy, QuietHours
from tidings.kernel.db import Database
from tidings.notify.suppressions.model import SuppressionReason, SuppressionSpec
from tidings.router.traffic.circuit import Circuit
from tidings.router.traffic.traffic_state import AccountCircuit

ALL_DAYS: Any = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SMS = {"channel": "sms", "deadline_seconds": 30, "retry_budget": 1}
EMAIL = {"channel": "email", "deadline_seconds": 60}
NUMBER = "+93700123456"


class SimulationWorld(SentWorld):
    """Notifications over HTTP, and the ladders that they would go by."""


@pytest.fixture(scope="module")
async def world(db: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SimulationWorld]:
    """The application over the shared database."""
    made = SimulationWorld(db, tmp_path_factory.mktemp("simulating"))
    yield made
    await made.system.notify.renderer.close()
    await made.system.notify.authoring.close()


@pytest.fixture
async def sender(world: SimulationWorld) -> AsyncIterator[Sender]:
    """A tenant with mail and SMS, and words for both."""
    async with world.sender(channels=("email", "sms")) as sender:
        await publish_sms(sender)
        yield sender


async def publish_sms(sender: Sender) -> None:
    words = {"format": "text", "body": "Hello {{name}}"}
    await publish(sender.client, channel="sms", locales={"en": words})


def message(**more: Any) -> dict[str, Any]:
    return {
        "recipient": {
            "identity": {"type": "guest", "id": f"g-{unused()}"},
            "addresses": [
                {"channel": "email", "address": f"laila-{unused()}@example.test"},
                {"channel": "sms", "address": NUMBER},
            ],
        },
        "template": "welcome",
        "variables": {"name": "Laila"},
        "use_case": "txn",
        **more,
    }


async def simulated(sender: Sender, **more: Any) -> dict[str, Any]:
    answer = await sender.client.post(f"{HOME}/simulate", json=message(**more))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def price(world: SimulationWorld, sender: Sender, vendor: str, micros: int) -> None:
    """What a message costs with the tenant's account."""
    async with world.db.tenant(sender.tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE chan.channel_adapter_configs SET pricing_model = $3 WHERE tenant_id = $1 AND provider = $2",
            sender.tenant_id,
            vendor,
            json.dumps({"currency": "USD", "base_micros": micros}),
        )


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_step_by_step_by_a_draft(sender: Sender) -> None:
    whatsapp = {"channel": "whatsapp", "deadline_seconds": 10}

    found = await simulated(sender, policy={"ladder": [whatsapp, SMS, EMAIL]})

    assert (found["would"], found["by"], found["policy_id"]) == ("send", "draft", None)
    first, second, third = found["steps"]
    assert (first["would"], first["reason"], first["gate"]) == ("skip", "no_route", None)
    assert (second["would"], second["vendor"], second["gate"]["verdict"]) == ("call", "http", "pass")
    assert moment(second["ends_at"]) - moment(second["begins_at"]) == timedelta(seconds=30)
    # Mail has no receipts: being accepted is all that there is to reach.
    assert (third["would"], third["begins_at"]) == ("call", second["ends_at"])
    end = found["if_nothing_answers"]
    assert (end["result"], end["evidence"]) == ("DELIVERED", "accepted")
    assert NUMBER not in json.dumps(found)


async def test_a_rehearsed_notification_goes_by_the_policy_too(sender: Sender) -> None:
    """As it would in earnest: SMS alone, although the template has words for mail."""
    made = await sender.client.post(
        HOME, json={"use_case": "txn", "ladder": [{"channel": "whatsapp", "deadline_seconds": 10}, SMS]}
    )
    assert made.status_code == 201, made.text
    found = (await sender.client.post("/api/v1/notifications/simulate", json=message())).json()

    assert [(step["channel"], step["verdict"], step["reason"]) for step in found["steps"]] == [
        ("whatsapp", "stop", "no_route"),
        ("sms", "pass", None),
    ]
    assert (found["would"], found["message"]["text"]) == ("send", "Hello Laila")


async def test_by_the_policy_in_force_or_without_one(sender: Sender) -> None:
    without = await simulated(sender)
    made = await sender.client.post(HOME, json={"use_case": "txn", "ladder": [SMS]})
    by_policy = await simulated(sender)
    elsewhere = await simulated(sender, use_case="alert")

    assert (without["by"], [step["channel"] for step in without["steps"]]) == ("none", ["email", "sms"])
    assert (by_policy["by"], by_policy["policy_id"]) == ("policy", made.json()["id"])
    assert [step["channel"] for step in by_policy["steps"]] == ["sms"]
    end = by_policy["if_nothing_answers"]
    assert (end["result"], end["reason"]) == ("FAILED", "not_in_time")
    assert moment(end["at"]) - moment(by_policy["at"]) == timedelta(seconds=30)
    assert elsewhere["by"] == "none"


async def test_costs_and_the_cap(world: SimulationWorld, sender: Sender) -> None:
    await price(world, sender, "http", 40_000)
    roomy = await simulated(sender, policy={"ladder": [SMS], "cost_cap_micros": 100_000})
    tight = await simulated(sender, policy={"ladder": [SMS], "cost_cap_micros": 50_000})
    # Named, because the platform may have others that are cheaper.
    by_http = {**SMS, "vendor": "http"}
    dear = await simulated(sender, policy={"ladder": [by_http, EMAIL], "cost_cap_micros": 39_999})

    assert (roomy["steps"][0]["cost_micros"], roomy["currency"]) == (40_000, "USD")
    assert (roomy["if_nothing_answers"]["spent_micros"], roomy["worst_case_micros"]) == (40_000, 80_000)
    assert tight["worst_case_micros"] == 40_000
    assert (dear["steps"][0]["would"], dear["steps"][0]["reason"]) == ("skip", "cost_cap")
    assert dear["steps"][1]["would"] == "call"
    assert [warning["code"] for warning in dear["warnings"]] == ["over_cap"]


async def test_a_step_that_no_account_can_carry_is_passed_over(sender: Sender) -> None:
    found = await simulated(sender, policy={"ladder": [{**SMS, "vendor": "http_nobody"}, EMAIL]})
    alone = await simulated(sender, policy={"ladder": [{**SMS, "vendor": "http_nobody"}]})

    assert [(step["would"], step["reason"]) for step in found["steps"]] == [
        ("skip", "no_account"),
        ("call", None),
    ]
    assert found["steps"][1]["begins_at"] == found["at"]
    assert (alone["steps"][0]["would"], alone["if_nothing_answers"]["result"]) == ("skip", "FAILED")


async def test_a_price_without_a_cap_keeps_its_currency(world: SimulationWorld, sender: Sender) -> None:
    await price(world, sender, "http", 40)

    found = await simulated(sender, policy={"ladder": [SMS]})

    assert found["currency"] is None
    assert (found["steps"][0]["cost_micros"], found["steps"][0]["cost_currency"]) == (40, "USD")


async def test_a_step_that_a_gate_holds_back(world: SimulationWorld, sender: Sender) -> None:
    wish = SuppressionSpec(channel="sms", address=normalise("sms", NUMBER), reason=SuppressionReason.OPT_OUT)
    async with world.db.tenant(sender.tenant_id) as tx:
        await world.suppressor.add(tx, [wish], actor="test")

    found = await simulated(sender, policy={"ladder": [SMS]})

    (step,) = found["steps"]
    assert (step["would"], step["reason"], step["gate"]["verdict"]) == (
        "skip",
        "suppressed_by_tenant",
        "skip",
    )
    assert found["if_nothing_answers"]["result"] == "REFUSED_CONSENT"


async def test_conditions_and_an_open_circuit(world: SimulationWorld, sender: Sender) -> None:
    elsewhere = {**SMS, "conditions": {"prefixes": ["+49"]}}
    urgent = {**SMS, "conditions": {"priorities": ["critical"]}}
    by_conditions = await simulated(sender, policy={"ladder": [elsewhere, urgent, EMAIL]})
    # The tenant's own: the platform's accounts of other tests can be seen, too.
    (account,) = await rows(
        world.db,
        sender.tenant_id,
        "SELECT id FROM chan.channel_adapter_configs WHERE provider = 'http' AND tenant_id IS NOT NULL",
    )
    circuit = Circuit(state="OPEN", version=1, until=world.system.clock.now() + timedelta(hours=9))
    world.system.vendors.traffic.learn_circuits(
        [AccountCircuit(account_id=account["id"], tenant_id=sender.tenant_id, vendor="http", circuit=circuit)]
    )
    by_circuit = await simulated(sender, policy={"ladder": [SMS, EMAIL]})

    assert [(step["would"], step["reason"]) for step in by_conditions["steps"]] == [
        ("skip", "condition_prefix"),
        ("skip", "condition_priority"),
        ("call", None),
    ]
    assert by_circuit["steps"][0]["reason"] == "circuit_open"


async def test_one_that_would_wait_or_not_be_sent_at_all(world: SimulationWorld) -> None:
    night = QuietHours(days=ALL_DAYS, start="00:00", end="23:59", timezone="UTC")
    async with world.sender(NotificationPolicy(quiet_hours=(night,)), channels=("email", "sms")) as sender:
        await publish_sms(sender)
        waits = await simulated(sender, policy={"ladder": [SMS]})
        stopped = await simulated(sender, category="marketing", policy={"ladder": [SMS]})

    assert (waits["would"], waits["steps"][0]["begins_at"]) == ("defer", waits["until"])
    assert (stopped["would"], stopped["if_nothing_answers"]["result"]) == ("stop", None)
    assert stopped["reason"] == "consent_missing"


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"policy": {"ladder": [SMS], "strategy": "PARALLEL"}}, "policy.ladder"),
        ({"policy": {"ladder": []}}, "policy.ladder"),
        ({"recipient": {"identity": {"type": "guest"}}}, "recipient.identity.id"),
        ({"channel": "sms"}, "channel"),
        ({"template": "Not A Key"}, "template"),
    ],
)
async def test_what_is_wrong_is_named(sender: Sender, more: dict[str, Any], field: str) -> None:
    answer = await sender.client.post(f"{HOME}/simulate", json=message(**more))

    assert answer.status_code == 400
    assert field in {error["field"] for error in answer.json()["errors"]}


async def test_nothing_is_written(world: SimulationWorld, sender: Sender) -> None:
    tables = (
        "chan.executions_live",
        "chan.fallback_policies",
        "chan.audit",
        "notification.recipients",
        "kernel.hot_limits",
    )

    async def counts() -> list[Any]:
        found = [await rows(world.db, sender.tenant_id, f"SELECT count(*) FROM {table}") for table in tables]
        return [one[0]["count"] for one in found]

    before = await counts()
    await simulated(sender, policy={"ladder": [SMS, EMAIL]})

    assert await counts() == before
