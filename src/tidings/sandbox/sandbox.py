"""The whole stand-in: its servers on loopback, one memory, one set of faults and scripts."""

import ssl
from typing import Any, Protocol, Self

from tidings.kernel.clock import Clock
from tidings.kernel.errors import NotConfiguredError
from tidings.sandbox.apns_server import ApnsSandbox
from tidings.sandbox.dialects.registry import DIALECTS
from tidings.sandbox.faults import Faults
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse
from tidings.sandbox.http_server import HttpSandbox
from tidings.sandbox.inbound_replies import InboundReplies
from tidings.sandbox.page import Site
from tidings.sandbox.property.changes import ChangeTeller
from tidings.sandbox.property.site import SEED, PropertySite
from tidings.sandbox.receipt_format import ReceiptFormat
from tidings.sandbox.receipt_sender import ReceiptSender
from tidings.sandbox.receipts import ReceiptLog
from tidings.sandbox.receiver_site import ReceiverSite
from tidings.sandbox.scripts import ReceiptScripts
from tidings.sandbox.shop import Shop
from tidings.sandbox.smpp_server import SmppSandbox
from tidings.sandbox.smtp_server import SmtpSandbox
from tidings.sandbox.store import MOST_BYTES, MOST_MESSAGES, Store
from tidings.sandbox.tenant_api import TenantAccess, TenantApi
from tidings.sandbox.webhook_calls import WebhookCalls
from tidings.sandbox.webhook_client import Post, WebhookClient


class _Server(Protocol):
    async def start(self, host: str, port: int) -> int: ...

    async def stop(self) -> None: ...


class Sandbox:
    """`async with Sandbox(clock) as sandbox:` listens on four free ports until the end of the block."""

    def __init__(
        self,
        clock: Clock,
        *,
        host: str = "127.0.0.1",
        smtp_port: int = 0,
        http_port: int = 0,
        smpp_port: int = 0,
        apns_port: int = 0,
        most_messages: int = MOST_MESSAGES,
        most_bytes: int = MOST_BYTES,
        tls: ssl.SSLContext | None = None,
        seed: int | None = None,
        post: Post | None = None,
        options: tuple[str, str, str, str] = ("--smtp-port", "--http-port", "--smpp-port", "--apns-port"),
    ) -> None:
        """`post` sends receipts, over HTTP where it is None; `options` are the names of the settings that choose the ports, for errors."""
        self.store = Store(clock, most_messages=most_messages, most_bytes=most_bytes)
        self.faults = Faults(clock, seed=seed)
        self.scripts = ReceiptScripts()
        wording, carrier = ReceiptFormat(DIALECTS), WebhookClient(post)
        #: Everything about receipts: where they go, what is planned, when all that was due is through.
        self.postman = ReceiptSender(
            clock,
            run=self.store.run,
            ledger=ReceiptLog(most=most_messages),
            wording=wording,
            carrier=carrier,
            changed=self.store.ring,
        )
        self.host = host
        #: Where it listens; those that were asked for until it is started.
        self.smtp_port = smtp_port
        self.http_port = http_port
        self.smpp_port = smpp_port
        self.apns_port = apns_port
        self._options = options
        self._smtp = SmtpSandbox(self.store, self.faults, tls=tls)
        self._smpp = SmppSandbox(
            self.store, self.faults, self.scripts, ledger=self.postman.ledger, clock=clock
        )
        replies = InboundReplies(
            clock,
            run=self.store.run,
            hooks=self.postman.hooks,
            wording=wording,
            carrier=carrier,
            voices={"smpp": self._smpp},
        )
        #: How a tenant's own services call Tidings: the shop, and receivers that make their webhooks; closed until it is told of one.
        self.api = TenantApi()
        self._shop = Shop(self.api)
        #: What receivers of webhooks have heard.
        self.webhooks = WebhookCalls(clock)
        self._receivers = ReceiverSite(self.webhooks, self.faults, self.api, address=lambda: self.url)
        self._site = Site(
            self.store, self.faults, self.scripts, self.postman, wording=wording, replies=replies
        )
        #: The upstream services of the back office.
        self.property = PropertySite(clock, self.faults, seed=SEED if seed is None else seed)
        self._teller = ChangeTeller(self.property, clock, self._send_events)
        self._http = HttpSandbox(self._answer)
        self._apns = ApnsSandbox(self._site.handle)

    @property
    def url(self) -> str:
        """Of the page, and of everything under it."""
        return self._address(self.http_port)

    def _answer(self, request: SandboxRequest) -> SandboxResponse:
        first, *more = request.path.strip("/").split("/")
        match first:
            case "inbox":
                return self._shop.handle(request, more)
            case "receiver" | "receivers":
                return self._receivers.handle(request, first, more)
            case "property":
                return self.property.handle(request, more)
        return self._site.handle(request)

    async def _send_events(self, events: list[dict[str, Any]]) -> int:
        status, _ = await self.api.ask("POST", "/api/v1/events/batch", {"events": events})
        return status

    def open_api(self, access: TenantAccess) -> None:
        """Call this Tidings from now on: the shop and the receivers do, and it is told what changes in the houses."""
        self.api.open(access)
        self._teller.start()

    @property
    def property_url(self) -> str:
        """Of the upstream services, as `TIDINGS_UPSTREAM_URL` takes it."""
        return f"{self.url}/property"

    @property
    def receiver_url(self) -> str:
        """Of the receiver of webhooks that the demo begins with."""
        return f"{self.url}/receiver/demo"

    @property
    def apns_url(self) -> str:
        """Of the place where Apple is played, as the `api_url` of an account."""
        return self._address(self.apns_port)

    def _address(self, port: int) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}"

    async def start(self) -> None:
        """Listen; a `NotConfiguredError` says which port is taken."""
        smtp, http, smpp, apns = self._options
        try:
            self.smtp_port = await self._listen(self._smtp, self.smtp_port, smtp)
            self.http_port = await self._listen(self._http, self.http_port, http)
            self.smpp_port = await self._listen(self._smpp, self.smpp_port, smpp)
            self.apns_port = await self._listen(self._apns, self.apns_port, apns)
        except NotConfiguredError:
            await self._stop_listening()
            raise
        self.postman.start()

    async def _listen(self, server: _Server, port: int, option: str) -> int:
        try:
            return await server.start(self.host, port)
        except OSError as error:
            raise NotConfiguredError(
                f"the sandbox can't listen on {self.host}:{port} ({error.strerror or 'in use'}); "
                f"stop what uses it, or choose another with {option}"
            ) from error

    async def stop(self) -> None:
        """Close everything; what was received stays readable in memory."""
        await self._teller.stop()
        self._site.close()
        self._receivers.close()
        await self.postman.stop()
        await self.api.close()
        await self._stop_listening()

    async def _stop_listening(self) -> None:
        servers: tuple[_Server, ...] = (self._smtp, self._smpp, self._apns, self._http)
        for server in servers:
            await server.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
