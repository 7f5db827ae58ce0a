"""Opens connections to vendors' servers, for adapters that speak over their own: the addresses of a host one after the other.

Why there is no connection is said in our own words: an exception's text may hold names and addresses.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import TypeVar

from tidings.contracts.failures import NOT_ALLOWED_THERE
from tidings.contracts.messages import Refused, TryLater
from tidings.kernel.egress import Guard, NotAllowedThereError, look_up

P = TypeVar("P", bound=asyncio.BaseProtocol)


class ConnectError(Exception):
    """There is no connection to be had now; `refused`: because our credentials are not taken."""

    def __init__(self, reason: str, code: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.refused = refused

    def outcome(self) -> Refused | TryLater:
        """What it means for a check of the account."""
        kind = Refused if self.refused else TryLater
        return kind(reason=self.reason, code=self.code)


async def connect(
    new: Callable[[], P], host: str, port: int, *, guard: Guard, context: ssl.SSLContext | None
) -> P:
    """The protocol of the first address that answers; where TLS fails no other address is tried."""
    addresses = await look_up(host, port, guard)
    loop = asyncio.get_running_loop()
    for i, address in enumerate(addresses):
        try:
            _, protocol = await loop.create_connection(
                new, address, port, ssl=context, server_hostname=host if context else None
            )
        except ssl.SSLError:
            raise
        except OSError:
            if i == len(addresses) - 1:
                raise
        else:
            return protocol
    raise OSError("there is no address")


def connect_error(error: BaseException, server: str) -> ConnectError | None:
    """Why a connection to the server, such as `the SMSC`, was not opened; None for what has nothing to do with it."""
    match error:
        case ConnectError():
            return error
        case NotAllowedThereError():
            return ConnectError(NOT_ALLOWED_THERE, "address")
        case ssl.SSLCertVerificationError():
            return ConnectError(f"{server}'s certificate is not one that we trust", "tls")
        case ssl.SSLError():
            return ConnectError("TLS could not be agreed on", "tls")
        case TimeoutError():
            return ConnectError(f"{server} could not be reached in time", "connection")
        case OSError() | UnicodeError():
            return ConnectError(f"{server} can't be reached", "connection")
    return None
