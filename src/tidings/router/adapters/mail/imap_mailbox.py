"""A mailbox that mail comes back to, read over IMAP by the standard library, in threads of its own.

Its server may be a tenant's, and hostile: where it may be is asked of the guard, what it sends is bounded, and a server that
says nothing ends with its connection.
"""

import asyncio
import imaplib
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

from tidings.contracts.callback_forms import MOST_BYTES
from tidings.kernel.egress import Guard, NotAllowedThereError, look_up
from tidings.kernel.errors import BadValueError, TidingsError
from tidings.kernel.secrets import Secret

T = TypeVar("T")

_PORTS: Final = {"imaps": 993, "imap": 143}
#: Seconds for one answer.
_TIMEOUT: Final = 30.0
#: Bytes of all that a server says to one command: the mail that was asked for, and as much besides.
_MOST_ANSWERED: Final = 2 * MOST_BYTES
_UID: Final = re.compile(rb"[0-9]{1,10}")
#: Apart from the threads in which names are looked up and files are written: a slow mailbox keeps only others waiting.
_threads: Final = ThreadPoolExecutor(max_workers=4, thread_name_prefix="imap")


class MailboxError(TidingsError):
    """The mailbox can't be read."""

    code = "mailbox"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        #: `address`, `connection`, `tls`, `auth`, `folder`, `answer`.
        self.code = code  # type: ignore[misc]  # which of the few it is


@dataclass(frozen=True, slots=True, kw_only=True)
class MailboxAddress:
    """Where a mailbox is, and how it is opened."""

    host: str
    port: int
    username: str = field(repr=False)
    password: Secret = field(repr=False)
    folder: str = "INBOX"
    #: None: in the clear.
    context: ssl.SSLContext | None = field(repr=False)
    guard: Guard = field(repr=False)


def read_mailbox_url(
    url: str, password: str | None, *, context: Callable[[], ssl.SSLContext], in_the_clear: bool, guard: Guard
) -> MailboxAddress:
    """The place that a URL such as `imaps://user@host/INBOX` names; a `BadValueError` where it names none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    username, folder = unquote(parts.username or ""), unquote(parts.path.strip("/")) or "INBOX"
    known = parts.scheme in _PORTS and parts.hostname and username and not parts.query and not parts.fragment
    if not known or not folder.isascii() or not (folder + username).isprintable():
        raise BadValueError(
            "bounce_imap_url",
            "must be of the form imaps://user@host/folder, with %40 for an @ in the user's name",
        )
    if parts.password is not None:
        raise BadValueError(
            "bounce_imap_url", "must not hold the password: name it by reference as bounce_imap_password_ref"
        )
    if password is None:
        raise BadValueError("bounce_imap_password", "is needed with bounce_imap_url")
    if parts.scheme == "imap" and not in_the_clear:
        raise BadValueError(
            "bounce_imap_url", "must begin with imaps://, so that the password is not sent in the clear"
        )
    return MailboxAddress(
        host=parts.hostname or "",
        port=port or _PORTS[parts.scheme],
        username=username,
        password=Secret(password),
        folder=folder,
        context=context() if parts.scheme == "imaps" else None,
        guard=guard,
    )


class _Client(imaplib.IMAP4):
    """Connects to an address that was looked up before, and takes no more than it asked for."""

    def __init__(self, place: MailboxAddress, addresses: Sequence[str], held: list[socket.socket]) -> None:
        """`held`: a task that wants the connection to end finds it here, also while it is being opened."""
        self._place = place
        self._addresses = addresses
        self._held = held
        self._left = _MOST_ANSWERED
        super().__init__(place.host, place.port, timeout=_TIMEOUT)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        made = self._connected(timeout)
        context = self._place.context
        if context is None:
            self._held.append(made)
            return made
        wrapped = context.wrap_socket(made, server_hostname=self._place.host, do_handshake_on_connect=False)
        self._held.append(wrapped)
        wrapped.do_handshake()
        return wrapped

    def _connected(self, timeout: float | None) -> socket.socket:
        for address in self._addresses[:-1]:
            with suppress(OSError):
                return socket.create_connection((address, self._place.port), timeout)
        return socket.create_connection((self._addresses[-1], self._place.port), timeout)

    def read(self, size: int) -> bytes:
        """So many bytes, which the server has named."""
        self._take(size)
        return super().read(size)

    def readline(self) -> bytes:
        """The next line."""
        line: bytes = super().readline()
        self._take(len(line))
        return line

    def begin(self) -> None:
        """A command follows: what is answered to it is counted anew."""
        self._left = _MOST_ANSWERED

    def _take(self, size: int) -> None:
        """The library keeps all that a server says besides: without an end, it would fill the memory."""
        self._left -= size
        if self._left < 0:
            raise self.abort("more than was asked for")


class Mailbox:
    """A mailbox that is open."""

    def __init__(self, client: _Client, *, validity: int) -> None:
        self._client = client
        #: Another one where the server has numbered its mails anew.
        self.validity = validity

    async def unread(self, *, after: int, most: int) -> list[int]:
        """The numbers of unseen mails, from the oldest on, of those above `after`."""
        _, found = await self._asked(
            lambda: self._client.uid("SEARCH", "UID", f"{after + 1}:*", "UNSEEN", "UNDELETED")
        )
        uids = {int(uid) for line in found if isinstance(line, bytes) for uid in _UID.findall(line)}
        # The last one is always among them, whatever was asked for.
        return sorted(uid for uid in uids if uid > after)[:most]

    async def fetch(self, uid: int) -> bytes | None:
        """The beginning of a mail, which stays unseen; None where it is gone."""
        _, found = await self._asked(
            lambda: self._client.uid("FETCH", str(uid), f"(BODY.PEEK[]<0.{MOST_BYTES}>)")
        )
        return next((bytes(one[1]) for one in found if isinstance(one, tuple)), None)

    async def mark_seen(self, uid: int) -> None:
        """It has been dealt with."""
        await self._asked(lambda: self._client.uid("STORE", str(uid), "+FLAGS.SILENT", r"(\Seen)"))

    async def _asked(self, ask: Callable[[], tuple[str, list[Any]]]) -> tuple[str, list[Any]]:
        self._client.begin()
        answer, found = await _in_thread(ask)
        if answer != "OK":
            raise MailboxError("answer", "the server does not do what it is asked")
        return answer, found


@asynccontextmanager
async def open_mailbox(place: MailboxAddress, *, read_only: bool = False) -> AsyncIterator[Mailbox]:
    """The mailbox, closed in the end; a `MailboxError` where it can't be read."""
    try:
        addresses = await look_up(place.host, place.port, place.guard)
    except NotAllowedThereError:
        raise MailboxError("address", "the host's address is not one that we may connect to") from None
    except OSError:
        raise MailboxError("connection", "nobody knows the name of the host") from None
    held: list[socket.socket] = []
    try:
        client = await _in_thread(lambda: _Client(place, addresses, held))
        yield await _in_thread(lambda: _opened(client, place, read_only=read_only))
        with suppress(MailboxError):
            await _in_thread(client.logout)
    finally:
        # What may hang is cut off: a thread that reads falls out of it.
        for one in held:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _opened(client: _Client, place: MailboxAddress, *, read_only: bool) -> Mailbox:
    try:
        client.login(place.username, place.password.reveal())
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error:
        raise MailboxError("auth", "the server does not take the user name and the password") from None
    folder = place.folder.replace("\\", "\\\\").replace('"', '\\"')
    answer, _ = client.select(f'"{folder}"', readonly=read_only)
    if answer != "OK":
        raise MailboxError("folder", "the server has no such folder")
    _, told = client.response("UIDVALIDITY")
    validity = told[0] if told and isinstance(told[0], bytes) and _UID.fullmatch(told[0]) else b"0"
    return Mailbox(client, validity=int(validity))


async def _in_thread(work: Callable[[], T]) -> T:
    """What it comes to; an exception's own text may hold names and is not passed on."""
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, work)
    except MailboxError:
        raise
    except ssl.SSLCertVerificationError:
        raise MailboxError("tls", "the server's certificate is not one that we trust") from None
    except ssl.SSLError:
        raise MailboxError("tls", "TLS could not be agreed on") from None
    except (OSError, EOFError):
        raise MailboxError("connection", "the server can't be reached, or is silent") from None
    except (imaplib.IMAP4.error, ValueError, IndexError, UnicodeError):
        raise MailboxError("answer", "the server's answer is none that is known") from None
