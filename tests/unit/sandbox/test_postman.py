"""When receipts are sent, how often, and when they are not: by a clock that the test moves."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tidings.kernel.signed_webhooks.signature import sign
from tidings.sandbox.dialects.dialect import WebhookRequest
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.receipt_sender import ReceiptSender
from tidings.sandbox.receipts import Course, ReceiptLog
from tidings.sandbox.scripts import ReceiptScript, ScriptedCost, ScriptedReceipt, named
from tidings.sandbox.webhook_client import WebhookClient

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SECRET = "whsec_c2VjcmV0"
HOOK = SandboxHook(url="http://hooks.test/hooks/http/adcfg_1", secret=SECRET)


class Hooked:
    """Takes what is sent, and answers as it is told."""

    def __init__(self) -> None:
        self.answers: list[int | Exception] = []
        self.requests: list[tuple[str, Mapping[str, str], bytes]] = []

    async def post(self, call: WebhookRequest) -> int:
        self.requests.append((call.url, call.headers, call.body))
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for _, _, body in self.requests for event in json.loads(body)["events"]]

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(event["message_id"], event["status"]) for event in self.events]


class Round:
    """A postman, who is behind the hook, and the clock of both."""

    def __init__(self, most_waiting: int = 1000) -> None:
        self.clock = ManualClock(NOW)
        self.hooked = Hooked()
        self.postman = ReceiptSender(
            self.clock,
            run="r",
            ledger=ReceiptLog(most=10),
            carrier=WebhookClient(self.hooked.post),
            most_waiting=most_waiting,
        )
        self.postman.hooks.set("http", HOOK)

    async def advance(self, seconds: float) -> None:
        await self.clock.advance(timedelta(seconds=seconds))
        await self.postman.settled()

    def course(self, message_id: str) -> Course:
        found = self.postman.ledger.get(message_id)
        assert found is not None
        return found


@asynccontextmanager
async def going_round(most_waiting: int = 1000) -> AsyncIterator[Round]:
    found = Round(most_waiting)
    found.postman.start()
    try:
        async with asyncio.timeout(20):
            yield found
    finally:
        await found.postman.stop()


def plan(found: Round, *scripts: str) -> None:
    for number, name in enumerate(scripts, 1):
        found.postman.plan(f"m{number}", "http", named(name))


async def test_each_is_sent_when_its_time_has_come() -> None:
    """In order, signed, with what the script says; nothing before."""
    async with going_round() as found:
        plan(found, "delivered", "late:60", "never")
        await found.advance(0.05)
        before = list(found.hooked.words)
        await found.advance(0.05)
        sent = list(found.hooked.words)
        await found.advance(0.2)
        await found.advance(60)

    url, headers, body = found.hooked.requests[0]
    assert before == []
    assert sent == [("m1", "sent"), ("m2", "sent")]
    assert found.hooked.words[2:] == [("m1", "delivered"), ("m2", "delivered")]
    assert url == HOOK.url
    stamp, webhook_id = headers["webhook-timestamp"], headers["webhook-id"]
    assert stamp == str(int(NOW.timestamp()))
    assert headers["webhook-signature"] == sign(SECRET, webhook_id=webhook_id, timestamp=stamp, body=body)
    assert found.hooked.events[0]["occurred_at"] == "2026-11-15T12:00:00.100000Z"
    assert found.course("m1").summary == "delivered"
    assert [(r.state, r.answer) for r in found.course("m1").receipts] == [("answered", 200)] * 2


async def test_details_travel_along() -> None:
    """Code, reason and cost, where the script has them."""
    beat = ScriptedReceipt(
        status="failed",
        code="30003",
        reason="switched off",
        cost=ScriptedCost(micros=7500, currency="USD"),
        happened_seconds=3,
    )
    async with going_round() as found:
        found.postman.plan("m1", "http", ReceiptScript(name="by hand", beats=(beat,)))
        await found.advance(0)

    (event,) = found.hooked.events
    assert event | {"id": ""} == {
        "id": "",
        "message_id": "m1",
        "status": "failed",
        "occurred_at": "2026-11-15T12:00:03Z",
        "code": "30003",
        "reason": "switched off",
        "cost": {"micros": 7500, "currency": "USD"},
    }


async def test_a_repeat_is_the_same_event_in_another_request() -> None:
    """As often as the script says."""
    async with going_round() as found:
        plan(found, "repeated")
        await found.advance(1)

    ids = [event["id"] for event in found.hooked.events]
    assert sorted(map(ids.count, set(ids))) == [3, 3]
    assert len({headers["webhook-id"] for _, headers, _ in found.hooked.requests}) == 3
    assert found.course("m1").receipts[0].tries == 3


async def test_out_of_order_is_told_by_when_it_happened() -> None:
    """What happened first is told last."""
    async with going_round() as found:
        plan(found, "out_of_order")
        await found.advance(0.1)
        await found.advance(0.2)

    delivered, sent = found.hooked.events
    assert (delivered["status"], sent["status"]) == ("delivered", "sent")
    assert sent["occurred_at"] < delivered["occurred_at"]
    assert found.course("m1").summary == "delivered"


async def test_a_forged_one_does_not_fit_its_signature() -> None:
    """And travels apart from those that do."""
    async with going_round() as found:
        plan(found, "forged", "sent")
        await found.advance(0.1)

    fits = [
        headers["webhook-signature"]
        == sign(SECRET, webhook_id=headers["webhook-id"], timestamp=headers["webhook-timestamp"], body=body)
        for _, headers, body in found.hooked.requests
    ]
    assert sorted(fits) == [False, True]
    assert found.course("m1").summary == "accepted"


@pytest.mark.parametrize("answer", [500, 401, OSError("gone")])
async def test_it_is_tried_again_where_nobody_answers(answer: int | Exception) -> None:
    """The same body under the same id, a second later, until somebody says yes."""
    async with going_round() as found:
        found.hooked.answers = [answer, answer]
        plan(found, "sent")
        await found.advance(0.1)
        states = [found.course("m1").receipts[0].state]
        await found.advance(0.9)
        once = len(found.hooked.requests)
        await found.advance(0.1)
        await found.advance(3)
        states.append(found.course("m1").receipts[0].state)

    assert once == 1
    assert len(found.hooked.requests) == 3
    assert len({(headers["webhook-id"], body) for _, headers, body in found.hooked.requests}) == 1
    assert states == ["sent", "answered"]
    assert found.course("m1").receipts[0].tries == 3


async def test_it_gives_up() -> None:
    """After five times; and what is given up makes room."""
    async with going_round(most_waiting=1) as found:
        found.hooked.answers = [503] * 20
        plan(found, "sent")
        full = found.postman.full
        for _ in range(10):
            await found.advance(60)
        room = not found.postman.full

    assert len(found.hooked.requests) == 5
    (receipt,) = found.course("m1").receipts
    assert (receipt.state, receipt.answer) == ("given_up", 503)
    assert (full, room) == (True, True)


async def test_calling_back_works_until_a_receipt_was_sent() -> None:
    """Then it is too late; another vendor's message is not known here."""
    async with going_round() as found:
        plan(found, "delivered_after:10", "late:10", "never")
        found.postman.plan("m4", "other", named("delivered"))
        await found.advance(0.1)
        answers = {name: found.postman.cancel("http", name) for name in ("m1", "m2", "m3", "m4", "m9")}
        again = found.postman.cancel("http", "m1")
        await found.advance(60)

    assert answers == {"m1": True, "m2": False, "m3": True, "m4": None, "m9": None}
    assert again is True
    assert found.hooked.words == [("m2", "sent"), ("m2", "delivered")]
    assert found.course("m1").summary == "cancelled"
    assert found.course("m1").receipts[0].state == "cancelled"


async def test_without_a_hook_nothing_is_planned() -> None:
    """A hook that goes away takes what was planned with it; a new one takes the rest."""
    async with going_round() as found:
        found.postman.plan("m0", "other", named("delivered"))
        plan(found, "delivered")
        await found.advance(0.1)
        found.postman.hooks.end("http")
        await found.advance(60)

    assert found.course("m0").receipts == ()
    assert found.hooked.words == [("m1", "sent")]
    assert [receipt.state for receipt in found.course("m1").receipts] == ["answered", "given_up"]


async def test_many_travel_together() -> None:
    """A hundred to a request, and none is lost."""
    async with going_round() as found:
        plan(found, *["sent"] * 250)
        await found.advance(0.1)

    assert sorted(len(json.loads(body)["events"]) for _, _, body in found.hooked.requests) == [50, 100, 100]
    assert len({event["id"] for event in found.hooked.events}) == 250


async def test_it_ends_with_the_sandbox() -> None:
    """What is planned then is never sent, also what is just being sent; nothing runs on."""
    waiting = asyncio.Event()

    async def never_answers(*_: object) -> int:
        waiting.set()
        await asyncio.Event().wait()
        return 200

    before = asyncio.all_tasks()
    clock = ManualClock(NOW)
    postman = ReceiptSender(clock, run="r", ledger=ReceiptLog(most=10), carrier=WebhookClient(never_answers))
    postman.hooks.set("http", HOOK)
    postman.start()
    postman.plan("m1", "http", named("delivered"))
    await clock.advance(timedelta(seconds=0.1))
    async with asyncio.timeout(20):
        await waiting.wait()
        await postman.stop()

    assert asyncio.all_tasks() == before
    assert not postman.full


def names(courses: list[Course]) -> list[str]:
    return [course.message_id for course in courses]


def test_the_ledger_keeps_the_newest() -> None:
    """Those that changed least recently make room; a reader is told what has changed since."""
    ledger = ReceiptLog(most=2)
    for name in ("a", "b"):
        ledger.add(Course(message_id=name, vendor="v", script="never", receipts=()))
    seen = ledger.last_change
    ledger.changed("a")
    ledger.add(Course(message_id="c", vendor="v", script="never", receipts=()))

    assert ledger.get("b") is None
    assert names(ledger.after(seen, limit=10)) == ["a", "c"]
    assert names(ledger.after(seen, limit=1)) == ["c"]
    assert names(ledger.after(ledger.last_change, limit=10)) == []


async def test_more_than_fit_at_once_are_all_waited_for() -> None:
    """Whoever waits until all are through waits for those that wait for their turn, too."""
    async with going_round(most_waiting=10_000) as found:
        for number in range(1500):
            found.postman.plan(f"m{number}", "http", named("sent"))
        await found.advance(0.1)
        through = len(found.hooked.events)

    assert through == 1500
