"""All that passes between notify and the router is frozen data that can be encoded: it could cross a process border."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.support.port_bytes import through_bytes
from tidings.contracts import delivery
from tidings.contracts.delivery import (
    AttemptTold,
    DeliveryOutcome,
    DeliveryPlan,
    DeliveryRoute,
    DispatchRequested,
    EndedPage,
    HandOff,
    MessagePace,
    PaceRate,
    PlannedDelivery,
    PreparedStep,
    ReadyStep,
    Reservation,
    SkipStep,
    StepAsk,
    TenantOutcome,
    WaitStep,
)
from tidings.contracts.execution_history import (
    AttemptRecord,
    ExecutionRecord,
    ReceiptRecord,
    StepRecord,
    WaitRecord,
)
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.ladder import Hours, LadderSnapshot, LadderStep, StepRank
from tidings.contracts.messages import Address, Attachment, OutboundMessage, SenderRecord, SentRecord
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.mapping import by_name

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
TENANT, NOTIFICATION, RECIPIENT = TenantId("tnt_1"), NotificationId("ntf_1"), RecipientId("rcp_1")

MESSAGE = OutboundMessage(
    message_id="ntf_1",
    tenant_id="tnt_1",
    channel="email",
    sender=Address(value="shop@example.test", name="Shop"),
    to="laila@example.test",
    also_to=("other",),
    address_ids=("adr_1",),
    reply_to=Address(value="reply@example.test"),
    subject="Hello",
    html="<p>Hello</p>",
    text="Hello",
    headers=(("X-Order", "7"),),
    attachments=(Attachment(filename="a.bin", media_type="application/pdf", content=bytes(range(256))),),
    metadata={"order": {"id": 7, "tags": ["a", None, 1.5]}},
    record=SentRecord(sender=SenderRecord(value="shop@example.test"), address_ciphertext=b"\x00\xff"),
    key=DataKey("tnt_1", "rcp_1", {}, 1),
)
PLAN = DeliveryPlan(
    ladder=LadderSnapshot(
        steps=(
            LadderStep(
                channel="sms",
                vendors=("twilio", "vonage"),
                prefixes=("+93",),
                hours=Hours(start="08:00", end="20:00", timezone="Asia/Kabul"),
            ),
        ),
        order="learned",
        why=(StepRank(channel="sms", p=0.5, cost_micros=100, index=1.5, drawn=True),),
        cap=10_000,
    ),
    strategy="SEQUENTIAL",
    first="sms",
    policy_id="pol_1",
    policy_version=3,
    cap=10_000,
    currency="EUR",
)
HAND_OFF = HandOff(
    tenant_id=TENANT,
    notification_id=NOTIFICATION,
    recipient_id=RECIPIENT,
    use_case="otp",
    priority="high",
    expires_at=NOW,
    routes=(DeliveryRoute(channel="sms", vendor="twilio"),),
    traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
)
ATTEMPT = AttemptRecord(
    id="attempt_1",
    step=1,
    channel="sms",
    vendor="twilio",
    status="accepted",
    reason=None,
    provider_message_id="SM1",
    started_at=NOW,
    ended_at=NOW,
    receipts=(
        ReceiptRecord(
            id="evt_1",
            status="delivered",
            recorded_at=NOW,
            occurred_at=None,
            code=None,
            reason=None,
            late=False,
        ),
    ),
    record=MESSAGE.record,
)

PACE = MessagePace(
    key="dbt_1",
    day="2026-11-15",
    next_day=NOW,
    accounts={"adcfg_1": PaceRate(per_minute=6, per_hour=60)},
    vendors={"twilio": PaceRate(today=500)},
)

#: Every type that passes, with a value that fills it.
PASSING: list[tuple[Any, Any]] = [
    (HandOff, HAND_OFF),
    (DispatchRequested, by_name(DispatchRequested, HAND_OFF)),
    (DeliveryPlan, PLAN),
    (Reservation, Reservation(vendor="twilio", account_id="adcfg_1", cost=7, currency="EUR", within=2.5)),
    (
        PlannedDelivery,
        PlannedDelivery(
            hand_off=HAND_OFF,
            plan=PLAN,
            first=ReadyStep(message=MESSAGE, pace=PACE),
            reservation=Reservation(vendor="twilio"),
            not_before=NOW,
            waits_for="batch_pace",
        ),
    ),
    (
        StepAsk,
        StepAsk(
            tenant_id=TENANT,
            notification_id=NOTIFICATION,
            recipient_id=RECIPIENT,
            step=2,
            channel="sms",
            taken=1,
        ),
    ),
    (PreparedStep, ReadyStep(message=MESSAGE)),
    (PreparedStep, ReadyStep(message=MESSAGE, pace=PACE)),
    (PreparedStep, SkipStep(reason="consent_missing", result="REFUSED_CONSENT", ends=True)),
    (PreparedStep, WaitStep(until=NOW, reason="quiet_hours")),
    (
        DeliveryOutcome,
        DeliveryOutcome(
            notification_id="ntf_1",
            recipient_id="rcp_1",
            execution_id="exec_1",
            result="DELIVERED",
            ended_at=NOW,
            attempts=(
                AttemptTold(
                    id="attempt_1", step=1, channel="sms", status="accepted", started_at=NOW, ended_at=NOW
                ),
            ),
        ),
    ),
    (
        TenantOutcome,
        TenantOutcome(
            tenant_id=TenantId("ten_1"),
            outcome=DeliveryOutcome(
                notification_id="ntf_1",
                recipient_id="rcp_1",
                execution_id="exec_1",
                result="DELIVERED",
                ended_at=NOW,
                attempts=(
                    AttemptTold(
                        id="attempt_1", step=1, channel="sms", status="accepted", started_at=NOW, ended_at=NOW
                    ),
                ),
            ),
            traceparent="00-1-2-01",
        ),
    ),
    (
        ExecutionRecord,
        ExecutionRecord(
            id="exec_1",
            notification_id="ntf_1",
            recipient_id="rcp_1",
            strategy="SEQUENTIAL",
            routes=HAND_OFF.routes,
            policy_id=None,
            policy_version=None,
            started_at=NOW,
            ended_at=None,
            result=None,
            evidence=None,
            final_channel=None,
            due_at=NOW,
            attempts=(ATTEMPT,),
            steps=(
                StepRecord(
                    channel="sms",
                    vendors=("twilio",),
                    success="sent",
                    deadline_seconds=30,
                    retry_budget=None,
                ),
            ),
            waits=(WaitRecord(step=1, channel="sms", reason="vendor_limit", since=NOW, until=NOW),),
        ),
    ),
    (EndedPage, EndedPage(by_tenant={TenantId("tnt_1"): [NOTIFICATION]}, until=NOW)),
]


@pytest.mark.parametrize(("kind", "value"), PASSING, ids=lambda one: getattr(one, "__name__", None))
def test_what_passes_is_the_same_after_it_went_through_bytes(kind: Any, value: Any) -> None:
    assert through_bytes(value, kind) == value
    with pytest.raises((AttributeError, TypeError)):
        setattr(value, next(iter(value.__annotations__)), None)


def test_no_type_of_the_port_is_left_out() -> None:
    declared = {
        name
        for name, kind in vars(delivery).items()
        if isinstance(kind, type) and kind.__module__ == delivery.__name__
    }
    protocols = {name for name in declared if getattr(getattr(delivery, name), "_is_protocol", False)}
    parts = {"DeliveryRoute", "AddressTold"} | {type(part).__name__ for part in _parts(PASSING)}
    assert declared - protocols == parts & declared


def test_a_key_is_the_only_thing_that_stays_behind() -> None:
    again = through_bytes(ReadyStep(message=MESSAGE), ReadyStep)
    assert (again.message.key, again.message.record) == (None, MESSAGE.record)
    customs = [node for kind, _ in PASSING for node in _nodes(msgspec.inspect.type_info(kind))]
    assert {node.cls for node in customs if isinstance(node, msgspec.inspect.CustomType)} == {DataKey}
    # Words of the caller (`metadata`) are all that has no type.
    fields = {
        field.name
        for node in customs
        if isinstance(node, msgspec.inspect.DataclassType | msgspec.inspect.StructType)
        for field in node.fields
        if any(isinstance(one, msgspec.inspect.AnyType) for one in _shallow(field.type))
    }
    assert fields == {"metadata"}


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _parts(one)
    elif isinstance(value, dict):
        yield from _parts(list(value.values()))
    elif hasattr(type(value), "__annotations__") and not isinstance(value, type):
        yield value
        yield from _parts([getattr(value, name) for name in type(value).__annotations__])


def _shallow(node: Any) -> list[Any]:
    """The node and what its containers hold, but not the fields of other types."""
    inner = [getattr(node, name, None) for name in ("item_type", "key_type", "value_type")]
    several = [*getattr(node, "item_types", ()), *getattr(node, "types", ())]
    return [node, *(one for part in (*inner, *several) if part is not None for one in _shallow(part))]


def _nodes(node: Any, seen: set[Any] | None = None) -> list[Any]:
    seen = set() if seen is None else seen
    found: list[Any] = []
    for part in _shallow(node):
        found.append(part)
        fields = getattr(part, "fields", ())
        if fields and part.cls not in seen:
            seen.add(part.cls)
            for field in fields:
                found += _nodes(field.type, seen)
    return found
