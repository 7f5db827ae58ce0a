"""The sandbox as adapters, tests and people use it."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.certificates import make_certificate
from tests.support.vendors import MESSAGE, messages, opened, smtp_settings
from tidings.contracts.messages import Accepted, Address, Attachment, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.kernel.errors import NotConfiguredError
from tidings.sandbox import Sandbox

EMAIL = {"to": "laila.unmistakable@example.test", "channel": "email"}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(SystemClock(), seed=1) as running:
        yield running


@pytest.fixture
async def web(sandbox: Sandbox) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=sandbox.url) as client:
        yield client


def settings_for(adapter: str, sandbox: Sandbox, **more: Any) -> dict[str, Any]:
    if adapter == "smtp":
        return smtp_settings(sandbox.smtp_port, **more)
    return {"url": f"{sandbox.url}/http/email", "message_id_path": "id", "timeout_seconds": 5.0, **more}


@pytest.mark.parametrize("adapter", ["smtp", "http"])
async def test_what_was_sent_can_be_read(sandbox: Sandbox, web: httpx2.AsyncClient, adapter: str) -> None:
    """By address and channel, with subject, text and HTML as they were meant."""
    dari = replace(MESSAGE, subject="سفارش شما تأیید شد", text="سلام\nلیلا", html='<p dir="rtl">سلام</p>')
    async with opened(adapter, settings_for(adapter, sandbox)) as sender:
        (outcome,) = await sender.send([dari])
        await sender.send(messages(3))

    found = (await web.get("/messages", params=EMAIL)).json()
    assert isinstance(outcome, Accepted)
    assert list(found) == ["messages"]
    (shown,) = found["messages"]
    assert list(shown) == [
        "id",
        "adapter",
        "channel",
        "from",
        "to",
        "subject",
        "text",
        "html",
        "headers",
        "received_at",
    ]
    assert shown["id"] == outcome.provider_message_id
    assert (shown["adapter"], shown["channel"]) == (adapter, "email")
    assert (shown["from"], shown["to"]) == ("orders@shop.example", dari.to)
    assert (shown["subject"], shown["text"], shown["html"]) == (dari.subject, dari.text, dari.html)
    assert shown["received_at"].endswith("Z")
    assert len((await web.get("/messages")).json()["messages"]) == 4
    assert (await web.get("/messages", params={"channel": "sms"})).json() == {"messages": []}


#: What a fault makes of a message, and how many of it are kept all the same.
FAULTS: dict[str, tuple[type[Outcome], int]] = {
    "reject_permanent": (Refused, 0),
    "reject_temporary": (TryLater, 0),
    "throttle": (TryLater, 0),
    "hang": (Unlearned, 1),
    "close": (Unlearned, 1),
    "garbage": (Unlearned, 1),
    "slow": (Accepted, 1),
}


@pytest.mark.parametrize("adapter", ["smtp", "http"])
@pytest.mark.parametrize("mode", FAULTS)
async def test_faults_on_demand(sandbox: Sandbox, web: httpx2.AsyncClient, adapter: str, mode: str) -> None:
    """Each does what it is called, to as many messages as was said, and to no other adapter."""
    other = "http" if adapter == "smtp" else "smtp"
    fault: dict[str, object] = {"adapter": adapter, "mode": mode, "count": 1}
    if mode == "slow":
        fault["seconds"] = 0.01
    assert (await web.post("/faults", json=fault)).status_code == 201
    settings = settings_for(adapter, sandbox, timeout_seconds=0.4 if mode == "hang" else 5.0)
    async with opened(adapter, settings) as sender, opened(other, settings_for(other, sandbox)) as unharmed:
        (elsewhere,) = await unharmed.send(
            [replace(MESSAGE, message_id="ntf_other", to="other@example.test")]
        )
        (outcome,) = await sender.send([MESSAGE])
        await web.delete("/faults")
        (after,) = await sender.send([replace(MESSAGE, message_id="ntf_after", to="after@example.test")])

    found = (await web.get("/messages", params=EMAIL)).json()["messages"]
    assert (type(outcome), len(found)) == FAULTS[mode]
    assert isinstance(elsewhere, Accepted)
    assert isinstance(after, Accepted)


async def test_a_share_of_the_messages(sandbox: Sandbox, web: httpx2.AsyncClient) -> None:
    """`rate` hits some and spares others."""
    await web.post("/faults", json={"adapter": "smtp", "mode": "reject_permanent", "rate": 0.5})
    async with opened("smtp", smtp_settings(sandbox.smtp_port)) as adapter:
        outcomes = await adapter.send(messages(200))

    refused = sum(isinstance(outcome, Refused) for outcome in outcomes)
    assert 50 < refused < 150
    assert sandbox.store.received["smtp"] == 200 - refused


async def test_an_idempotency_key_is_heard(sandbox: Sandbox) -> None:
    """A repeated message is kept once, and gets the first answer again."""
    async with opened("http", settings_for("http", sandbox)) as adapter:
        first = await adapter.send([MESSAGE])
        second = await adapter.send([MESSAGE])

    assert list(first) == list(second)
    assert len(sandbox.store) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "adapter"),
        ({"adapter": "smtp"}, "mode"),
        ({"adapter": "pigeon", "mode": "hang"}, "adapter"),
        ({"adapter": "smtp", "mode": "explode"}, "mode"),
        ({"adapter": "smtp", "mode": "hang", "rate": 2}, "rate"),
        ({"adapter": "smtp", "mode": "hang", "count": 0}, "count"),
        ({"adapter": "smtp", "mode": "hang", "seconds": "1"}, "seconds"),
        ({"adapter": "smtp", "mode": "hang", "often": 1}, "often"),
    ],
)
async def test_bad_faults_are_explained(web: httpx2.AsyncClient, body: object, field: str) -> None:
    """A problem that names the field, and nothing in force."""
    answer = await web.post("/faults", json=body)

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert field in [wrong["field"] for wrong in answer.json()["errors"]]
    assert (await web.get("/faults")).json() == {"faults": []}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/messages?from=x", 400),
        ("GET", "/messages/sbx_0_9", 404),
        ("GET", "/messages/../etc", 404),
        ("GET", "/nowhere", 404),
        ("PUT", "/faults", 405),
        ("POST", "/messages", 405),
    ],
)
async def test_bad_requests_are_explained(
    web: httpx2.AsyncClient, method: str, path: str, status: int
) -> None:
    """As problems."""
    answer = await web.request(method, path)

    assert answer.status_code == status
    assert answer.json()["status"] == status


async def test_messages_can_be_deleted(sandbox: Sandbox, web: httpx2.AsyncClient) -> None:
    """All at once."""
    async with opened("smtp", smtp_settings(sandbox.smtp_port)) as adapter:
        await adapter.send(messages(5))

    assert (await web.delete("/messages")).json() == {"deleted": 5}
    assert (await web.get("/messages")).json() == {"messages": []}
    assert (await web.get("/stats")).json()["received"] == {"smtp": 5}


async def test_memory_is_bounded() -> None:
    """The oldest make room, by number and by size."""
    async with (
        Sandbox(SystemClock(), most_messages=10, most_bytes=20_000) as sandbox,
        opened("smtp", smtp_settings(sandbox.smtp_port, connections=1)) as adapter,
    ):
        await adapter.send(messages(50))
        kept = [message.number for message in sandbox.store.find()]
        await adapter.send([replace(MESSAGE, text="x" * 15_000), MESSAGE])

        assert kept == list(range(41, 51))
        assert sandbox.store.bytes <= 20_000
        assert sandbox.store.received["smtp"] == 52


async def test_the_page_and_a_hostile_mail(sandbox: Sandbox, web: httpx2.AsyncClient) -> None:
    """A stranger's HTML is shown, and can do nothing."""
    hostile = replace(
        MESSAGE,
        html='<script>steal()</script><img src="cid:logo"><img src="https://tracker.example/p">',
        attachments=(
            Attachment(filename="logo.png", media_type="image/png", content=b"\x89PNG", inline_cid="logo"),
            Attachment(filename="a.pdf", media_type="application/pdf", content=b"%PDF"),
        ),
        sender=Address(value="orders@shop.example", name="<b>Shop</b>"),
    )
    async with opened("smtp", smtp_settings(sandbox.smtp_port)) as adapter:
        await adapter.send([hostile])

    (kept,) = sandbox.store.find()
    page = await web.get("/")
    mail = await web.get(f"/messages/{kept.id}/html")
    whole = (await web.get(f"/messages/{kept.id}")).json()
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert 'sandbox title="The message' in page.text
    assert mail.headers["content-security-policy"].startswith("sandbox; default-src 'none'; img-src data:;")
    assert 'src="data:image/png;base64,' in mail.text
    assert whole["attachments"] == [{"filename": "a.pdf", "media_type": "application/pdf", "bytes": 4}]
    assert b"cid:logo" not in mail.content
    assert (await web.get(f"/messages/{kept.id}/raw")).content == kept.raw


async def test_the_list_is_live(sandbox: Sandbox, web: httpx2.AsyncClient) -> None:
    """What is there comes first, what arrives follows; a reader that comes back misses nothing."""
    async with opened("smtp", smtp_settings(sandbox.smtp_port)) as adapter:
        await adapter.send(messages(2))
        seen: list[str] = []
        kept: list[int] = []
        kind = ""
        async with (
            asyncio.timeout(10),
            web.stream("GET", "/events", headers={"last-event-id": "1"}) as stream,
        ):
            async for line in stream.aiter_lines():
                if line.startswith("event: "):
                    kind = line.removeprefix("event: ")
                elif line.startswith("data: ") and kind == "kept":
                    kept.append(int(line[6:]))
                elif line.startswith("data: ") and not kind:
                    seen.append(json.loads(line[6:])["id"])
                    if len(seen) == 1:
                        await adapter.send([MESSAGE])
                elif not line:
                    kind = ""
                if len(kept) == 2:
                    break

    assert seen == [message.id for message in sandbox.store.find()[1:]]
    # The page can say that it lists the latest of more than it lists.
    assert kept == [2, 3]


async def test_a_reader_from_before_a_new_start_begins_anew(
    sandbox: Sandbox, web: httpx2.AsyncClient
) -> None:
    """Numbers are others now: what they saw is forgotten, and nothing is missed."""
    async with opened("smtp", smtp_settings(sandbox.smtp_port)) as adapter:
        await adapter.send(messages(2))
    seen: list[str] = []
    async with (
        asyncio.timeout(10),
        web.stream("GET", "/events", headers={"last-event-id": "0ld_17"}) as stream,
    ):
        async for line in stream.aiter_lines():
            if line.startswith(("event: ", "id: ")):
                seen.append(line)
            if len(seen) == 3:
                break

    run = sandbox.store.run
    assert seen == ["event: cleared", f"id: {run}_1", f"id: {run}_2"]


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.example"}, {"host": "evil.example"}, {"host": "evil.example:80"}]
)
async def test_web_pages_elsewhere_get_nothing(web: httpx2.AsyncClient, headers: dict[str, str]) -> None:
    """Neither by their own origin nor by a name that they point at us."""
    assert (await web.get("/messages", headers=headers)).status_code == 403


async def test_a_taken_port_is_told(sandbox: Sandbox) -> None:
    """With the option that chooses another."""
    with pytest.raises(NotConfiguredError, match="--http-port"):
        await Sandbox(SystemClock(), http_port=sandbox.http_port).start()


async def test_many_messages_at_once(sandbox: Sandbox, web: httpx2.AsyncClient) -> None:
    """None is lost between two servers and four callers."""
    async with opened("smtp", smtp_settings(sandbox.smtp_port)) as adapter:
        sets = await asyncio.gather(*(adapter.send(messages(250)) for _ in range(4)))

    assert all(isinstance(outcome, Accepted) for outcomes in sets for outcome in outcomes)
    ids = {
        outcome.provider_message_id
        for outcomes in sets
        for outcome in outcomes
        if isinstance(outcome, Accepted)
    }
    assert len(ids) == len((await web.get("/messages", timeout=60)).json()["messages"]) == 1000


async def test_it_can_be_protected(tmp_path: Path) -> None:
    """With a certificate it offers STARTTLS, and takes any login behind it."""
    made = make_certificate(tmp_path)
    async with Sandbox(SystemClock(), tls=made.server_context()) as sandbox:
        settings = smtp_settings(
            sandbox.smtp_port,
            security="starttls",
            ca_file=str(made.cert_file),
            username="anybody",
            password_ref="known://p",
        )
        async with opened("smtp", settings, p="hunter2") as adapter:
            outcomes = await adapter.send(messages(20))

        assert [type(outcome) for outcome in outcomes] == [Accepted] * 20
        assert len(sandbox.store) == 20
