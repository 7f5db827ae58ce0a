"""How the sandbox brings dialects together with faults, scripts, hooks and the page."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from tests.support.clock import ManualClock
from tests.support.smpp import Ears, bound, smpp_settings
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Address
from tidings.kernel.clock import SystemClock
from tidings.router.adapters.registry import ADAPTERS
from tidings.sandbox import Sandbox
from tidings.sandbox.dialect_endpoints import DialectEndpoints
from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.registry import DIALECTS
from tidings.sandbox.faults import Faults
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.receipt_format import ReceiptFormat
from tidings.sandbox.receipt_sender import ReceiptSender
from tidings.sandbox.receipts import ReceiptLog, SandboxReceipt
from tidings.sandbox.scripts import ReceiptScripts, named
from tidings.sandbox.store import Store
from tidings.sandbox.webhook_client import WebhookClient

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Pigeons(Dialect):
    """A vendor that tells two receipts with every call, and none about reading."""

    name = "pigeons"

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        return json_answer({"path": request.path})

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        raise NotImplementedError

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        raise NotImplementedError

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: datetime
    ) -> Sequence[WebhookRequest]:
        if hook.secret == "no seed":
            raise ValueError(hook.secret)
        told = [receipt for receipt in receipts if receipt.beat.status != "read"]
        pairs = [told[i : i + 2] for i in range(0, len(told), 2)]
        return [
            WebhookRequest(
                method="PUT", url=hook.url, body=",".join(r.message_id for r in pair).encode(), receipts=pair
            )
            for pair in pairs
        ]


async def test_what_one_call_tells_is_tried_again_together() -> None:
    """A hook that refuses one call gets that one again, and what the vendor has no word for is given up."""
    clock = ManualClock(NOW)
    heard: list[tuple[str, bytes]] = []

    async def post(call: WebhookRequest) -> int:
        heard.append((call.method, call.body))
        return 503 if call.body == b"m3" and heard.count(("PUT", b"m3")) == 1 else 200

    postman = ReceiptSender(
        clock,
        run="r",
        ledger=ReceiptLog(most=10),
        wording=ReceiptFormat({"pigeons": Pigeons()}),
        carrier=WebhookClient(post),
    )
    postman.hooks.set("pigeons_fast", SandboxHook(url="http://hooks.test/", secret="s"))
    postman.start()
    try:
        for message_id in ("m1", "m2", "m3"):
            postman.plan(message_id, "pigeons_fast", named("read"))
        async with asyncio.timeout(20):
            for seconds in (0.1, 1):
                await clock.advance(timedelta(seconds=seconds))
                await postman.settled()
    finally:
        await postman.stop()

    course = postman.ledger.get("m3")
    assert course is not None
    assert sorted(heard[:2]) == [("PUT", b"m1,m2"), ("PUT", b"m3")]
    # What was refused goes again alone, beside what is due by then.
    assert sorted(heard[2:]) == [("PUT", b"m1,m2"), ("PUT", b"m3"), ("PUT", b"m3")]
    assert [receipt.state for receipt in course.receipts] == ["answered", "answered", "given_up"]


async def test_a_dialect_that_stumbles_stops_nobody() -> None:
    """Its receipts are given up, those of others go on."""
    clock = ManualClock(NOW)
    heard: list[str] = []

    async def post(call: WebhookRequest) -> int:
        heard.append(call.url)
        return 200

    postman = ReceiptSender(
        clock,
        run="r",
        ledger=ReceiptLog(most=10),
        wording=ReceiptFormat({"pigeons": Pigeons()}),
        carrier=WebhookClient(post),
    )
    postman.hooks.set("pigeons", SandboxHook(url="http://pigeons.test/", secret="no seed"))
    postman.hooks.set("http", SandboxHook(url="http://hooks.test/", secret="s"))
    postman.start()
    try:
        for vendor in ("pigeons", "http"):
            postman.plan(vendor, vendor, named("sent"))
        async with asyncio.timeout(20):
            await clock.advance(timedelta(seconds=0.1))
            await postman.settled()
    finally:
        await postman.stop()

    course = postman.ledger.get("pigeons")
    assert heard == ["http://hooks.test/"]
    assert course is not None
    assert course.receipts[0].state == "given_up"


@pytest.fixture
async def web() -> AsyncIterator[httpx2.AsyncClient]:
    async with (
        Sandbox(ManualClock(NOW), seed=1) as sandbox,
        httpx2.AsyncClient(base_url=sandbox.url) as client,
    ):
        yield client


CALL: Mapping[str, object] = {"reference": "r-1", "to": "+93700123456", "text": "4829"}
SIGNED = {"authorization": "Bearer t"}


async def test_a_vendor_of_another_name_speaks_the_same(web: httpx2.AsyncClient) -> None:
    """`voice_otp_gateway_b` is a vendor of its own: its keys, its faults, its script."""
    fault = {"adapter": "http", "vendor": "voice_otp_gateway_b", "mode": "reject_temporary", "count": 1}
    await web.post("/faults", json=fault)
    places = ["/voice_otp_gateway/calls", "/voice_otp_gateway_b/calls", "/voice_otp_gateway_b/calls"]
    answers = [await web.post(place, json=CALL, headers=SIGNED) for place in places]
    shown = (await web.get("/messages?channel=voice")).json()["messages"]
    whole = [(await web.get(f"/messages/{one['id']}")).json() for one in shown]

    assert [answer.status_code for answer in answers] == [202, 503, 202]
    assert [one["vendor"] for one in whole] == ["voice_otp_gateway", "voice_otp_gateway_b"]
    assert {one["adapter"] for one in whole} == {"voice_otp_gateway"}


async def test_a_fault_that_holds_keeps_the_message(web: httpx2.AsyncClient) -> None:
    """Its sender can't know that it arrived."""
    await web.post("/faults", json={"adapter": "http", "mode": "close", "count": 1})
    with pytest.raises(httpx2.HTTPError):
        await web.post("/voice_otp_gateway/calls", json=CALL, headers=SIGNED)
    again = await web.post("/voice_otp_gateway/calls", json=CALL, headers=SIGNED)
    stats = (await web.get("/stats")).json()

    assert again.status_code == 202
    assert stats["received"] == {"voice_otp_gateway": 1}
    assert (await web.delete("/messages")).json() == {"deleted": 1}
    assert (await web.post("/voice_otp_gateway/calls", json=CALL, headers=SIGNED)).json() != again.json()


@pytest.mark.parametrize(
    ("vendor", "body", "status"),
    [
        ("twilio", {"from": "+1", "to": "+2", "text": "hi"}, 404),
        ("http", {"from": "+1", "to": "+2", "text": "hi"}, 404),
        ("twilio", {"to": "+2", "text": "hi"}, 400),
        ("twilio", {"from": "+1", "to": "+2", "text": "hi", "channel": "pigeon"}, 400),
    ],
)
async def test_writing_back_needs_a_hook_and_words(
    web: httpx2.AsyncClient, vendor: str, body: dict[str, str], status: int
) -> None:
    """With a problem document that says what to do."""
    found = await web.post(f"/inbound/{vendor}", json=body)

    assert found.status_code == status
    assert found.headers["content-type"] == "application/problem+json"


async def test_a_hook_that_is_away_is_no_answer(web: httpx2.AsyncClient) -> None:
    """0, as with receipts."""
    await web.put("/hooks/twilio", json={"url": "http://127.0.0.1:9/hooks", "secret": "s"})

    found = await web.post("/inbound/twilio", json={"from": "+1", "to": "+2", "text": "hi"})

    assert found.json()["answer"] == 0


def test_every_dialect_is_known_by_its_name() -> None:
    """And none takes the place of one of the sandbox's own."""
    own = {"messages", "faults", "scripts", "hooks", "http", "vendors", "stats", "events", "inbound", ""}

    assert all(name == dialect.name for name, dialect in DIALECTS.items())
    assert not own & set(DIALECTS)


def test_every_adapter_has_somebody_to_speak_with() -> None:
    """By a dialect, or by a server of its own."""
    assert set(ADAPTERS) - {"http", "smtp", "smpp"} == set(DIALECTS)


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_nonsense_is_answered_and_not_kept(name: str) -> None:
    """No vendor falls over what is none of its requests."""
    clock = ManualClock(NOW)
    store = Store(clock)
    postman = ReceiptSender(clock, run="r", ledger=ReceiptLog(most=10))
    speakers = DialectEndpoints(store, Faults(clock), ReceiptScripts(), postman, ReceiptFormat(DIALECTS))
    bodies = (
        b"",
        b"{",
        b"[1]",
        b'"x"',
        b"a=%ff&b",
        b'{"to": 5, "messages": "x", "content": [1, {"type": 2}]}',
    )
    signs: tuple[dict[str, str], ...] = ({}, {"authorization": "Bearer x"}, {"authorization": "Basic eDp4"})
    paths = (
        "",
        "/",
        "/v1/messages",
        "/mail/send",
        "/v2/email/outbound-emails",
        "/botx/sendMessage",
        "/x\ufffd",
    )
    for path in paths:
        for body in bodies:
            for headers in signs:
                request = SandboxRequest(
                    method="POST", path=f"/{name}{path}", query=b"", headers=headers, body=body
                )
                assert 200 <= speakers.take(name, request).status < 500

    assert len(store) == 0


async def test_somebody_writes_back_over_smpp() -> None:
    """To a bind that receives; the page knows which messages can be answered so."""
    ears = Ears()
    async with (
        Sandbox(SystemClock(), seed=1) as sandbox,
        httpx2.AsyncClient(base_url=sandbox.url) as web,
        bound(smpp_settings(sandbox.smpp_port), ears) as adapter,
    ):
        sms = replace(MESSAGE, channel="sms", to="+93700123456", sender=Address(value="12345"), html=None)
        await adapter.send([sms])
        (shown,) = (await web.get("/messages")).json()["messages"]
        whole = (await web.get(f"/messages/{shown['id']}")).json()
        wrote = {"from": shown["to"], "to": shown["from"], "text": "yes"}
        told = await web.post("/inbound/smpp", json=wrote)

    assert (shown["adapter"], shown["text"], whole["answerable"]) == ("smpp", MESSAGE.text, True)
    assert told.json()["answer"] == 200
    assert [one.text for one in ears.inbound] == ["yes"]
