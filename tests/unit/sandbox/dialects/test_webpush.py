"""A push service as the sandbox plays it, and the adapter that takes it for real."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tests.support.clock import ManualClock
from tests.support.push import encode64, vapid_key
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.webpush.adapter import KIND, WebPushSettings
from tidings.router.adapters.webpush.vapid import Vapid, read_vapid_key
from tidings.sandbox.dialects.dialect import InboundText, SubmittedMessage, Trouble
from tidings.sandbox.dialects.webpush import WebPushDialect, subscription
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox

BROWSER = subscription("https://push.sandbox.test/browser/laila")
TEXT = replace(MESSAGE, channel="push", to=msgspec.json.encode(BROWSER).decode(), html=None)
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOOK = SandboxHook(url="http://127.0.0.1:1/hooks/webpush/adcfg_1", secret="secret")


@asynccontextmanager
async def account(
    trouble: Trouble | None = None, taken: list[SubmittedMessage] | None = None
) -> AsyncIterator[Adapter]:
    """A sender whose push services are the dialect."""
    clock = ManualClock(NOW)
    dialect = WebPushDialect(clock)

    def handle(request: SandboxRequest) -> SandboxResponse:
        asked = dialect.read(request)
        if isinstance(asked, SandboxResponse):
            return asked
        if taken is not None:
            taken.append(asked)
        if trouble is not None:
            return dialect.refused(asked, trouble, retry_after=9 if trouble == "throttled" else None)
        return dialect.accepted(asked, "sbx_a_1")

    server = HttpSandbox(handle)
    port = await server.start("127.0.0.1", 0)
    settings = WebPushSettings(
        api_url=f"http://127.0.0.1:{port}",
        vapid_private_key=vapid_key()[0],
        subject="mailto:push@shop.example",
    )
    adapter = KIND.adapter(settings, AdapterContext(clock=clock))
    try:
        yield adapter
    finally:
        await adapter.close()
        await server.stop()


async def test_a_message_is_taken_and_opened() -> None:
    """The one browser of the sandbox can read it; what is for another is taken unread."""
    other = {**BROWSER["keys"], "auth": encode64(b"x" * 16)}
    strange = msgspec.json.encode({**BROWSER, "keys": other}).decode()
    taken: list[SubmittedMessage] = []
    async with account(taken=taken) as adapter:
        outcomes = [(await adapter.send([replace(TEXT, to=to)]))[0] for to in (TEXT.to, strange)]

    assert outcomes == [Accepted(provider_message_id="sbx_a_1")] * 2
    assert [asked.text for asked in taken] == [TEXT.text, "(encrypted for a browser that is not here)"]
    assert (taken[0].subject, taken[1].subject) == (TEXT.subject, None)
    assert (taken[0].to, taken[0].sender) == (("/browser/laila",), "mailto:push@shop.example")
    said = InboundText(id="sbi_1", channel="push", sender="x", to="y", text="hello", at=NOW)
    assert WebPushDialect().receipts([], HOOK, NOW) == ()
    assert WebPushDialect().inbound(said, HOOK, NOW) is None


@pytest.mark.parametrize(
    ("trouble", "kind", "code"),
    [
        ("invalid_recipient", Refused, "404"),
        ("blocked", Refused, "410"),
        ("throttled", TryLater, "429"),
        ("unavailable", TryLater, "503"),
        ("unauthorised", TryLater, "401"),
    ],
)
async def test_every_trouble_is_understood(trouble: Trouble, kind: type[Outcome], code: str) -> None:
    async with account(trouble) as adapter:
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind
    assert getattr(outcome, "code", "") == code
    assert getattr(outcome, "after", None) == (timedelta(seconds=9) if trouble == "throttled" else None)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 201),
        ({"ttl": None}, 400),
        ({"ttl": "soon"}, 400),
        ({"content-encoding": "aesgcm"}, 400),
        ({"authorization": None}, 401),
        ({"authorization": "WebPush eyJ0"}, 401),
        ({"authorization": "vapid t=a.b.c, k=BCVx"}, 401),
    ],
)
def test_what_a_push_service_asks_for_has_to_be_there(change: dict[str, str | None], status: int) -> None:
    found = WebPushDialect(ManualClock(NOW)).read(_request(NOW, change))

    assert (201 if isinstance(found, SubmittedMessage) else found.status) == status


@pytest.mark.parametrize("off", [timedelta(hours=12, seconds=1), -timedelta(hours=12, seconds=1)])
def test_a_token_of_another_time_is_none(off: timedelta) -> None:
    """It is over, or lasts longer than a day."""
    found = WebPushDialect(ManualClock(NOW + off)).read(_request(NOW, {}))

    assert isinstance(found, SandboxResponse)
    assert found.status == 401


def test_one_letter_changed_and_nobody_signed() -> None:
    request = _request(NOW, {})
    header = request.headers["authorization"]
    place = header.index(",") - 10
    other = "A" if header[place] != "A" else "B"
    changed = {**request.headers, "authorization": header[:place] + other + header[place + 1 :]}

    found = WebPushDialect(ManualClock(NOW)).read(replace(request, headers=changed))

    assert isinstance(found, SandboxResponse)
    assert found.status == 401


def test_too_much_is_too_much() -> None:
    found = WebPushDialect(ManualClock(NOW)).read(replace(_request(NOW, {}), body=b"x" * 4097))

    assert isinstance(found, SandboxResponse)
    assert found.status == 413


def _request(now: datetime, change: dict[str, str | None]) -> SandboxRequest:
    vapid = Vapid(read_vapid_key(vapid_key()[0], "key"), "mailto:push@shop.example", clock=ManualClock(now))
    headers: dict[str, str | None] = {
        "authorization": vapid.authorization("https://push.sandbox.test"),
        "ttl": "60",
        "content-encoding": "aes128gcm",
        **change,
    }
    kept = {name: value for name, value in headers.items() if value is not None}
    return SandboxRequest(method="POST", path="/browser/laila", query=b"", headers=kept, body=b"x" * 200)
