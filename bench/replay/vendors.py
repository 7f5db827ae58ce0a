"""The vendors' side: takes messages under names of its own, and says in each vendor's form and under its signature what
becomes of them."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlsplit

from bench.replay.history import OWN_ACCOUNTS, STEPS, History, Message, Request, Said
from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.callbacks import ReceiptWord
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome
from tidings.kernel.clock import Clock
from tidings.kernel.ids import TenantId
from tidings.kernel.signed_webhooks.signature import signed_headers
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.whatsapp_cloud.callbacks import message_name
from tidings.router.callbacks.receive_callback import HookCall
from tidings.sandbox.dialects import dialect
from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, WebhookRequest
from tidings.sandbox.dialects.sendgrid import SendgridDialect, verification_key
from tidings.sandbox.dialects.twilio import TwilioDialect
from tidings.sandbox.dialects.whatsapp_cloud import WhatsAppDialect
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxResponse
from tidings.sandbox.receipts import SandboxReceipt
from tidings.sandbox.scripts import ScriptedReceipt

PUBLIC_URL: Final = "https://tidings.example"
SECRETS: Final[Mapping[str, str]] = {
    "http": "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ=",
    "sendgrid": "what the key is made of",
    "twilio": "5a" * 16,
    "whatsapp_cloud": "the-secret-of-an-app",
}
#: What an account's settings hold.
SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "http": {
        "url": "https://vendor.example/send",
        "message_id_path": "id",
        "receipts": True,
        "callback_secret": SECRETS["http"],
    },
    "sendgrid": {"api_key": "SG.bench", "webhook_public_key": verification_key(SECRETS["sendgrid"])},
    "twilio": {
        "account_sid": "AC" + "5a" * 16,
        "auth_token": SECRETS["twilio"],
        "sms_from": "+4915100000000",
    },
    "whatsapp_cloud": {
        "phone_number_id": "106540352242922",
        "access_token": "bench-of-callbacks",
        "app_secret": SECRETS["whatsapp_cloud"],
    },
}


def number_of(person: int) -> str:
    """Somebody's telephone number."""
    return f"+49151{20_000_000 + person}"


class VendorsSide:
    """All vendors of one run."""

    def __init__(self, run: str, history: History, *, begun_at: datetime, clock: Clock) -> None:
        """`run` stands in all names, so that two runs over one database have nothing in common."""
        self._run = run
        self._begun_at = begun_at
        self._clock = clock
        self._dialects: dict[str, Dialect] = {
            one.name: one for one in (SendgridDialect(), TwilioDialect(), WhatsAppDialect())
        }
        self._messages = history.messages
        #: Vendor and tenant, -1 for the platform → account.
        self.accounts: dict[tuple[str, int], str] = {}
        #: A vendor's name for a message → its number and its step.
        self.known: dict[str, tuple[int, int]] = {}
        #: What somebody wrote, by the vendor's name for it.
        self.written: dict[str, int] = {}

    def take(self, message: Message, channel: str) -> str:
        """The vendor's name for a message that it takes."""
        places = [place for place, (one, _) in enumerate(STEPS[message.kind]) if one == channel]
        step = places[0] + 1
        vendor = STEPS[message.kind][step - 1][1]
        name = self._name(message, step)
        if vendor in self._dialects:
            asked = SubmittedMessage(
                channel=channel, sender="+4915100000000", to=(number_of(message.person),)
            )
            name = _name_in(vendor, self._dialects[vendor].accepted(asked, name))
        self.known[name] = (message.number, step)
        return name

    def call(self, request: Request) -> tuple[str, str, HookCall]:
        """The vendor, its account and the request, signed now."""
        tenant = request.messages[0].tenant
        account = self.accounts[request.vendor, tenant if request.vendor in OWN_ACCOUNTS else -1]
        hook = SandboxHook(
            url=f"{PUBLIC_URL}/hooks/{request.vendor}/{account}", secret=SECRETS[request.vendor]
        )
        made = self._generic(request, hook) if request.vendor == "http" else self._own(request, hook)
        return request.vendor, account, _hook_call(made)

    def _own(self, request: Request, hook: SandboxHook) -> WebhookRequest:
        speaks, now = self._dialects[request.vendor], self._clock.now()
        if request.wrote is None:
            [call] = speaks.receipts([self._receipt(one) for one in request.said], hook, now)
            return call
        message = request.wrote.message
        name = f"{self._run}-written-{message.number}"
        wrote = dialect.InboundText(
            id=name,
            channel="sms" if request.vendor == "twilio" else "whatsapp",
            sender=number_of(message.person),
            to="+4915100000000" if request.vendor == "twilio" else "106540352242922",
            text=f"Thank you for number {message.number}",
            at=self._begun_at + request.wrote.at,
        )
        answered = speaks.inbound(wrote, hook, now)
        if answered is None:
            raise AssertionError(f"nobody writes by way of {request.vendor}")
        self.written[_written_in(request.vendor, answered.body)] = message.number
        return answered

    def _receipt(self, said: Said) -> SandboxReceipt:
        at = self._begun_at + said.at
        return SandboxReceipt(
            id=f"{said.message.number}-{said.step}-{said.serial}",
            message_id=self._name(said.message, said.step),
            vendor=said.vendor,
            beat=ScriptedReceipt(status=cast("ReceiptWord", said.word), code=said.code),
            planned_at=at,
            happened_at=at,
        )

    def _generic(self, request: Request, hook: SandboxHook) -> WebhookRequest:
        body = json.dumps({"events": [self._event(one) for one in request.said]}).encode()
        signed = signed_headers(
            hook.secret,
            webhook_id=f"{self._run}-{request.number}",
            timestamp=int(self._clock.now().timestamp()),
            body=body,
        )
        return WebhookRequest(url=hook.url, headers={**signed, "content-type": "application/json"}, body=body)

    def _event(self, said: Said) -> dict[str, Any]:
        event: dict[str, Any] = {
            "id": f"{said.serial}",
            "message_id": self._name(said.message, said.step),
            "status": said.word,
            "occurred_at": (self._begun_at + said.at).isoformat(),
        }
        if said.code is not None:
            event["code"] = said.code
        if said.micros is not None:
            event["cost"] = {"micros": said.micros, "currency": "USD"}
        return event

    def _name(self, message: Message, step: int) -> str:
        return f"{self._run}-{message.number}-{step}"


class PlayedAdapters:
    """As `OpenAdapters`: every account leads to vendors in this process, that take everything at once and tell later."""

    def __init__(self, side: VendorsSide, message_of: Callable[[str], Message]) -> None:
        """`message_of` knows a message by the id of its notification."""
        self._side = side
        self._message_of = message_of

    @asynccontextmanager
    async def borrow(self, account: StoredAccount, tenant_id: TenantId) -> AsyncIterator[Adapter]:  # noqa: ARG002
        """One vendor."""
        yield _Takes(account.vendor, self._side, self._message_of)

    async def fixed_senders(self, account: StoredAccount, tenant_id: TenantId) -> dict[str, str]:  # noqa: ARG002
        """None."""
        return {}

    def doubt(self, account_id: str) -> None:
        """Never."""


class _Takes:
    channels = frozenset({"email", "sms", "whatsapp"})
    capabilities = Capabilities(receipts=True)
    longest_send = timedelta(seconds=30)

    def __init__(self, name: str, side: VendorsSide, message_of: Callable[[str], Message]) -> None:
        self.name = name
        self._side = side
        self._message_of = message_of

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,  # noqa: ARG002
        learned: list[Outcome] | None = None,  # noqa: ARG002
    ) -> Sequence[Outcome]:
        return [
            Accepted(provider_message_id=self._side.take(self._message_of(one.message_id), one.channel))
            for one in messages
        ]

    async def check(self) -> Outcome | None:
        return None

    async def close(self) -> None:
        pass


def _name_in(vendor: str, answer: SandboxResponse) -> str:
    """The name that the vendor answers with."""
    match vendor:
        case "sendgrid":
            return answer.headers["x-message-id"]
        case "twilio":
            return str(json.loads(answer.body)["sid"])
        case _:
            # As its adapter calls it.
            return message_name(json.loads(answer.body)["messages"][0]["id"])


def _written_in(vendor: str, body: bytes) -> str:
    """The vendor's name for what somebody wrote."""
    if vendor == "twilio":
        return dict(parse_qsl(body.decode()))["MessageSid"]
    return message_name(json.loads(body)["entry"][0]["changes"][0]["value"]["messages"][0]["id"])


def _hook_call(call: WebhookRequest) -> HookCall:
    return HookCall(
        method=call.method,
        path=urlsplit(call.url).path,
        headers={name.lower(): [value] for name, value in call.headers.items()},
        read_body=_whole(call.body),
    )


def _whole(body: bytes) -> Callable[[], Awaitable[bytes]]:
    async def read() -> bytes:
        return body

    return read
