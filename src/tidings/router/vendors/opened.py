"""Adapters that are open, one for each account, with their pooled connections."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from tidings.contracts.adapters import Adapter
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError, NotConfiguredError, TidingsError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import InvalidError
from tidings.kernel.secrets import SecretNotFoundError, SecretResolver
from tidings.router.adapters.egress import Guard, anywhere, public_only
from tidings.router.adapters.registry import Surroundings, open_adapter
from tidings.router.adapters.smtp import FindSigners
from tidings.router.channel_configs.store import StoredAccount

#: Seconds that vendors get for the end of their connections when we end.
_GOODBYE = 0.5

_log = get_logger("vendors")


class UnusableError(TidingsError):
    """The account can't be used as it is set up."""

    code = "account_unusable"

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code  # type: ignore[misc]  # the vendor's side of the story, as attempts keep it


@dataclass(slots=True)
class _Open:
    version: int
    adapter: Adapter
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
        most: int = 500,
        try_again: timedelta = timedelta(seconds=1),
    ) -> None:
        """`tenant_guard` says where tenants' own accounts may lead; the platform's may lead anywhere."""
        self._secrets = secrets
        self._clock = clock
        self._tenant_guard = tenant_guard
        self._find_signers = find_signers
        self._most = most
        self._try_again = try_again.total_seconds()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._failed: dict[str, _Failed] = {}
        self._opening: dict[str, asyncio.Lock] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def borrow(self, account: StoredAccount, tenant_id: TenantId) -> AsyncIterator[Adapter]:
        """The account's adapter, which is not closed meanwhile; an `UnusableError` says what is wrong with it."""
        opened = self._open.get(account.id)
        if opened is None or opened.version != account.version:
            async with self._opening.setdefault(account.id, asyncio.Lock()):
                opened = await self._renewed(account, tenant_id)
        opened.users += 1
        self._open.move_to_end(account.id)
        try:
            yield opened.adapter
        finally:
            opened.users -= 1
            if opened.retired and not opened.users:
                self._close_later(opened.adapter)

    async def close(self) -> None:
        """End all connections; what is still being sent is given back."""
        while self._open:
            self._close_later(self._open.popitem()[1].adapter)
        if self._closing:
            # Whoever is silent now has been silent for all the time that there was to finish in.
            await asyncio.wait(self._closing, timeout=_GOODBYE)

    async def _renewed(self, account: StoredAccount, tenant_id: TenantId) -> _Open:
        opened = self._open.get(account.id)
        # Somebody was quicker; and one that is newer than what we know of is right too.
        if opened is not None and opened.version >= account.version:
            return opened
        failed = self._failed.get(account.id)
        if failed is not None and failed.version == account.version:
            if self._clock.monotonic() < failed.again_at:
                raise failed.error
            del self._failed[account.id]
        try:
            adapter = await self._make(account, None if account.platform else tenant_id)
        except UnusableError as error:
            again_at = self._clock.monotonic() + self._try_again
            self._failed[account.id] = _Failed(account.version, error, again_at)
            _log.warning("account_unusable", account_id=account.id, vendor=account.vendor, code=error.code)
            raise
        if opened is not None:
            self._retire(opened)
        self._open[account.id] = fresh = _Open(account.version, adapter)
        self._make_room(besides=account.id)
        return fresh

    async def _make(self, account: StoredAccount, owner: TenantId | None) -> Adapter:
        around = Surroundings(
            clock=self._clock,
            guard=anywhere if owner is None else self._tenant_guard,
            find_signers=self._find_signers,
        )
        try:
            return await open_adapter(
                account.vendor,
                {"secret_ref": account.secret_ref},
                self._secrets,
                surroundings=around,
                tenant_id=owner,
            )
        except SecretNotFoundError:
            raise UnusableError("account_secret", "the account's secret can't be read") from None
        except (BadValueError, InvalidError, NotConfiguredError) as error:
            # These name the setting and never quote its value.
            raise UnusableError("account_settings", f"the account's settings are wrong: {error}") from None
        except Exception as error:  # noqa: BLE001  # one account's odd settings must not stop the others
            _log.error("account_not_opened", account_id=account.id, error=type(error).__name__)
            raise UnusableError("account_unusable", "the account can't be used") from None

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
