"""Opens a conversation with an SMTP server: connect, greet, protect, log in."""

import asyncio
import base64
import ssl
from dataclasses import dataclass, field

from tidings.contracts.failures import LOGIN_REFUSED
from tidings.contracts.messages import Refused
from tidings.kernel.egress import Guard
from tidings.kernel.secrets import Secret
from tidings.router.adapters.connect import ConnectError, connect, connect_error
from tidings.router.adapters.smtp.oauth import TOKEN_REFUSED, WAYS, OAuthLogin
from tidings.router.adapters.smtp.replies import login_trouble
from tidings.router.adapters.smtp.wire import TLS_ENDED, ConnectionGoneError, SmtpReply, SmtpWire


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpServer:
    """Where to connect to, and how."""

    host: str
    port: int
    #: `tls` from the first byte, `starttls` or not at all, `none`.
    security: str
    #: None where security is `none`.
    context: ssl.SSLContext | None
    username: str | None
    password: Secret | None
    #: Instead of a password: a token.
    oauth: OAuthLogin | None = None
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


class _TokenTooOldError(Exception):
    """The server does not take the token that was kept."""


async def open_wire(server: SmtpServer) -> tuple[SmtpWire, dict[str, str]]:
    """The open conversation and what the server offers; `ConnectError` where any of it fails."""
    try:
        async with asyncio.timeout(server.connect_seconds):
            try:
                opening = await _opened(server)
            except _TokenTooOldError:
                # Once, with a new one: that one can't be too old.
                opening = await _opened(server)
    except BaseException as error:
        known = _cannot(error)
        if known is None:
            raise
        raise known from None
    return opening.wire, opening.extensions


async def _opened(server: SmtpServer) -> "_Opening":
    opening = _Opening(server)
    try:
        await opening.run()
    except BaseException:
        opening.wire.abort("the conversation was not opened")
        raise
    return opening


class _Opening:
    """One attempt."""

    def __init__(self, server: SmtpServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self.wire = SmtpWire()
        self.extensions: dict[str, str] = {}

    async def run(self) -> None:
        """All of it."""
        server = self._server
        # Before connecting: no server waits for a token of ours.
        token, is_new = await self._token()
        context = server.context if server.security == "tls" else None
        wire = await connect(lambda: self.wire, server.host, server.port, guard=server.guard, context=context)
        deadline = self._loop.time() + server.connect_seconds
        greeting = await wire.reply(deadline)
        if greeting.code != 220:
            raise ConnectError("the server does not want to talk to us now", greeting.detailed_code)
        await self._hello(deadline)
        if server.security == "starttls":
            if "STARTTLS" not in self.extensions or server.context is None:
                raise ConnectError(
                    "the server does not offer STARTTLS, and nothing is sent without it", "tls"
                )
            wire.write(b"STARTTLS\r\n")
            if (reply := await wire.reply(deadline)).code != 220:
                raise ConnectError("the server does not begin TLS now", reply.detailed_code)
            await wire.start_tls(server.context, server.host)
            await self._hello(deadline)
        if server.username is not None and server.password is not None:
            await self._log_in(server.username, server.password, deadline)
        elif server.oauth is not None and token is not None:
            await self._log_in_by(server.oauth, token, is_new=is_new, deadline=deadline)

    async def _token(self) -> tuple[str | None, bool]:
        """The token that opens the mailbox, and whether it was asked for just now."""
        oauth = self._server.oauth
        if oauth is None:
            return None, False
        is_new = not oauth.token.is_known
        found = await oauth.token.get()
        if isinstance(found, str):
            return found, is_new
        raise ConnectError(found.reason, "token", refused=isinstance(found, Refused))

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
            raise ConnectError("the server does not take our greeting", reply.detailed_code)

    async def _log_in(self, username: str, password: Secret, deadline: float) -> None:
        ways = self._ways("the password")
        if "PLAIN" in ways:
            steps = [b"AUTH PLAIN " + _encoded(f"\0{username}\0{password.reveal()}")]
        elif "LOGIN" in ways:
            steps = [b"AUTH LOGIN", _encoded(username), _encoded(password.reveal())]
        else:
            raise ConnectError("the server offers no login that we know (PLAIN, LOGIN)", "auth")
        for i, step in enumerate(steps):
            self.wire.write(step + b"\r\n")
            reply = await self.wire.reply(deadline)
            if reply.code != (235 if i == len(steps) - 1 else 334):
                raise _not_let_in(reply, LOGIN_REFUSED)

    async def _log_in_by(self, oauth: OAuthLogin, token: str, *, is_new: bool, deadline: float) -> None:
        offered = self._ways("the access token")
        way = next((way for way in WAYS if way in offered), None)
        if way is None:
            raise ConnectError(f"the server offers no login by OAuth 2 ({', '.join(WAYS)})", "auth")
        place = (self._server.host, self._server.port)
        reply = await oauth.log_in(self.wire, way, token, place=place, deadline=deadline)
        if reply.code == 235:
            return
        if reply.code // 100 == 5:
            oauth.token.forget(token)
            if not is_new:
                raise _TokenTooOldError
        raise _not_let_in(reply, TOKEN_REFUSED)

    def _ways(self, what: str) -> list[str]:
        """The logins that the server offers; none is tried where it could be overheard."""
        if self.wire.info("ssl_object") is None and not self._server.auth_without_tls:
            raise ConnectError(f"{what} is not sent without TLS", "tls")
        return self.extensions.get("AUTH", "").split()


def _not_let_in(reply: SmtpReply, words: str) -> ConnectError:
    """Why a login failed (RFC 4954, 6): not all that is said to one is about the password."""
    known = login_trouble(reply)
    if known is not None:
        return ConnectError(known.reason, known.code, refused=known.refused)
    return ConnectError(words, reply.detailed_code, refused=reply.code // 100 == 5)


def _cannot(error: BaseException) -> ConnectError | None:
    if isinstance(error, ConnectionGoneError):
        return ConnectError(str(error), "tls" if str(error) == TLS_ENDED else "connection")
    return connect_error(error, "the server")


def _literal(sockname: object) -> str:
    """Our own address as a greeting has it (RFC 5321, 4.1.3)."""
    host = str(sockname[0]) if isinstance(sockname, tuple) else "127.0.0.1"
    return f"[IPv6:{host}]" if ":" in host else f"[{host}]"


def _encoded(text: str) -> bytes:
    return base64.b64encode(text.encode())
