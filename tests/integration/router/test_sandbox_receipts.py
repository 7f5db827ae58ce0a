"""The sandbox's vendors tell what became of a message: scripts and hooks over HTTP, receipts that are really sent."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from tests.support.clock import ManualClock
from tests.support.played_http import PlayedHttp, answer, played_http
from tests.support.vendors import MESSAGE, opened
from tidings.contracts.adapters import Cancels
from tidings.contracts.callback_forms import RawCallback, ReadEvent, VerifiedCallback
from tidings.contracts.callbacks import Callback
from tidings.contracts.messages import Accepted, OutboundMessage, Refused
from tidings.kernel.http.bodies import decode
from tidings.kernel.signed_webhooks.signature import sign
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.sandbox import Sandbox

SECRET = "whsec_aHVudGVyMg=="


@pytest.fixture
async def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def sandbox(clock: ManualClock) -> AsyncIterator[Sandbox]:
    async with Sandbox(clock, seed=1) as running:
        yield running


@pytest.fixture
async def web(sandbox: Sandbox) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=sandbox.url) as client:
        yield client


@pytest.fixture
async def hooked() -> AsyncIterator[PlayedHttp]:
    """Whoever is behind the hook; takes all."""
    async with played_http(answer("200 OK", b"{}")) as played:
        yield played


def sms(**changes: Any) -> OutboundMessage:
    given = {"channel": "sms", "to": "+93700123456", "html": None, "subject": None, **changes}
    return replace(MESSAGE, **given)


def settings_of(sandbox: Sandbox, vendor: str) -> dict[str, Any]:
    messages = f"{sandbox.url}/vendors/{vendor}/messages"
    return {
        "url": messages,
        "cancel_url": f"{messages}/{{{{provider_message_id}}}}",
        "message_id_path": "id",
        "error_code_path": "error.code",
        "idempotent": True,
        "receipts": True,
        "callback_secret": SECRET,
    }


async def hook(web: httpx2.AsyncClient, vendor: str, played: PlayedHttp) -> None:
    url = f"http://127.0.0.1:{played.port}/hooks/{vendor}/adcfg_1"
    told = await web.put(f"/hooks/{vendor}", json={"url": url, "secret": SECRET})
    assert told.status_code == 200, told.text


async def advance(sandbox: Sandbox, clock: ManualClock, seconds: float) -> None:
    await clock.advance(timedelta(seconds=seconds))
    async with asyncio.timeout(20):
        await sandbox.postman.settled()


def words(played: PlayedHttp) -> list[str]:
    return [event.status for _, body in played.heard for event in decode(body, Callback).events]


async def test_a_message_its_receipts_and_what_the_page_shows(
    sandbox: Sandbox, web: httpx2.AsyncClient, clock: ManualClock, hooked: PlayedHttp
) -> None:
    """Planned, sent, answered: over real HTTP, signed, with the id that the sender knows."""
    await hook(web, "http_sms", hooked)
    async with opened("http", settings_of(sandbox, "http_sms")) as adapter:
        (outcome,) = await adapter.send([sms()])
    assert isinstance(outcome, Accepted)
    place = f"/messages/{outcome.provider_message_id}"

    planned = (await web.get(place)).json()
    await advance(sandbox, clock, 0.1)
    await advance(sandbox, clock, 0.2)
    answered = (await web.get(place)).json()

    head, body = hooked.heard[0]
    given = dict(line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if line)
    stamp, webhook_id = given["webhook-timestamp"], given["webhook-id"]
    assert head.startswith("POST /hooks/http_sms/adcfg_1 ")
    assert sign(SECRET, webhook_id=webhook_id, timestamp=stamp, body=body) in head
    assert [json.loads(body)["events"][0]["message_id"] for _, body in hooked.heard] == [
        outcome.provider_message_id
    ] * 2
    assert words(hooked) == ["sent", "delivered"]
    assert (planned["vendor"], planned["script"], planned["course"]) == ("http_sms", "delivered", "accepted")
    assert [(r["status"], r["state"]) for r in planned["receipts"]] == [
        ("sent", "planned"),
        ("delivered", "planned"),
    ]
    assert answered["course"] == "delivered"
    assert [(r["state"], r["answer"], r["tries"]) for r in answered["receipts"]] == [("answered", 200, 1)] * 2


#: Every script with what the router makes of its receipts.
MEANINGS = {
    "delivered": ["sent", "delivered"],
    "delivered_after:5": ["delivered"],
    "late:5": ["sent", "delivered"],
    "read": ["sent", "delivered", "delivered_read"],
    "never": [],
    "repeated": ["sent"] * 3 + ["delivered"] * 3,
    "out_of_order": ["delivered", "sent"],
    "unreachable": ["rejected_by_recipient"],
    "failed": ["failed_perm"],
    "sent": ["sent"],
    "forged": [],
}


@pytest.mark.parametrize("script", MEANINGS)
async def test_the_router_reads_what_the_sandbox_tells(
    sandbox: Sandbox, web: httpx2.AsyncClient, clock: ManualClock, hooked: PlayedHttp, script: str
) -> None:
    """Each script in the router's own words; what is forged is not believed."""
    await hook(web, "http", hooked)
    await web.put("/scripts/http", json={"script": script})
    posted = await web.post("/vendors/http/messages", json={"to": "+93700123456", "channel": "sms"})
    for seconds in (0.1, 0.1, 0.1, 0.7, 60):
        await advance(sandbox, clock, seconds)

    form = GenericForm()
    read: list[ReadEvent] = []
    for head, body in hooked.heard:
        lines = [line.split(": ", 1) for line in head.split("\r\n")[1:] if line]
        headers = {name.lower(): (value,) for name, value in lines}
        signed_at = datetime.fromtimestamp(int(headers["webhook-timestamp"][0]), UTC)
        request = RawCallback(headers=headers, body=body, received_at=signed_at)
        if isinstance(await form.verify(request, {"secret": SECRET}), VerifiedCallback):
            read += form.read(request, {}).events

    assert [event.status for event in read] == MEANINGS[script]
    assert {event.vendor_message_id for event in read} <= {posted.json()["id"]}
    assert len({(event.word, event.discriminator) for event in read}) == len(set(MEANINGS[script]))


async def test_scripts_are_set_over_http(
    sandbox: Sandbox, web: httpx2.AsyncClient, clock: ManualClock, hooked: PlayedHttp
) -> None:
    """For a vendor, a channel, an address; numbers of ours need none; a refusal is one at once."""
    await hook(web, "http_a", hooked)
    by_hand = [{"status": "failed", "after_seconds": 2, "code": "30003"}]
    assert (await web.put("/scripts/sms", json={"script": by_hand})).status_code == 200
    assert (await web.put("/scripts/%2B93700000001", json={"script": "never"})).status_code == 200
    found = (await web.get("/scripts")).json()
    async with opened("http", settings_of(sandbox, "http_a")) as adapter:
        outcomes = await adapter.send(
            [
                sms(message_id="m1"),
                sms(message_id="m2", to="+93700000001"),
                sms(message_id="m3", to="+15005550107"),
                sms(message_id="m4", to="+15005550108"),
                sms(message_id="m5", channel="voice"),
            ]
        )
    await advance(sandbox, clock, 0.2)
    await advance(sandbox, clock, 60)

    assert [type(outcome) for outcome in outcomes] == [Accepted, Accepted, Refused, Accepted, Accepted]
    assert outcomes[2].code == "rejected"  # type: ignore[union-attr]  # it is refused
    assert found["scripts"] == {"sms": {"script": by_hand}, "+93700000001": {"script": "never"}}
    assert found["numbers"]["+15005550108"] == "unreachable"
    assert sorted(words(hooked)) == ["delivered", "failed", "rejected", "sent"]
    assert (await web.delete("/scripts/sms")).json()["scripts"] == {"+93700000001": {"script": "never"}}
    assert (await web.delete("/scripts")).json()["scripts"] == {}


async def test_a_repeated_message_has_its_receipts_once(
    sandbox: Sandbox, web: httpx2.AsyncClient, clock: ManualClock, hooked: PlayedHttp
) -> None:
    """The key is one vendor's and one channel's: the same message over another is another."""
    for vendor in ("http_a", "http_b"):
        await hook(web, vendor, hooked)
    async with (
        opened("http", settings_of(sandbox, "http_a")) as one,
        opened("http", settings_of(sandbox, "http_b")) as other,
    ):
        first, again, voice = [(await one.send([sms(**more)]))[0] for more in ({}, {}, {"channel": "voice"})]
        (elsewhere,) = await other.send([sms()])
    await advance(sandbox, clock, 0.3)

    assert first == again
    assert len({first, voice, elsewhere}) == 3
    assert words(hooked).count("delivered") == 3


async def test_a_message_is_called_back_in_time(
    sandbox: Sandbox, web: httpx2.AsyncClient, clock: ManualClock, hooked: PlayedHttp
) -> None:
    """Until the first receipt; then the vendor says that it is too late, and goes on."""
    await hook(web, "http_a", hooked)
    await web.put("/scripts/http_a", json={"script": "delivered_after:5"})
    async with opened("http", settings_of(sandbox, "http_a")) as adapter:
        assert isinstance(adapter, Cancels)
        sent = await adapter.send([sms(message_id="m1")])
        ids = [o.provider_message_id or "" for o in sent if isinstance(o, Accepted)]
        in_time = await adapter.cancel([*ids, "sbx_0_1"])
        sent = await adapter.send([sms(message_id="m2")])
        late_ids = [o.provider_message_id or "" for o in sent if isinstance(o, Accepted)]
        await advance(sandbox, clock, 5)
        too_late = await adapter.cancel(late_ids)

    shown = (await web.get(f"/messages/{ids[0]}")).json()
    answer = await web.delete(f"/vendors/http_a/messages/{late_ids[0]}")
    assert (list(in_time), list(too_late)) == ([True, False], [False])
    assert words(hooked) == ["delivered"]
    assert (shown["course"], shown["receipts"][0]["state"]) == ("cancelled", "cancelled")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "too_late")


async def test_a_hook_that_is_away_gets_them_later(
    sandbox: Sandbox, web: httpx2.AsyncClient, clock: ManualClock
) -> None:
    """Its answer is shown, and the next try finds it back."""
    async with played_http(answer("503 Busy"), answer("200 OK")) as hooked:
        await hook(web, "http", hooked)
        await web.put("/scripts/http", json={"script": "sent"})
        posted = await web.post("/http/messages", json={"to": "+93700123456", "channel": "sms", "text": "x"})
        place = f"/messages/{posted.json()['id']}"
        await advance(sandbox, clock, 0.1)
        (refused,) = (await web.get(place)).json()["receipts"]
        await advance(sandbox, clock, 1)
        (taken,) = (await web.get(place)).json()["receipts"]

    assert (refused["state"], refused["answer"], refused["tries"]) == ("sent", 503, 1)
    assert (taken["state"], taken["answer"], taken["tries"]) == ("answered", 200, 2)


async def test_the_page_is_told_of_receipts_as_they_go(
    sandbox: Sandbox, web: httpx2.AsyncClient, clock: ManualClock, hooked: PlayedHttp
) -> None:
    """A live list: the message, then its course."""
    await hook(web, "http", hooked)
    courses: list[str] = []
    async with asyncio.timeout(20), web.stream("GET", "/events") as stream:
        kind = ""
        async for line in stream.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data" and kind == "cleared":
                await web.post("/vendors/http/messages", json={"to": "a", "channel": "sms", "text": "x"})
            elif name == "data" and kind == "course":
                told = json.loads(value)
                courses.append(told["course"])
                if told["course"] == "accepted":
                    await clock.advance(timedelta(seconds=0.1))
                elif told["receipts"][0]["state"] == "answered" and told["course"] == "sent":
                    await clock.advance(timedelta(seconds=0.2))
            elif not line:
                kind = ""
            if courses and courses[-1] == "delivered":
                break

    assert [word for i, word in enumerate(courses) if i == 0 or courses[i - 1] != word] == [
        "accepted",
        "sent",
        "delivered",
    ]


async def test_a_fault_of_one_vendor_is_no_other_vendors(sandbox: Sandbox, web: httpx2.AsyncClient) -> None:
    """Where two serve a channel, one of them can fail."""
    fault = {"adapter": "http", "vendor": "http_a", "mode": "reject_temporary"}
    assert (await web.post("/faults", json=fault)).json() == {"faults": [fault]}

    message = {"to": "+93700123456", "channel": "sms", "text": "x"}
    statuses = [
        (await web.post(f"/vendors/{vendor}/messages", json=message)).status_code
        for vendor in ("http_a", "http_b")
    ]

    assert statuses == [503, 202]
    assert (await web.get("/stats")).json()["received"] == {"http": 1}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/scripts/sms", {"script": "always"}, 400),
        ("PUT", "/scripts/sms", {"script": [{"status": "lost"}]}, 400),
        ("PUT", "/scripts/sms", {"script": [{"status": "sent", "after": 1}]}, 400),
        ("PUT", "/scripts/sms", {"script": [{"status": "sent", "after_seconds": 1e9}]}, 400),
        ("DELETE", "/scripts/sms", None, 404),
        ("PUT", "/hooks/http", {"url": "ftp://x", "secret": "s"}, 400),
        ("PUT", "/hooks/http", {"url": "http://x/"}, 400),
        ("DELETE", "/hooks/http", None, 404),
        ("DELETE", "/vendors/http/messages/sbx_0_1", None, 404),
        ("POST", "/faults", {"adapter": "smtp", "vendor": "x", "mode": "hang"}, 400),
        ("PUT", "/scripts", None, 405),
        ("POST", "/vendors/http", {}, 404),
    ],
)
async def test_mistakes_are_explained(
    web: httpx2.AsyncClient, method: str, path: str, body: object, status: int
) -> None:
    """With a problem document, and nothing is changed."""
    found = await web.request(method, path, json=body)

    assert found.status_code == status, found.text
    assert found.headers["content-type"] == "application/problem+json"
    assert (await web.get("/hooks")).json() == {"hooks": {}}
    assert (await web.get("/scripts")).json()["scripts"] == {}


async def test_secrets_are_not_shown(web: httpx2.AsyncClient) -> None:
    """Only where receipts go."""
    told = await web.put("/hooks/http", json={"url": "http://127.0.0.1:9/hooks", "secret": "hunter2"})

    assert "hunter2" not in told.text
    assert (await web.get("/hooks")).json() == {"hooks": {"http": "http://127.0.0.1:9/hooks"}}
