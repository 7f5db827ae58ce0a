"""Opens a session with an SMSC: connect, protect, bind."""

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from tidings.kernel.egress import Guard
from tidings.kernel.secrets import Secret
from tidings.router.adapters.connect import ConnectError, connect, connect_error
from tidings.router.adapters.smpp.command_status import CREDENTIALS, OK, name_of, words_of
from tidings.router.adapters.smpp.pdu import (
    BIND_RECEIVER,
    BIND_TRANSCEIVER,
    BIND_TRANSMITTER,
    RESPONSE,
    Pdu,
    bind_body,
)
from tidings.router.adapters.smpp.session import LinkGoneError, NoAnswerError, NotWrittenError, SmppSession

Role: TypeAlias = Literal["transceiver", "transmitter", "receiver"]
_BINDS: Final = {"transceiver": BIND_TRANSCEIVER, "transmitter": BIND_TRANSMITTER, "receiver": BIND_RECEIVER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Smsc:
    """Where to connect to, and how."""

    host: str
    port: int
    #: None: in the clear.
    context: ssl.SSLContext | None
    system_id: str
    password: Secret
    system_type: str
    address_range: str
    #: Questions without an answer on one session.
    window: int
    #: For connecting, TLS and the bind together.
    connect_seconds: float
    #: For one answer.
    timeout_seconds: float
    #: Silence after which the SMSC is asked whether it is there.
    enquire_seconds: float
    guard: Guard = field(repr=False)


async def open_session(
    smsc: Smsc, role: Role, on_delivery: Callable[[SmppSession, Pdu], None]
) -> SmppSession:
    """A session that is bound; `ConnectError` where there is none to be had."""
    made: list[SmppSession] = []

    def new() -> SmppSession:
        made.append(
            SmppSession(
                window=smsc.window,
                enquire_seconds=smsc.enquire_seconds,
                timeout_seconds=smsc.timeout_seconds,
                on_delivery=on_delivery,
            )
        )
        return made[-1]

    try:
        async with asyncio.timeout(smsc.connect_seconds):
            session = await connect(new, smsc.host, smsc.port, guard=smsc.guard, context=smsc.context)
            await _bind(smsc, role, session)
    except BaseException as error:
        for session in made:
            session.abort("the session was not opened")
        known = _cannot(error)
        if known is None:
            raise
        raise known from None
    return session


async def _bind(smsc: Smsc, role: Role, session: SmppSession) -> None:
    body = bind_body(
        system_id=smsc.system_id,
        password=smsc.password.reveal(),
        system_type=smsc.system_type,
        address_range=smsc.address_range,
    )
    answer = await session.ask(_BINDS[role], body, seconds=smsc.connect_seconds)
    if answer.status != OK or answer.command != _BINDS[role] | RESPONSE:
        raise ConnectError(
            words_of(answer.status), name_of(answer.status), refused=answer.status in CREDENTIALS
        )


def _cannot(error: BaseException) -> ConnectError | None:
    if isinstance(error, LinkGoneError | NoAnswerError | NotWrittenError):
        return ConnectError(str(error), "connection")
    return connect_error(error, "the SMSC")
