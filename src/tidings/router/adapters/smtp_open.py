"""Opens a conversation with an SMTP server: connect, greet, protect, log in."""

import asyncio
import base64
import ssl
from dataclasses import dataclass, field

from tidings.contracts.failures import LOGIN_REFUSED, NOT_ALLOWED_THERE
from tidings.kernel.secrets import Secret
from tidings.router.adapters.egress import Guard, NotAllowedThereError, look_up
from tidings.router.adapters.smtp_wire import ConnectionGoneError, SmtpWire


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where to connect to, and how."""

    host: str
    port: int
    #: `tls` from the first byte, `starttls` or not at all, `none`.
    security: str
    #: None where security is `none`.
    context: ssl.SSLContext | None
    username: str | None
    password: Secret | None
    #: A password may go over the wire in the clear.
    auth_without_tls: bool
    #: What we call ourselves; None: by our own address.
    hello_name: str | None
    #: For connecting, TLS and login together.
    connect_seconds: float
    #: For one answer.
    timeout_seconds: float
    messages_per_connection: int
    guard: Guard = field(repr=False)


class CannotConnectError(Exception):
    """There is no conversation to be had now."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


async def open_wire(server: Server) -> tuple[SmtpWire, dict[str, str]]:
    """The open conversation and what the server offers; `CannotConnectError` where any of it fails."""
    opening = _Opening(server)
    try:
        async with asyncio.timeout(server.connect_seconds):
            await opening.run()
    except BaseException as error:
        opening.wire.abort("the conversation was not opened")
        known = _cannot(error)
        if known is None:
            raise
        raise known from None
    return opening.wire, opening.extensions


class _Opening:
    """One attempt."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self.wire = SmtpWire()
        self.extensions: dict[str, str] = {}

    async def run(self) -> None:
        """All of it."""
        server = self._server
        wire = await self._connect()
        deadline = self._loop.time() + server.connect_seconds
        greeting = await wire.reply(deadline)
        if greeting.code != 220:
            raise CannotConnectError("the server does not want to talk to us now", greeting.detailed_code)
        await self._hello(deadline)
        if server.security == "starttls":
            if "STARTTLS" not in self.extensions or server.context is None:
                raise CannotConnectError(
                    "the server does not offer STARTTLS, and nothing is sent without it", "tls"
                )
            wire.write(b"STARTTLS\r\n")
            if (reply := await wire.reply(deadline)).code != 220:
                raise CannotConnectError("the server does not begin TLS now", reply.detailed_code)
            await wire.start_tls(server.context, server.host)
            await self._hello(deadline)
        if server.username is not None and server.password is not None:
            await self._log_in(server.username, server.password, deadline)

    async def _connect(self) -> SmtpWire:
        server = self._server
        addresses = await look_up(server.host, server.port, server.guard)
        context = server.context if server.security == "tls" else None
        for i, address in enumerate(addresses):
            try:
                await self._loop.create_connection(
                    lambda: self.wire,
                    address,
                    server.port,
                    ssl=context,
                    server_hostname=server.host if context else None,
                )
            except ssl.SSLError:
                raise
            except OSError:
                if i == len(addresses) - 1:
                    raise
            else:
                break
        return self.wire

    async def _hello(self, deadline: float) -> None:
        name = self._server.hello_name or _literal(self.wire.info("sockname"))
        self.wire.write(f"EHLO {name}\r\n".encode("ascii"))
        reply = await self.wire.reply(deadline)
        if reply.code >= 500:
            self.wire.write(f"HELO {name}\r\n".encode("ascii"))
            reply = await self.wire.reply(deadline)
            self.extensions = {}
        else:
            words = [line.upper().partition(" ") for line in reply.lines[1:]]
            self.extensions = {word: rest.strip() for word, _, rest in words}
        if reply.code != 250:
            raise CannotConnectError("the server does not take our greeting", reply.detailed_code)

    async def _log_in(self, username: str, password: Secret, deadline: float) -> None:
        if self.wire.info("ssl_object") is None and not self._server.auth_without_tls:
            raise CannotConnectError("the password is not sent without TLS", "tls")
        ways = self.extensions.get("AUTH", "").split()
        if "PLAIN" in ways:
            steps = [b"AUTH PLAIN " + _encoded(f"\0{username}\0{password.reveal()}")]
        elif "LOGIN" in ways:
            steps = [b"AUTH LOGIN", _encoded(username), _encoded(password.reveal())]
        else:
            raise CannotConnectError("the server offers no login that we know (PLAIN, LOGIN)", "auth")
        for i, step in enumerate(steps):
            self.wire.write(step + b"\r\n")
            reply = await self.wire.reply(deadline)
            if reply.code != (235 if i == len(steps) - 1 else 334):
                raise CannotConnectError(LOGIN_REFUSED, reply.detailed_code)


def _cannot(error: BaseException) -> CannotConnectError | None:
    """What failed while opening, in our own words: an exception's text may hold names and addresses."""
    match error:
        case CannotConnectError():
            return error
        case ConnectionGoneError():
            return CannotConnectError(str(error), "connection")
        case NotAllowedThereError():
            return CannotConnectError(NOT_ALLOWED_THERE, "address")
        case ssl.SSLCertVerificationError():
            return CannotConnectError("the server's certificate is not one that we trust", "tls")
        case ssl.SSLError():
            return CannotConnectError("TLS could not be agreed on", "tls")
        case TimeoutError():
            return CannotConnectError("the server could not be reached in time", "connection")
        case OSError() | UnicodeError():
            return CannotConnectError("the server can't be reached", "connection")
    return None


def _literal(sockname: object) -> str:
    """Our own address as a greeting has it (RFC 5321, 4.1.3)."""
    host = str(sockname[0]) if isinstance(sockname, tuple) else "127.0.0.1"
    return f"[IPv6:{host}]" if ":" in host else f"[{host}]"


def _encoded(text: str) -> bytes:
    return base64.b64encode(text.encode())
