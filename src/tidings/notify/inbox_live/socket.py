"""A live stream as a WebSocket, over which its client also says what was read.

Writing takes a task only while there is something to write, so that a socket that waits costs little memory.
"""

import asyncio
import contextlib
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from tidings.kernel.db import Database, TenantTx
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.sockets import CloseCode, Socket, SocketGoneError
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.refusals import RefusalError
from tidings.notify.ids import INBOX_ITEM
from tidings.notify.inbox.desk import InboxDesk, InboxVisitor
from tidings.notify.inbox.model import Verb
from tidings.notify.inbox_live.errors import TooManyStreamsError
from tidings.notify.inbox_live.hub import InboxHub
from tidings.notify.inbox_live.listener import InboxListener
from tidings.notify.inbox_live.model import Ending

PROTOCOL: Final = "tidings.inbox"
_CODES: Final[Mapping[Ending, CloseCode]] = {
    Ending.TOKEN_EXPIRED: CloseCode.UNAUTHENTICATED,
    Ending.TOKEN_VOIDED: CloseCode.UNAUTHENTICATED,
    Ending.TENANT_CLOSED: CloseCode.NOT_ALLOWED,
    Ending.RESTARTING: CloseCode.GOING_AWAY,
    Ending.TOO_SLOW: CloseCode.TOO_SLOW,
}
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
#: What can be asked for, and what it is called elsewhere.
_VERBS: Final[Mapping[str, Verb]] = {"read": "read", "unread": "unread", "seen": "see", "archive": "archive"}
_AWAY: Final = "it can't be done right now; try again in a moment"


class InboxCommand(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a client asks for over its socket: one of these, with the id of an item; `read` and `seen` also take `all`."""

    read: str | None = None
    unread: str | None = None
    seen: str | None = None
    archive: str | None = None


_decode = msgspec.json.Decoder(InboxCommand).decode
_encode = msgspec.json.Encoder().encode


def parse_after(text: str | None, name: str) -> int | None:
    """The number of the last change that a client was told; None where it names none."""
    if text is None:
        return None
    if not _NUMBER.fullmatch(text):
        raise BadValueError(
            name, "must be the id of the last message that was received; leave it out to hear only what comes"
        )
    return int(text)


class InboxSocket:
    """Serves the sockets of a process."""

    def __init__(self, hub: InboxHub, desk: InboxDesk, db: Database, gate: TenantGate) -> None:
        self._hub = hub
        self._desk = desk
        self._db = db
        self._gate = gate

    async def serve(self, caller: Caller, socket: Socket, query: Mapping[str, str]) -> None:
        """Speak with one client until either side ends it."""
        assert caller.home is not None  # noqa: S101  # a person is somebody's
        visitor = InboxVisitor.owner(caller, caller.home)
        wire = SocketWriter(socket, self._hub.limits.patience)
        try:
            listener = self._hub.join(
                visitor.key,
                transport="ws",
                since=visitor.since,
                until=visitor.until,
                after=parse_after(query.get("after"), "after"),
                wake=wire.wake,
            )
        except TooManyStreamsError as error:
            await socket.close(CloseCode.TOO_MANY, f"{error.code}: {error}")
            return
        except BadValueError as error:
            await socket.close(CloseCode.BAD_MESSAGE, str(error))
            return
        wire.listener = listener
        try:
            while True:
                said = await socket.receive()
                if isinstance(said, bytes):
                    await socket.close(CloseCode.UNSUPPORTED, "send text: JSON, as the documentation says")
                    return
                if not await self._answer(caller, visitor, socket, said):
                    return
        finally:
            self._hub.leave(listener)
            wire.end()

    async def _answer(self, caller: Caller, visitor: InboxVisitor, socket: Socket, said: str) -> bool:
        """Do what was asked for; what comes of it, all streams of the inbox are told. False: the socket was closed."""
        try:
            asked = _decode(said)
            [(verb, named)] = msgspec.to_builtins(asked).items()
        except (msgspec.MsgspecError, ValueError):
            await socket.close(
                CloseCode.BAD_MESSAGE,
                'send one of {"read": id}, {"unread": id}, {"seen": id}, {"archive": id}, {"read": "all"}, {"seen": "all"}',
            )
            return False
        try:
            await self._gate.check(visitor.key.tenant_id, writes=True)
            await self._do(caller, visitor, verb, named)
        except TidingsError as error:
            known = isinstance(error, RefusalError | BadValueError)
            detail = str(error) if known else _AWAY
            told = {"type": "error", "code": error.code, "detail": detail, "of": {verb: named}}
            await socket.send(_encode(told).decode())
        return True

    async def _do(self, caller: Caller, visitor: InboxVisitor, verb: str, named: str) -> None:
        open_tx: OpenTx[TenantTx] = OpenTx(self._db, caller)
        if named == "all" and verb == "read":
            await self._desk.read_all(open_tx, visitor, None)
        elif named == "all" and verb == "seen":
            await self._desk.see_all(open_tx, visitor)
        else:
            item_id = INBOX_ITEM.parse(named, field=verb)
            async with open_tx() as tx:
                await self._desk.do(tx, visitor, item_id, _VERBS[verb])


class SocketWriter:
    """Writes what a listener is told, in a task of its own that ends when all is written."""

    __slots__ = ("_patience", "_socket", "_writing", "listener")

    def __init__(self, socket: Socket, patience: float) -> None:
        self._socket = socket
        self._patience = patience
        self._writing: asyncio.Task[None] | None = None
        self.listener: InboxListener | None = None

    def wake(self) -> None:
        """There is something to write."""
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    def end(self) -> None:
        """Nothing is written any more."""
        if self._writing is not None:
            self._writing.cancel()

    async def _write(self) -> None:
        listener = self.listener
        if listener is None:  # It was told something within `join`.
            await asyncio.sleep(0)
            listener = self.listener
        while listener is not None:
            frames = listener.take()
            if not frames:
                # At once, and not when the task is seen to have ended: what is told in between would wake nobody.
                self._writing = None
                break
            try:
                async with asyncio.timeout(self._patience):
                    for frame in frames:
                        await self._socket.send(frame.data)
            except TimeoutError:
                listener.end(Ending.TOO_SLOW)
            except SocketGoneError:
                return
        if listener is not None and listener.ended is not None:
            with contextlib.suppress(SocketGoneError, TimeoutError):
                async with asyncio.timeout(1):
                    await self._socket.close(_CODES[listener.ended], listener.ended)
