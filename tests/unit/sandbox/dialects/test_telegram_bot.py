"""Telegram as the sandbox plays it, and the adapter that takes it for real."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.callback_forms import RawCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.kernel.clock import SystemClock
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.telegram_bot.adapter import KIND, TelegramSettings
from tidings.router.adapters.telegram_bot.callbacks import TelegramForm
from tidings.sandbox.dialects.dialect import InboundText, Trouble
from tidings.sandbox.dialects.telegram_bot import TelegramDialect
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox

TOKEN = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"
TEXT = replace(MESSAGE, channel="telegram", to="5123456789", html=None)
HOOK = SandboxHook(url="http://127.0.0.1:1/hooks/telegram_bot/adcfg_1", secret="a-secret-of-the-hook")
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FORM = TelegramForm()
KEYS = FORM.keys(TelegramSettings(token=TOKEN, webhook_secret=HOOK.secret)) or {}


@asynccontextmanager
async def account(trouble: Trouble | None = None) -> AsyncIterator[Adapter]:
    """A bot whose API is the dialect."""
    dialect = TelegramDialect()

    def handle(request: SandboxRequest) -> SandboxResponse:
        asked = dialect.read(request)
        if isinstance(asked, SandboxResponse):
            return asked
        if trouble is not None:
            return dialect.refused(asked, trouble, retry_after=9)
        return dialect.accepted(asked, "sbx_a_1")

    server = HttpSandbox(handle)
    port = await server.start("127.0.0.1", 0)
    settings = TelegramSettings(api_url=f"http://127.0.0.1:{port}", token=TOKEN)
    adapter = KIND.adapter(settings, AdapterContext(clock=SystemClock()))
    try:
        yield adapter
    finally:
        await adapter.close()
        await server.stop()


async def test_a_message_is_taken_and_answered() -> None:
    """Nothing is told of it; what somebody writes back arrives at the bot that wrote."""
    async with account() as adapter:
        (taken,) = await adapter.send([TEXT])
        checked = await adapter.check()
    assert isinstance(taken, Accepted)
    assert isinstance(checked, Accepted)

    said = InboundText(id="sbi_1", channel="telegram", sender="5123456789", to="123456", text="hello", at=NOW)
    call = TelegramDialect().inbound(said, HOOK, NOW)

    assert call is not None
    headers = {name.lower(): [value] for name, value in call.headers.items()}
    request = RawCallback(headers=headers, body=call.body, received_at=NOW)
    assert await FORM.verify(request, KEYS) == VerifiedCallback()
    (one,) = FORM.read(request, KEYS).inbound
    assert (one.sender, one.to, one.text, one.occurred_at) == ("5123456789", taken.sender, "hello", NOW)
    assert TelegramDialect().receipts([], HOOK, NOW) == ()


def test_two_texts_are_two_messages() -> None:
    """Told again, one is the same."""
    said = InboundText(id="sbi_1", channel="telegram", sender="5123456789", to="123456", text="hello", at=NOW)
    names = []
    for one in (said, replace(said, id="sbi_2"), said):
        call = TelegramDialect().inbound(one, HOOK, NOW)
        assert call is not None
        request = RawCallback(headers={}, body=call.body, received_at=NOW)
        names.append(FORM.read(request, KEYS).inbound[0].vendor_message_id)

    assert names[0] == names[2]
    assert names[0] != names[1]
    assert TelegramDialect().inbound(replace(said, sender="laila"), HOOK, NOW) is None


@pytest.mark.parametrize(
    ("trouble", "kind", "code"),
    [
        ("invalid_recipient", Refused, "400:chat_not_found"),
        ("blocked", Refused, "403"),
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
    ("path", "body", "status"),
    [
        ("/", b"{}", 404),
        ("/botnobody/sendMessage", b"{}", 401),
        (f"/bot{TOKEN}/sendRocket", b"{}", 404),
        (f"/bot{TOKEN}/setWebhook", b"{}", 200),
        (f"/bot{TOKEN}/sendMessage", b"{", 400),
        (f"/bot{TOKEN}/sendMessage", b'{"text":"x"}', 400),
        (f"/bot{TOKEN}/sendMessage", b'{"chat_id":"laila","text":"x"}', 400),
        (f"/bot{TOKEN}/sendMessage", b'{"chat_id":1,"text":" "}', 400),
        (f"/bot{TOKEN}/sendMessage", b'{"chat_id":1,"text":"' + b"x" * 4097 + b'"}', 400),
    ],
)
def test_nonsense_is_answered_as_telegram_would(path: str, body: bytes, status: int) -> None:
    found = TelegramDialect().read(SandboxRequest(method="POST", path=path, query=b"", headers={}, body=body))

    assert isinstance(found, SandboxResponse)
    assert found.status == status
    assert msgspec.json.decode(found.body)["ok"] is (status == 200)
