"""Viber as the sandbox plays it, and the adapter that takes it for real."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.callback_forms import RawCallback, ReadEvent, UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.kernel.clock import SystemClock
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.viber.adapter import KIND, ViberSettings
from tidings.router.adapters.viber.callbacks import ViberForm
from tidings.sandbox.dialects.dialect import InboundText, Trouble, WebhookRequest
from tidings.sandbox.dialects.viber import BOT_ID, ViberDialect
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox
from tidings.sandbox.receipts import SandboxReceipt
from tidings.sandbox.scripts import ScriptedReceipt

TOKEN = "445da6az1s345z78-dazcczb2542zv51a"
TEXT = replace(MESSAGE, channel="viber", to="01234567890A=", html=None)
HOOK = SandboxHook(url="http://127.0.0.1:1/hooks/viber/adcfg_1", secret=TOKEN)
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FORM = ViberForm()
KEYS = {"secret": TOKEN, "bot": BOT_ID}


@asynccontextmanager
async def account(dialect: ViberDialect, trouble: Trouble | None = None) -> AsyncIterator[Adapter]:
    """A bot whose API is the dialect."""

    def handle(request: SandboxRequest) -> SandboxResponse:
        asked = dialect.read(request)
        if isinstance(asked, SandboxResponse):
            return asked
        return (
            dialect.accepted(asked, "sbx_a_1") if trouble is None else dialect.refused(asked, trouble, None)
        )

    server = HttpSandbox(handle)
    port = await server.start("127.0.0.1", 0)
    settings = ViberSettings(api_url=f"http://127.0.0.1:{port}", auth_token=TOKEN, bot_id=BOT_ID)
    adapter = KIND.adapter(settings, AdapterContext(clock=SystemClock()))
    try:
        yield adapter
    finally:
        await adapter.close()
        await server.stop()


def receipt(status: Any, **more: Any) -> SandboxReceipt:
    """One that happened now."""
    return SandboxReceipt(
        id="r",
        message_id="sbx_a_1",
        vendor="viber",
        beat=ScriptedReceipt(status=status, **more),
        planned_at=NOW,
        happened_at=NOW,
    )


def heard(call: WebhookRequest) -> RawCallback:
    """As our hook gets it."""
    headers = {name.lower(): [value] for name, value in call.headers.items()}
    return RawCallback(headers=headers, body=call.body, received_at=NOW)


async def test_a_message_and_all_that_is_told_of_it() -> None:
    """Each in a request of its own; Viber has no word for `sent`."""
    dialect = ViberDialect()
    async with account(dialect) as adapter:
        (taken,) = await adapter.send([TEXT])
        checked = await adapter.check()
    assert isinstance(taken, Accepted)
    assert isinstance(checked, Accepted)

    told = [receipt("sent"), receipt("delivered"), receipt("read"), receipt("failed", reason="gone")]
    calls = dialect.receipts(told, HOOK, NOW)

    assert [list(call.receipts) for call in calls] == [[one] for one in told[1:]]
    events: list[ReadEvent] = []
    for call in calls:
        assert await FORM.verify(heard(call), KEYS) == VerifiedCallback()
        events += FORM.read(heard(call), KEYS).events
    assert {event.vendor_message_id for event in events} == {taken.provider_message_id}
    assert {event.occurred_at for event in events} == {NOW}
    assert [(event.word, event.status) for event in events] == [
        ("delivered", "delivered"),
        ("seen", "delivered_read"),
        ("failed", "failed_perm"),
    ]
    assert b'"user_id":"01234567890A="' in calls[0].body


async def test_a_forged_callback_is_refused() -> None:
    (call,) = ViberDialect().receipts([receipt("delivered", forged=True)], HOOK, NOW)

    found = await FORM.verify(heard(call), KEYS)
    assert isinstance(found, UnverifiedCallback)
    assert found.code == "mismatch"


async def test_what_somebody_writes_back() -> None:
    said = InboundText(id="sbi_1", channel="viber", sender="01234567890A=", to=BOT_ID, text="hello", at=NOW)

    call = ViberDialect().inbound(said, HOOK, NOW)

    assert call is not None
    assert await FORM.verify(heard(call), KEYS) == VerifiedCallback()
    (one,) = FORM.read(heard(call), KEYS).inbound
    assert (one.sender, one.to, one.text, one.occurred_at) == ("01234567890A=", BOT_ID, "hello", NOW)


@pytest.mark.parametrize(
    ("trouble", "kind", "code"),
    [
        ("invalid_recipient", Refused, "5"),
        ("blocked", Refused, "6"),
        ("throttled", TryLater, "12"),
        ("unavailable", TryLater, "503"),
        ("unauthorised", TryLater, "2"),
    ],
)
async def test_every_trouble_is_understood(trouble: Trouble, kind: type[Outcome], code: str) -> None:
    async with account(ViberDialect(), trouble) as adapter:
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind
    assert getattr(outcome, "code", "") == code


@pytest.mark.parametrize(
    ("path", "token", "body", "status"),
    [
        ("/pa/send_message", "", b"{}", 2),
        ("/pa/post", TOKEN, b"{}", 3),
        ("/pa/set_webhook", TOKEN, b'{"url":"https://x.example"}', 0),
        ("/pa/send_message", TOKEN, b"{", 3),
        ("/pa/send_message", TOKEN, b'{"receiver":"x","text":"y"}', 4),
        ("/pa/send_message", TOKEN, b'{"receiver":"x","sender":{"name":"z"},"text":""}', 3),
    ],
)
def test_nonsense_is_answered_as_viber_would(path: str, token: str, body: bytes, status: int) -> None:
    headers = {"x-viber-auth-token": token}
    found = ViberDialect().read(
        SandboxRequest(method="POST", path=path, query=b"", headers=headers, body=body)
    )

    assert isinstance(found, SandboxResponse)
    assert msgspec.json.decode(found.body)["status"] == status
