"""Requests and replies as bytes: in parts and back, sealed for one purpose, steps whole but for their keys."""

import random
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.support.clock import ManualClock
from tests.support.kms import MemoryKms
from tests.support.local_requests import LocalRequests
from tidings.contracts.delivery import PreparedStep, ReadyStep, SkipStep, StepAsk, WaitStep
from tidings.contracts.delivery_requests import PREPARE_STEPS, EncodedSteps, StepsPrepared
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.messages import Address, Attachment, OutboundMessage, SenderRecord, SentRecord
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.nats_requests.sealing import PayloadSeal
from tidings.kernel.nats_requests.wire import PartsReceived, split
from tidings.kernel.requests import RequestFailedError
from tidings.notify.dispatch.step_requests import StepRequests
from tidings.router.executions.remote_preparer import NOTIFY_AWAY, RemoteStepPreparer

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def message(number: int, content: bytes = b"hello", **more: Any) -> OutboundMessage:
    return OutboundMessage(
        message_id=f"ntf_{number}",
        tenant_id="tnt_1",
        channel="email",
        sender=Address(value="hello@acme.test", name="Acme"),
        to=f"p{number}@example.test",
        also_to=("other@example.test",),
        address_ids=("adr_1", "adr_2"),
        subject="Grüße",
        html="<p>Hi</p>",
        text="Hi",
        headers=(("X-A", "b"),),
        attachments=(Attachment(filename="a.pdf", media_type="application/pdf", content=content),),
        metadata={"order": {"id": 7, "tags": ["a", None]}},
        record=SentRecord(
            sender=SenderRecord(value="hello@acme.test"), address_hash="ab", address_ciphertext=b"\x00\xff"
        ),
        **more,
    )


def ask(number: int) -> StepAsk:
    return StepAsk(
        tenant_id=TenantId("tnt_1"),
        notification_id=NotificationId(f"ntf_{number}"),
        recipient_id=RecipientId("rcp_1"),
        step=1,
        channel="email",
    )


class Prepares:
    """Answers each ask by its number."""

    def __init__(self, steps: dict[str, PreparedStep]) -> None:
        self._steps = steps
        self.sets: list[int] = []

    async def prepare(self, asks: Any) -> list[PreparedStep]:
        self.sets.append(len(asks))
        return [self._steps[one.notification_id] for one in asks]


def remote(
    preparer: Prepares, requests: LocalRequests | None = None
) -> tuple[RemoteStepPreparer, LocalRequests]:
    requests = requests or LocalRequests()
    requests.serve(PREPARE_STEPS, StepRequests(preparer).answer)
    return RemoteStepPreparer(requests=requests, clock=ManualClock(NOW), jitter=lambda: 0.0), requests


@pytest.mark.parametrize("size", [0, 1, 95, 96, 97, 1_000])
def test_a_reply_in_parts_is_the_same_in_any_order(size: int) -> None:
    whole = random.Random(size).randbytes(size)
    parts = list(split(whole, most=100))
    assert all(len(part) <= 100 for part in parts)
    random.Random(1).shuffle(parts)
    received = PartsReceived()
    # Each twice, as a network may do it.
    ends = [received.add(part) for part in parts for _ in range(2)]
    assert (ends[-1] if parts else b"") == whole


@pytest.mark.parametrize("part", [b"", b"\x00", b"\x00\x05\x00\x05x", b"\x00\x00\x00\x00"])
def test_what_is_no_part_is_refused(part: bytes) -> None:
    with pytest.raises(ValueError, match="not a part"):
        PartsReceived().add(part)


async def test_a_payload_is_opened_for_its_purpose_alone() -> None:
    kms = MemoryKms()
    ours, theirs = PayloadSeal(kms), PayloadSeal(kms)
    sealed = await ours.seal(b"laila@example.test", purpose="request a")
    assert b"laila" not in sealed
    assert await theirs.open(sealed, purpose="request a") == b"laila@example.test"
    for purpose, altered in (("request b", sealed), ("request a", sealed[:-1] + b"\x00"), ("request a", b"")):
        with pytest.raises(UnreadableError):
            await theirs.open(altered, purpose=purpose)
    # The key of a process is unwrapped once.
    before = kms.unwraps
    await theirs.open(await ours.seal(b"again", purpose="x"), purpose="x")
    assert kms.unwraps == before


async def test_steps_arrive_whole_but_for_the_key() -> None:
    key: Any = SimpleNamespace(secret=b"k" * 32)
    steps: dict[str, PreparedStep] = {
        "ntf_0": ReadyStep(message=message(0, key=key)),
        "ntf_1": SkipStep(reason="suppressed", result="REFUSED_CONSENT", ends=True),
        "ntf_2": WaitStep(until=NOW, reason="quiet_hours"),
    }
    preparer, requests = remote(Prepares(steps))
    prepared = await preparer.prepare([ask(number) for number in range(3)])
    assert prepared == [ReadyStep(message=message(0)), steps["ntf_1"], steps["ntf_2"]]
    assert isinstance(prepared[0], ReadyStep)
    assert prepared[0].message.key is None
    assert prepared[0].message.record == message(0).record
    assert not any(b"k" * 32 in one for one in requests.passed)


async def test_a_set_goes_in_requests_of_fifty_and_large_answers_in_several_replies() -> None:
    large = b"x" * 3_000_000
    steps: dict[str, PreparedStep] = {f"ntf_{n}": ReadyStep(message=message(n, large)) for n in range(4)}
    steps |= {f"ntf_{n}": ReadyStep(message=message(n)) for n in range(4, 120)}
    prepares = Prepares(steps)
    preparer, _ = remote(prepares)
    prepared = await preparer.prepare([ask(number) for number in range(120)])
    assert [one.message.message_id for one in prepared if isinstance(one, ReadyStep)] == [
        f"ntf_{n}" for n in range(120)
    ]
    # Two of the large ones fit into a reply; the others were asked for again.
    assert sorted(prepares.sets, reverse=True) == [50, 50, 48, 20]


async def test_where_nobody_answers_steps_wait_longer_and_longer() -> None:
    preparer, requests = remote(Prepares({"ntf_0": ReadyStep(message=message(0))}))
    requests.unheard = lambda _: True
    waits = [(await preparer.prepare([ask(0)]))[0] for _ in range(6)]
    assert all(isinstance(one, WaitStep) and one.reason == NOTIFY_AWAY for one in waits)
    pauses = [(one.until - NOW).total_seconds() for one in waits if isinstance(one, WaitStep)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 7.5, 7.5]
    requests.unheard = lambda _: False
    assert isinstance((await preparer.prepare([ask(0)]))[0], ReadyStep)


async def test_answers_that_do_not_fit_the_asks_are_refused() -> None:
    requests = LocalRequests()
    for wrong in ((), (SkipStep(reason="a", result="FAILED"),) * 2):
        encoded = EncodedSteps(steps=tuple(msgspec.Raw(msgspec.msgpack.encode(one)) for one in wrong))

        async def answer(_: bytes, encoded: EncodedSteps = encoded) -> bytes:
            return msgspec.msgpack.encode(encoded)

        preparer, _ = remote(Prepares({}), requests)
        requests.serve(PREPARE_STEPS, answer)
        with pytest.raises(RequestFailedError):
            await preparer.prepare([ask(0)])


def test_what_a_newer_notify_adds_is_passed_over() -> None:
    newer = msgspec.msgpack.encode(
        {"steps": [{"type": "SkipStep", "reason": "a", "result": "FAILED", "new": 1}], "more": 2}
    )
    [step] = msgspec.msgpack.decode(newer, type=StepsPrepared).steps
    assert step == SkipStep(reason="a", result="FAILED")
