"""FCM as the sandbox plays it, and the adapter that takes it for real."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import msgspec
import pytest

from tests.support.push import service_account
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.kernel.clock import SystemClock
from tidings.router.adapters.fcm.adapter import KIND, FcmAdapter, FcmSettings
from tidings.router.adapters.kind import AdapterContext
from tidings.sandbox.dialects.dialect import InboundText, Trouble
from tidings.sandbox.dialects.fcm import FcmDialect
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox

TEXT = replace(MESSAGE, channel="push", to="bk3RNwTe3H0:CI2k", html=None, metadata={"order": 17})
SEND = "/v1/projects/green-shop/messages:send"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOOK = SandboxHook(url="http://127.0.0.1:1/hooks/fcm/adcfg_1", secret="secret")


@asynccontextmanager
async def account(trouble: Trouble | None = None) -> AsyncIterator[FcmAdapter]:
    """A project whose API is the dialect."""
    dialect = FcmDialect()

    def handle(request: SandboxRequest) -> SandboxResponse:
        asked = dialect.read(request)
        if isinstance(asked, SandboxResponse):
            return asked
        if trouble is not None:
            return dialect.refused(asked, trouble, retry_after=9 if trouble == "throttled" else None)
        assert (asked.to, asked.sender, asked.text) == ((TEXT.to,), "green-shop", TEXT.text)
        return dialect.accepted(asked, "sbx_a_1")

    server = HttpSandbox(handle)
    port = await server.start("127.0.0.1", 0)
    place = f"http://127.0.0.1:{port}"
    settings = msgspec.convert(service_account(api_url=place, token_uri=f"{place}/token"), FcmSettings)
    adapter = KIND.adapter(settings, AdapterContext(clock=SystemClock()))
    assert isinstance(adapter, FcmAdapter)
    try:
        yield adapter
    finally:
        await adapter.close()
        await server.stop()


async def test_a_message_is_taken() -> None:
    """With a token that the dialect gave; a dry call is not sent, and nothing is told later."""
    async with account() as adapter:
        checked = await adapter.check()
        dry = await adapter.dry_call(TEXT)
        (taken,) = await adapter.send([TEXT])

    assert checked == Accepted()
    assert dry == Accepted(provider_message_id="fake_message_id")
    assert taken == Accepted(provider_message_id="0:sbx_a_1")
    said = InboundText(id="sbi_1", channel="push", sender="x", to="y", text="hello", at=NOW)
    assert FcmDialect().receipts([], HOOK, NOW) == ()
    assert FcmDialect().inbound(said, HOOK, NOW) is None


@pytest.mark.parametrize(
    ("trouble", "kind", "code"),
    [
        ("invalid_recipient", Refused, "UNREGISTERED"),
        ("blocked", Refused, "SENDER_ID_MISMATCH"),
        ("throttled", TryLater, "QUOTA_EXCEEDED"),
        ("unavailable", TryLater, "UNAVAILABLE"),
        ("unauthorised", TryLater, "UNAUTHENTICATED"),
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
        ("/v1/projects/green-shop", b"{}", 404),
        ("/token", b"", 400),
        ("/token", urlencode({"grant_type": "x", "assertion": "e30.e30.e30"}).encode(), 400),
        ("/token", b"assertion=a.b", 400),
        ("/token", b"\xff=\xff", 400),
        (SEND, b"{", 400),
        (SEND, b"{}", 400),
        (SEND, b'{"message":{"notification":{"body":"x"}}}', 400),
        (SEND, b'{"message":{"token":"x","data":{"a":1}}}', 400),
        (SEND, b'{"message":{"token":"x","notification":{"body":"' + b"x" * 4096 + b'"}}}', 400),
    ],
)
def test_nonsense_is_answered_as_google_would(path: str, body: bytes, status: int) -> None:
    headers = {"authorization": "Bearer ya29.x"}
    found = FcmDialect().read(SandboxRequest(method="POST", path=path, query=b"", headers=headers, body=body))

    assert isinstance(found, SandboxResponse)
    assert found.status == status
    assert "error" in msgspec.json.decode(found.body)


def test_who_does_not_say_who_they_are_is_not_heard() -> None:
    found = FcmDialect().read(SandboxRequest(method="POST", path=SEND, query=b"", headers={}, body=b"{}"))

    assert isinstance(found, SandboxResponse)
    assert found.status == 401
