"""The whole stand-in: a mail server, an SMSC and a web server on loopback, one memory, one set of faults and scripts."""

import ssl
from typing import Self

from tidings.kernel.clock import Clock
from tidings.kernel.errors import NotConfiguredError
from tidings.sandbox.carrier import Carrier, Post
from tidings.sandbox.dialects.known import DIALECTS
from tidings.sandbox.faults import Faults
from tidings.sandbox.http_server import HttpSandbox
from tidings.sandbox.page import Site
from tidings.sandbox.postman import Postman
from tidings.sandbox.receipts import Ledger
from tidings.sandbox.replies import Replies
from tidings.sandbox.scripts import Scripts
from tidings.sandbox.smpp_server import SmppSandbox
from tidings.sandbox.smtp_server import SmtpSandbox
from tidings.sandbox.store import MOST_BYTES, MOST_MESSAGES, Store
from tidings.sandbox.wording import Wording


class Sandbox:
    """`async with Sandbox(clock) as sandbox:` listens on three free ports until the end of the block."""

    def __init__(
        self,
        clock: Clock,
        *,
        host: str = "127.0.0.1",
        smtp_port: int = 0,
        http_port: int = 0,
        smpp_port: int = 0,
        most_messages: int = MOST_MESSAGES,
        most_bytes: int = MOST_BYTES,
        tls: ssl.SSLContext | None = None,
        seed: int | None = None,
        post: Post | None = None,
        options: tuple[str, str] = ("--smtp-port", "--http-port"),
        smpp_option: str = "--smpp-port",
    ) -> None:
        """`post` sends receipts, over HTTP where it is None; the options are how whoever chose the ports calls the choice."""
        self.store = Store(clock, most_messages=most_messages, most_bytes=most_bytes)
        self.faults = Faults(clock, seed=seed)
        self.scripts = Scripts()
        wording, carrier = Wording(DIALECTS), Carrier(post)
        #: Everything about receipts: where they go, what is planned, when all that was due is through.
        self.postman = Postman(
            clock,
            run=self.store.run,
            ledger=Ledger(most=most_messages),
            wording=wording,
            carrier=carrier,
            changed=self.store.ring,
        )
        self.host = host
        #: Where it listens; those that were asked for until it is started.
        self.smtp_port = smtp_port
        self.http_port = http_port
        self.smpp_port = smpp_port
        self._options = (*options, smpp_option)
        self._smtp = SmtpSandbox(self.store, self.faults, tls=tls)
        self._smpp = SmppSandbox(
            self.store, self.faults, self.scripts, ledger=self.postman.ledger, clock=clock
        )
        replies = Replies(
            clock,
            run=self.store.run,
            hooks=self.postman.hooks,
            wording=wording,
            carrier=carrier,
            voices={"smpp": self._smpp},
        )
        self._site = Site(
            self.store, self.faults, self.scripts, self.postman, wording=wording, replies=replies
        )
        self._http = HttpSandbox(self._site.handle)

    @property
    def url(self) -> str:
        """Of the page, and of everything under it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.http_port}"

    async def start(self) -> None:
        """Listen; a `NotConfiguredError` says which port is taken."""
        self.smtp_port = await self._listen(self._smtp, self.smtp_port, self._options[0])
        try:
            self.http_port = await self._listen(self._http, self.http_port, self._options[1])
            self.smpp_port = await self._listen(self._smpp, self.smpp_port, self._options[2])
        except NotConfiguredError:
            await self._smtp.stop()
            await self._http.stop()
            raise
        self.postman.start()

    async def _listen(self, server: SmtpSandbox | HttpSandbox | SmppSandbox, port: int, option: str) -> int:
        try:
            return await server.start(self.host, port)
        except OSError as error:
            raise NotConfiguredError(
                f"the sandbox can't listen on {self.host}:{port} ({error.strerror or 'in use'}); "
                f"stop what uses it, or choose another with {option}"
            ) from error

    async def stop(self) -> None:
        """Close everything; what was received stays readable in memory."""
        self._site.close()
        await self.postman.stop()
        await self._smtp.stop()
        await self._smpp.stop()
        await self._http.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
