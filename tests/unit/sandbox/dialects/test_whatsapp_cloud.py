"""Meta as the sandbox plays it, and the adapter that takes it for real."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.callback_forms import RawCallback, UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater
from tidings.contracts.vendor_templates import TemplateButton, VendorTemplate
from tidings.kernel.clock import SystemClock
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.whatsapp_cloud.adapter import KIND, WhatsAppSettings
from tidings.router.adapters.whatsapp_cloud.callbacks import WhatsAppForm
from tidings.sandbox.dialects.dialect import InboundText, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.whatsapp_cloud import WhatsAppDialect
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox
from tidings.sandbox.receipts import SandboxReceipt
from tidings.sandbox.scripts import ScriptedReceipt

NUMBER = "106540352242922"
TEXT = replace(MESSAGE, channel="whatsapp", to="+93701234567", html=None)
HOOK = SandboxHook(url="http://127.0.0.1:1/hooks/whatsapp_cloud/adcfg_1", secret="app-secret")
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FORM = WhatsAppForm()
KEYS = {"secret": "app-secret", "verify_token": ""}
ASKED = SubmittedMessage(channel="whatsapp", sender=NUMBER, to=("+93701234567",))


@asynccontextmanager
async def account(dialect: WhatsAppDialect, trouble: Trouble | None = None) -> AsyncIterator[Adapter]:
    """An account whose API is the dialect."""

    def handle(request: SandboxRequest) -> SandboxResponse:
        asked = dialect.read(request)
        if isinstance(asked, SandboxResponse):
            return asked
        return (
            dialect.accepted(asked, "sbx_a_1") if trouble is None else dialect.refused(asked, trouble, None)
        )

    server = HttpSandbox(handle)
    port = await server.start("127.0.0.1", 0)
    settings = WhatsAppSettings(
        api_url=f"http://127.0.0.1:{port}/v24.0", phone_number_id=NUMBER, access_token="EAAJB-token"
    )
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
        vendor="whatsapp_cloud",
        beat=ScriptedReceipt(status=status, **more),
        planned_at=NOW,
        happened_at=NOW,
    )


def heard(call: WebhookRequest) -> RawCallback:
    """As our hook gets it."""
    headers = {name.lower(): [value] for name, value in call.headers.items()}
    return RawCallback(method=call.method, url=call.url, headers=headers, body=call.body, received_at=NOW)


async def test_a_message_and_all_that_is_told_of_it() -> None:
    """Texts and templates are taken; statuses have the id of the answer and come in one request."""
    dialect = WhatsAppDialect()
    async with account(dialect) as adapter:
        (taken,) = await adapter.send([TEXT])
        checked = await adapter.check()
    assert isinstance(taken, Accepted)
    assert isinstance(checked, Accepted)

    calls = dialect.receipts(
        [
            receipt("accepted"),
            receipt("sent"),
            receipt("read"),
            receipt("rejected", reason="no"),
            receipt("failed", code="131049"),
        ],
        HOOK,
        NOW,
    )

    (call,) = calls
    assert [one.beat.status for one in call.receipts] == ["sent", "read", "rejected", "failed"]
    assert await FORM.verify(heard(call), KEYS) == VerifiedCallback()
    events = FORM.read(heard(call), KEYS).events
    assert {event.vendor_message_id for event in events} == {taken.provider_message_id}
    assert {event.occurred_at for event in events} == {NOW}
    assert [(event.word, event.status, event.details and event.details.code) for event in events] == [
        ("sent", "sent", None),
        ("read", "delivered_read", None),
        ("failed", "rejected_by_recipient", "131026"),
        ("failed", "rejected_by_provider", "131049"),
    ]
    assert b'"recipient_id":"93701234567"' in call.body


async def test_a_forged_status_goes_by_itself_and_is_refused() -> None:
    forged, real = WhatsAppDialect().receipts([receipt("delivered", forged=True), receipt("sent")], HOOK, NOW)

    found = await FORM.verify(heard(forged), KEYS)
    assert isinstance(found, UnverifiedCallback)
    assert found.code == "mismatch"
    assert await FORM.verify(heard(real), KEYS) == VerifiedCallback()


async def test_what_somebody_writes_back() -> None:
    said = InboundText(
        id="sbi_1", channel="whatsapp", sender="+93701234567", to=NUMBER, text="dakatar", at=NOW
    )

    call = WhatsAppDialect().inbound(said, HOOK, NOW)

    assert call is not None
    assert await FORM.verify(heard(call), KEYS) == VerifiedCallback()
    (one,) = FORM.read(heard(call), KEYS).inbound
    assert (one.sender, one.to, one.text, one.occurred_at) == ("+93701234567", NUMBER, "dakatar", NOW)


@pytest.mark.parametrize(
    ("trouble", "kind", "code"),
    [
        ("invalid_recipient", Refused, "131026"),
        ("blocked", Refused, "131050"),
        ("throttled", TryLater, "130429"),
        ("unavailable", TryLater, "131016"),
        ("unauthorised", TryLater, "190"),
    ],
)
async def test_every_trouble_is_understood(trouble: Trouble, kind: type[Outcome], code: str) -> None:
    async with account(WhatsAppDialect(), trouble) as adapter:
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind
    assert getattr(outcome, "code", "") == code


def asked(
    body: object, *, path: str = f"/v24.0/{NUMBER}/messages", **headers: str
) -> SubmittedMessage | SandboxResponse:
    """What the dialect makes of a request."""
    given = {"authorization": "Bearer EAAJB", **headers}
    content = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return WhatsAppDialect().read(
        SandboxRequest(method="POST", path=path, query=b"", headers=given, body=content)
    )


def test_a_template_is_shown_with_what_is_filled_in() -> None:
    template = VendorTemplate(name="order_ready", language="en_US", parameters=("Laila", "two"))
    components = [{"type": "body", "parameters": [{"type": "text", "text": p} for p in template.parameters]}]
    found = asked(
        {
            "messaging_product": "whatsapp",
            "to": "93701234567",
            "type": "template",
            "template": {"name": template.name, "components": components},
        }
    )

    assert isinstance(found, SubmittedMessage)
    assert (found.sender, found.to, found.text) == (NUMBER, ("+93701234567",), "[order_ready] · Laila · two")


CODE = VendorTemplate(name="otp", language="en", otp_button="123456")


@pytest.mark.parametrize(
    ("template", "code"),
    [
        (CODE, None),
        (replace(CODE, language="prs_AF"), None),
        # As a reference without a button was sent: the code stands in the body alone.
        (VendorTemplate(name="otp", language="en", parameters=("123456",)), "131008"),
        (VendorTemplate(name="otp", language="en", parameters=("123456", "10")), "132000"),
        (VendorTemplate(name="anything", language="en", parameters=("1", "2", "3")), None),
    ],
)
async def test_an_authentication_template_needs_its_button(
    template: VendorTemplate, code: str | None
) -> None:
    """`otp` is registered from the start, and filled as Meta wants it or refused as Meta refuses it."""
    async with account(WhatsAppDialect()) as adapter:
        (outcome,) = await adapter.send([replace(TEXT, template=template)])

    assert getattr(outcome, "code", None) == code
    assert isinstance(outcome, Accepted if code is None else Refused)


READY = VendorTemplate(
    name="order_ready",
    language="en",
    named_parameters={"name": "Laila"},
    buttons=(
        TemplateButton(type="url", index=1, text="1"),
        TemplateButton(type="copy_code", index=2, text="25OFF"),
    ),
)


@pytest.mark.parametrize(
    ("template", "code"),
    [
        (READY, None),
        (replace(READY, buttons=READY.buttons[:1]), "131008"),
        (replace(READY, named_parameters={}), "132000"),
        (replace(READY, named_parameters={}, parameters=("Laila",)), "100"),
        (replace(READY, language="fr"), "132001"),
    ],
)
async def test_a_registered_template_is_filled_as_it_was_registered(
    template: VendorTemplate, code: str | None
) -> None:
    dialect = WhatsAppDialect()
    buttons = [
        {"type": "QUICK_REPLY", "text": "Stop"},
        {"type": "URL", "text": "See", "url": "https://shop.example/{{1}}"},
        {"type": "COPY_CODE", "example": "25OFF"},
    ]
    registered = {
        "name": "order_ready",
        "language": "en",
        "category": "UTILITY",
        "components": [
            {"type": "BODY", "text": "Hello {{name}}, it is ready."},
            {"type": "BUTTONS", "buttons": buttons},
        ],
    }
    answer = dialect.read(
        SandboxRequest(
            method="POST",
            path="/v24.0/102290129340398/message_templates",
            query=b"",
            headers={"authorization": "Bearer EAAJB"},
            body=msgspec.json.encode(registered),
        )
    )
    async with account(dialect) as adapter:
        (outcome,) = await adapter.send([replace(TEXT, template=template)])

    assert isinstance(answer, SandboxResponse)
    assert answer.status == 200
    assert getattr(outcome, "code", None) == code


@pytest.mark.parametrize(("text", "code"), [("", 131008), ("a\nb", 132018), ("a     b", 132018)])
def test_a_value_that_meta_refuses_is_refused(text: str, code: int) -> None:
    components = [{"type": "body", "parameters": [{"type": "text", "text": text}]}]
    body = {
        "messaging_product": "whatsapp",
        "to": "1",
        "type": "template",
        "template": {"name": "x", "components": components},
    }
    found = asked(body)

    assert isinstance(found, SandboxResponse)
    assert msgspec.json.decode(found.body)["error"]["code"] == code


@pytest.mark.parametrize(
    ("body", "more", "status", "code"),
    [
        (b"{", {}, 400, 100),
        ({"to": "1"}, {}, 400, 100),
        ({"messaging_product": "whatsapp", "to": "1", "type": "text"}, {}, 400, 131008),
        ({}, {"path": "/v24.0/me"}, 400, 100),
        ({}, {"authorization": ""}, 401, 190),
    ],
)
def test_nonsense_is_answered_as_meta_would(
    body: object, more: dict[str, str], status: int, code: int
) -> None:
    found = asked(body, **more)

    assert isinstance(found, SandboxResponse)
    assert (found.status, msgspec.json.decode(found.body)["error"]["code"]) == (status, code)
