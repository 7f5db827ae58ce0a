"""Opens a connection over HTTP/2: to an address that the guard lets pass, with TLS, until both sides have said what they can."""

import asyncio
import ssl
from dataclasses import dataclass, field

from tidings.kernel.egress import Guard, look_up
from tidings.router.adapters.apns.http2 import Http2Link, LostError
from tidings.router.adapters.connect import ConnectError, connect_error


@dataclass(frozen=True, slots=True, kw_only=True)
class ApnsServer:
    """Where to connect to, and how."""

    host: str
    port: int
    #: None: in the clear, for servers on loopback.
    context: ssl.SSLContext | None
    guard: Guard = field(repr=False)


async def open_link(server: ApnsServer, *, seconds: float) -> Http2Link:
    """The connection, once both sides have said what they can; `ConnectError` where any of it fails."""
    link: Http2Link | None = None
    try:
        async with asyncio.timeout(seconds):
            link = Http2Link(*await _connect(server))
            await link.settled()
    except BaseException as error:
        if link is not None:
            link.close()
        known = _cannot(error)
        if known is None:
            raise
        raise known from None
    return link


async def _connect(server: ApnsServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    addresses = await look_up(server.host, server.port, server.guard)
    name = server.host if server.context is not None else None
    for i, address in enumerate(addresses):
        try:
            reader, writer = await asyncio.open_connection(
                address, server.port, ssl=server.context, server_hostname=name
            )
        except OSError:
            if i == len(addresses) - 1:
                raise
            continue
        tls = writer.get_extra_info("ssl_object")
        if tls is not None and tls.selected_alpn_protocol() != "h2":
            writer.transport.abort()
            raise LostError
        return reader, writer
    raise OSError("there is no address")


def _cannot(error: BaseException) -> ConnectError | None:
    match error:
        case LostError():
            return ConnectError("nobody speaks HTTP/2 there", "connection")
        case TimeoutError():
            return ConnectError("the vendor can't be reached", "connection")
    return connect_error(error, "the vendor")
