"""Which account a hook belongs to and what its callbacks are signed with, known for a short while.

The account is looked up about once a second, its secret is read every half minute. Made-up accounts are found out
about in sets and limited by the place that they come from: no flood of them keeps a real callback out. A signature that does not fit is
tried with a fresh one before it is refused, at most once a second for each account: a flood of forgeries must not
become a flood of questions to the secret store.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from tidings.contracts.callback_forms import CallbackForm, Keys
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError, NotConfiguredError
from tidings.kernel.http.places import UNKNOWN, PlaceLimit
from tidings.kernel.ids import TenantId
from tidings.kernel.known_ids import KnownIds
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import InvalidError, TooBusyError
from tidings.kernel.secrets import SecretNotFoundError, SecretResolver, SecretStoreError
from tidings.kernel.ttl_cache import TtlCache
from tidings.router.accounts.model import ADAPTER_CONFIG
from tidings.router.adapters.registry import read_account
from tidings.router.callbacks import store
from tidings.router.callbacks.errors import HookUnavailableError
from tidings.router.callbacks.store import HookAccount

_log = get_logger("callbacks")
#: Seconds for which an account is taken to be what it was.
_LOOK_AGAIN = 1.0
#: Seconds between two fresh readings for the sake of a signature that does not fit.
_DOUBT_AGAIN = 1.0
#: A secret that leaked is used no longer than twice this after it was changed.
_LONGEST_AGE = timedelta(seconds=30)
#: Requests for accounts that there are not, from one place in a minute.
_MOST_STRANGERS = 120
#: Accounts with remembered secrets, at most.
_MOST = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackHook:
    """A hook that is set up."""

    account: HookAccount
    form: CallbackForm
    #: What its requests are proven with.
    keys: Keys = field(repr=False)
    #: When they were read, by the monotonic clock.
    read_at: float

    @property
    def tenant_id(self) -> TenantId | None:
        """The owner of the account; None: the platform, which serves all tenants."""
        return self.account.tenant_id


class CallbackHooks:
    """Finds hooks."""

    def __init__(
        self,
        db: Database,
        secrets: SecretResolver,
        *,
        clock: Clock,
        max_age: timedelta = timedelta(seconds=30),
    ) -> None:
        """A secret is read again after `max_age`, half a minute at most; where it can't be asked for, it is good for
        twice that."""
        max_age = min(max_age, _LONGEST_AGE)
        self._db = db
        self._secrets = secrets
        self._clock = clock
        self._max_age = max_age.total_seconds()
        self._accounts: TtlCache[str, HookAccount | None] = TtlCache(
            clock=clock, ttl=timedelta(seconds=_LOOK_AGAIN)
        )
        self._hooks: TtlCache[str, CallbackHook] = TtlCache(clock=clock, size=_MOST, ttl=2 * max_age)
        self._reading: dict[str, asyncio.Lock] = {}
        self._ids = KnownIds(self._find_ids, clock=clock)
        self._strangers = PlaceLimit(_MOST_STRANGERS, clock=clock)

    async def find(self, vendor: str, account_id: str, *, place: str = UNKNOWN) -> CallbackHook | None:
        """The hook at this address; None where none is set up there, and a `TooBusyError` where one address asks for too many such."""
        try:
            ADAPTER_CONFIG.parse(account_id)
        except BadValueError:
            return None
        if not await self._ids.has(account_id):
            if self._strangers.count(place) is not None:
                raise TooBusyError
            return None
        known = self._hooks.get(account_id)
        account = await self._accounts.get_or_fetch(account_id, self._look)
        if account is None or account.vendor != vendor:
            return None
        if known is not None and known.account == account and self._age(known) < self._max_age:
            return known
        return await self._renewed(account)

    async def afresh(self, hook: CallbackHook) -> CallbackHook | None:
        """The hook with its secret as it is now; None where it was read a moment ago or is the same."""
        if self._age(hook) < _DOUBT_AGAIN:
            return None
        async with self._lock(hook.account.id):
            known = self._hooks.get(hook.account.id)
            if known is None or known.read_at <= hook.read_at:
                known = await self._read(hook.account)
        return known if known is not None and known.keys != hook.keys else None

    async def _find_ids(self, ids: Sequence[str]) -> Collection[str]:
        async with self._db.worker() as tx:
            return await store.find_known(tx, account_ids=ids)

    async def _renewed(self, account: HookAccount) -> CallbackHook | None:
        async with self._lock(account.id):
            known = self._hooks.get(account.id)
            if known is not None and known.account != account:
                known = None
            if known is not None and self._age(known) < self._max_age:
                return known
            try:
                return await self._read(account)
            except HookUnavailableError:
                if known is None:
                    raise
                return known

    async def _look(self, account_id: str) -> HookAccount | None:
        async with self._db.worker() as tx:
            owner = await store.find_owner(tx, account_id=account_id)
        if owner is None:
            return None
        async with self._db.scoped(owner.tenant_id) as tx:
            return await store.load_account(tx, account_id=account_id)

    async def _read(self, account: HookAccount) -> CallbackHook | None:
        """Read the secret; remembered only where there is one."""
        read_at = self._clock.monotonic()
        try:
            read = await read_account(
                account.vendor, {"secret_ref": account.secret_ref}, self._secrets, tenant_id=account.tenant_id
            )
        except SecretStoreError:
            _log.warning("hook_secret_not_read", account_id=account.id, vendor=account.vendor)
            raise HookUnavailableError from None
        except (SecretNotFoundError, BadValueError, InvalidError, NotConfiguredError) as error:
            _log.warning("hook_unusable", account_id=account.id, vendor=account.vendor, code=error.code)
            return None
        form = read.kind.callbacks
        keys = form.keys(read.settings) if form is not None else None
        if form is None or keys is None:
            return None
        hook = CallbackHook(account=account, form=form, keys=keys, read_at=read_at)
        self._hooks.put(account.id, hook)
        return hook

    def _age(self, hook: CallbackHook) -> float:
        return self._clock.monotonic() - hook.read_at

    def _lock(self, account_id: str) -> asyncio.Lock:
        # One for each account that exists, and those are few.
        return self._reading.setdefault(account_id, asyncio.Lock())
