"""Adapters that are open, one for each account, with their pooled connections.

An account that was changed is opened anew at its next use. One with another content of its secret is noticed by reading
it again from time to time: beside the sends while there are any, before the first one after a pause. Whatever is
under way through the one before it ends there.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TypeAlias

from tidings.contracts.adapters import Adapter
from tidings.contracts.callback_forms import ParsedCallback
from tidings.kernel.clock import Clock
from tidings.kernel.egress import Guard, anywhere, public_only
from tidings.kernel.errors import TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import FieldError
from tidings.kernel.secrets import SecretNotFoundError, SecretResolver, SecretStoreError
from tidings.router.accounts.account_faults import NOT_OPENED, WRONG, wrong_of
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.in_flight import InFlightLimit
from tidings.router.adapters.kind import AdapterContext, discard_inbound
from tidings.router.adapters.mail.dkim import FindSigners
from tidings.router.adapters.registry import ReadAccount, read_account
from tidings.router.adapters.shared_pools import SharedPools

#: Seconds that vendors get for the end of their connections when we end.
_GOODBYE = 0.5
#: The code of an account without its secret.
_NO_SECRET = "account_secret"  # noqa: S105
#: The code of one while its secret can't be read.
SECRET_STORE = "secret_store"  # noqa: S105

_log = get_logger("vendors")


#: Takes what a vendor says by itself to the owner of this account; it is durable when this returns.
HearAccount: TypeAlias = Callable[[StoredAccount, ParsedCallback], Awaitable[None]]


class UnusableError(TidingsError):
    """The account can't be used as it is set up."""

    code = "account_unusable"

    def __init__(self, code: str, message: str, wrong: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.code = code  # type: ignore[misc]  # the vendor's side of the story, as attempts keep it
        #: The fields that are to be corrected; empty where the account is not what is wrong.
        self.wrong = tuple(wrong)


@dataclass(slots=True)
class _Open:
    version: int
    adapter: Adapter
    #: What it was opened with; another one where the secret has other content.
    mark: bytes
    #: When its secret is to be read again, beside the sends, and when no send goes before that.
    look_at: float
    overdue_at: float
    #: When it was read.
    read_at: float
    #: By channel, the sender that its settings put in the place of a message's.
    fixed_senders: Mapping[str, str]
    #: Sets that are being sent through it.
    users: int = 0
    #: Another one stands in its place; it is closed when the last set is through.
    retired: bool = False


@dataclass(frozen=True, slots=True)
class _Failed:
    version: int
    error: UnusableError = field(repr=False)
    again_at: float


class OpenAdapters:
    """Opens what is asked for, keeps it, and opens it anew when the account has changed."""

    def __init__(
        self,
        secrets: SecretResolver,
        *,
        clock: Clock,
        tenant_guard: Guard = public_only,
        find_signers: FindSigners | None = None,
        hear: HearAccount | None = None,
        write_token: Callable[[str, str], str] | None = None,
        most: int = 2000,
        try_again: timedelta = timedelta(seconds=1),
        max_age: timedelta = timedelta(seconds=30),
    ) -> None:
        """`tenant_guard` says where tenants' own accounts may lead; the platform's may lead anywhere. `hear` is told what
        vendors say by themselves, and to which account. `write_token`: the token of an account's attempt, for its return path.

        A secret is read again after `max_age`; no send begins with one that was read more than twice that ago.
        """
        self._secrets = secrets
        self._clock = clock
        self._tenant_guard = tenant_guard
        self._find_signers = find_signers
        self._hear = hear
        self._write_token = write_token
        self._most = most
        self._try_again = try_again.total_seconds()
        self._max_age = max_age.total_seconds()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._failed: dict[str, _Failed] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._in_flight = InFlightLimit()
        self._pools = SharedPools()
        self._closing: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def borrow(self, account: StoredAccount, tenant_id: TenantId) -> AsyncIterator[Adapter]:
        """The account's adapter, which is not closed meanwhile; an `UnusableError` says what is wrong with it."""
        opened = self._open.get(account.id)
        now = self._clock.monotonic()
        if opened is None or opened.version != account.version or now >= opened.overdue_at:
            async with self._opening.setdefault(account.id, asyncio.Lock()):
                opened = await self._renewed(account, tenant_id)
        elif now >= opened.look_at:
            opened.look_at = now + self._max_age
            self._look_beside(account, tenant_id)
        opened.users += 1
        self._open.move_to_end(account.id)
        try:
            yield opened.adapter
        finally:
            opened.users -= 1
            if opened.retired and not opened.users:
                self._close_later(opened.adapter)

    async def fixed_senders(self, account: StoredAccount, tenant_id: TenantId) -> Mapping[str, str]:
        """By channel, the sender that the account's settings put in the place of a message's.

        From memory while the account is open. One that can't be opened has none: nothing goes out through it either.
        """
        try:
            async with self.borrow(account, tenant_id):
                return self._open[account.id].fixed_senders
        except UnusableError:
            return {}

    async def read_fixed_senders(self, account: StoredAccount) -> Mapping[str, str]:
        """The same for one of the platform's, without opening it: its secret is read now, and no connection is made."""
        try:
            return (await self._read(account, TenantId(""))).fixed_senders()
        except UnusableError:
            return {}

    @asynccontextmanager
    async def apart(self, account: StoredAccount, tenant_id: TenantId) -> AsyncIterator[Adapter]:
        """An adapter of its own, closed in the end: for an account that is not, or not yet, what is stored."""
        read = await self._read(account, tenant_id)
        adapter = self._opened(account, read, apart=True)
        try:
            yield adapter
        finally:
            await adapter.close()

    def doubt(self, account_id: str) -> None:
        """The vendor did not take the account's credentials: read them again before the next send."""
        opened = self._open.get(account_id)
        if opened is not None and self._clock.monotonic() >= opened.read_at + self._try_again:
            opened.overdue_at = opened.look_at = opened.read_at

    async def close(self) -> None:
        """End all connections; what is still being sent is given back."""
        for task in self._looking:
            task.cancel()
        while self._open:
            self._close_later(self._open.popitem()[1].adapter)
        if self._closing:
            # A send that is silent now has been silent for all the time that there was to finish in.
            await asyncio.wait(self._closing, timeout=_GOODBYE)

    async def _renewed(self, account: StoredAccount, tenant_id: TenantId) -> _Open:
        opened = self._open.get(account.id)
        # Another task was quicker; and one that is newer than what we know of is right too.
        if opened is not None and opened.version >= account.version:
            overdue = opened.version == account.version and self._clock.monotonic() >= opened.overdue_at
            return await self._read_again(opened, account, tenant_id) if overdue else opened
        failed = self._failed.get(account.id)
        if failed is not None and failed.version == account.version:
            if self._clock.monotonic() < failed.again_at:
                raise failed.error
            del self._failed[account.id]
        try:
            read, adapter = await self._make(account, tenant_id)
        except UnusableError as error:
            self._note(account, error)
            raise
        return self._put(account, read, adapter)

    def _put(self, account: StoredAccount, read: ReadAccount, adapter: Adapter) -> _Open:
        before = self._open.get(account.id)
        if before is not None:
            self._retire(before)
        now = self._clock.monotonic()
        self._open[account.id] = fresh = _Open(
            account.version,
            adapter,
            read.mark,
            now + self._max_age,
            now + 2 * self._max_age,
            now,
            read.fixed_senders(),
        )
        self._make_room(besides=account.id)
        return fresh

    def _note(self, account: StoredAccount, error: UnusableError) -> None:
        again_at = self._clock.monotonic() + self._try_again
        self._failed[account.id] = _Failed(account.version, error, again_at)
        _log.warning("account_unusable", account_id=account.id, vendor=account.vendor, code=error.code)

    def _look_beside(self, account: StoredAccount, tenant_id: TenantId) -> None:
        task = asyncio.create_task(self._look(account, tenant_id))
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    async def _look(self, account: StoredAccount, tenant_id: TenantId) -> None:
        async with self._opening.setdefault(account.id, asyncio.Lock()):
            opened = self._open.get(account.id)
            if opened is not None and opened.version == account.version:
                with suppress(UnusableError):
                    await self._read_again(opened, account, tenant_id)

    async def _read_again(self, opened: _Open, account: StoredAccount, tenant_id: TenantId) -> _Open:
        """The adapter with the secret as it is now. One that can't be asked for stays as it was; one that is gone
        is used no longer."""
        try:
            read = await self._read(account, tenant_id)
            adapter = None if read.mark == opened.mark else self._opened(account, read)
        except UnusableError as error:
            if error.code == _NO_SECRET:
                self._open.pop(account.id, None)
                self._retire(opened)
                self._note(account, error)
                raise
            _log.warning("account_kept", account_id=account.id, vendor=account.vendor, code=error.code)
            read, adapter = None, None
        now = self._clock.monotonic()
        if read is not None and adapter is not None:
            _log.info("account_secret_changed", account_id=account.id, vendor=account.vendor)
            return self._put(account, read, adapter)
        opened.read_at, opened.look_at, opened.overdue_at = now, now + self._max_age, now + 2 * self._max_age
        return opened

    async def _make(self, account: StoredAccount, tenant_id: TenantId) -> tuple[ReadAccount, Adapter]:
        read = await self._read(account, tenant_id)
        return read, self._opened(account, read)

    def _opened(self, account: StoredAccount, read: ReadAccount, *, apart: bool = False) -> Adapter:
        around = AdapterContext(
            clock=self._clock,
            guard=anywhere if account.platform else self._tenant_guard,
            find_signers=self._find_signers,
            write_token=None if self._write_token is None else partial(self._write_token, account.id),
            on_inbound=discard_inbound if apart or self._hear is None else partial(self._hear, account),
            in_flight=self._in_flight,
            # A check has connections of its own, so that it tells of the server as it is now.
            pools=SharedPools() if apart else self._pools,
        )
        with _usable(account):
            return read.open(around)

    async def _read(self, account: StoredAccount, tenant_id: TenantId) -> ReadAccount:
        with _usable(account):
            return await read_account(
                account.vendor,
                {"secret_ref": account.secret_ref},
                self._secrets,
                tenant_id=None if account.platform else tenant_id,
            )

    def _make_room(self, *, besides: str) -> None:
        """Close the one that was used least recently, if it is not in use."""
        if len(self._open) <= self._most:
            return
        idle = next((name for name, one in self._open.items() if not one.users and name != besides), None)
        if idle is not None:
            self._opening.pop(idle, None)
            self._retire(self._open.pop(idle))

    def _retire(self, opened: _Open) -> None:
        opened.retired = True
        if not opened.users:
            self._close_later(opened.adapter)

    def _close_later(self, adapter: Adapter) -> None:
        task = asyncio.create_task(adapter.close())
        self._closing.add(task)
        task.add_done_callback(self._closed)

    def _closed(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("adapter_not_closed", error=type(error).__name__)


@contextmanager
def _usable(account: StoredAccount) -> Iterator[None]:
    """Whatever is wrong with an account, in the one word that its sends are told."""
    try:
        yield
    except SecretNotFoundError as error:
        raise UnusableError(_NO_SECRET, "the account's secret can't be read", wrong_of(error)) from None
    except SecretStoreError as error:
        raise UnusableError(SECRET_STORE, f"the account's secret can't be asked for: {error}") from None
    except WRONG as error:
        # These name the setting and never quote its value.
        words = f"the account's settings are wrong: {error}"
        raise UnusableError("account_settings", words, wrong_of(error)) from None
    except Exception as error:  # noqa: BLE001  # one account's odd settings must not stop the others
        _log.error("account_not_opened", account_id=account.id, error=type(error).__name__)
        raise UnusableError("account_unusable", "the account can't be used", [NOT_OPENED]) from None
