"""Makes and changes vendor accounts, in the transaction of the change that it belongs to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tidings.contracts.channel_configs import Account, ConfigureAccount
from tidings.contracts.prices import PriceModel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.mapping import attributes, by_name
from tidings.router.accounts import store
from tidings.router.accounts.errors import AccountExistsError, PlatformAccountError
from tidings.router.accounts.model import ADAPTER_CONFIG, StoredAccount, chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTerms:
    """What an account costs and how much it takes, whole; None: no price, no limit."""

    prices: PriceModel | None
    per_second: int | None
    per_day: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountChange:
    """What is to be changed; None stays as it is."""

    secret_ref: str | None = None
    #: Empty: it has none.
    handle: str | None = None
    active: bool | None = None
    #: Written though nothing of it differs: what the reference leads to is another, and all processes read it anew.
    renew: bool = False


class AdapterConfigs:
    """The router's `ChannelConfigs`."""

    def __init__(self, vendors: Mapping[str, frozenset[str]], *, audit: AuditLog, clock: Clock) -> None:
        """`vendors` are the adapters by name, with the channels that each serves; `audit` is of schema `chan`."""
        self._vendors = dict(vendors)
        self._audit = audit
        self._clock = clock

    def vendors(self) -> Mapping[str, frozenset[str]]:
        """Every adapter by its name, with the channels that it serves."""
        return self._vendors

    async def configure(
        self, tx: TenantTx, commands: Sequence[ConfigureAccount], *, actor: str
    ) -> dict[str, Account]:
        """Make or change the tenant's own accounts; by vendor."""
        return await self._configure(tx, commands, actor=actor)

    async def configure_platform(
        self, tx: PlatformTx, commands: Sequence[ConfigureAccount], *, actor: str
    ) -> dict[str, Account]:
        """Make or change the platform's accounts, which every tenant may send through; by vendor.

        Where nothing differs nothing is written, so that every start may say what it needs.
        """
        return await self._configure(tx, commands, actor=actor)

    async def _configure(
        self, tx: TenantTx | PlatformTx, commands: Sequence[ConfigureAccount], *, actor: str
    ) -> dict[str, Account]:
        platform = isinstance(tx, PlatformTx)
        await store.lock_accounts(tx)
        found = await store.find_accounts(tx, vendors=[c.vendor for c in commands])
        known = chosen(account for account in found if account.platform == platform)
        now = self._clock.now()
        fresh = [_new(c, now, platform=platform) for c in commands if c.vendor not in known]
        changed = [
            after
            for c in commands
            if c.vendor in known and ((after := _after(known[c.vendor], c)) != known[c.vendor] or c.renew)
        ]
        if fresh:
            await store.insert_accounts(tx, fresh)
        if changed:
            await store.update_accounts(tx, changed, now=now, anew=True)
        await self._audit.append(
            tx,
            [
                _entry(action, known.get(account.vendor), account, actor)
                for action, accounts in (("created", fresh), ("updated", changed))
                for account in accounts
            ],
        )
        return {a.vendor: _shown(a) for a in (*known.values(), *fresh, *changed)}

    async def create(
        self, tx: TenantTx | PlatformTx, command: ConfigureAccount, *, actor: str
    ) -> StoredAccount:
        """A new account of the tenant's, or the platform's; an owner has one with each vendor."""
        platform = isinstance(tx, PlatformTx)
        await store.lock_accounts(tx)
        found = await store.find_accounts(tx, vendors=[command.vendor])
        known = next((one for one in found if one.platform == platform), None)
        if known is not None:
            raise AccountExistsError(known.id, known.vendor)
        fresh = _new(command, self._clock.now(), platform=platform)
        await store.insert_accounts(tx, [fresh])
        await self._audit.append(tx, [_entry("created", None, fresh, actor)])
        return fresh

    async def set_terms(
        self,
        tx: TenantTx | PlatformTx,
        account_id: str,
        terms: AccountTerms,
        *,
        expect: Callable[[StoredAccount], None],
        actor: str,
    ) -> StoredAccount:
        """The account under these terms; `expect` refuses a version that is not the caller's."""
        before = await self._own(tx, account_id, expect)
        after = replace(before, prices=terms.prices, per_second=terms.per_second, per_day=terms.per_day)
        return before if after == before else await self._put(tx, "updated", before, after, actor, anew=False)

    async def change(
        self,
        tx: TenantTx | PlatformTx,
        account_id: str,
        change: AccountChange,
        *,
        expect: Callable[[StoredAccount], None],
        actor: str,
    ) -> StoredAccount:
        """The account after the change. One that names the reference is written also where it is the same: all read it anew."""
        before = await self._own(tx, account_id, expect)
        after = replace(
            before,
            secret_ref=before.secret_ref if change.secret_ref is None else change.secret_ref,
            handle=before.handle if change.handle is None else change.handle or None,
            active=before.active if change.active is None else change.active,
        )
        if after == before and change.secret_ref is None and not change.renew:
            return before
        action = "updated" if after.active == before.active else "enabled" if after.active else "disabled"
        return await self._put(tx, action, before, after, actor, anew=True)

    async def _own(
        self, tx: TenantTx | PlatformTx, account_id: str, expect: Callable[[StoredAccount], None]
    ) -> StoredAccount:
        await store.lock_accounts(tx)
        known = await store.find_account(tx, account_id)
        if known.platform and isinstance(tx, TenantTx):
            raise PlatformAccountError
        expect(known)
        return known

    async def _put(
        self,
        tx: TenantTx | PlatformTx,
        action: str,
        before: StoredAccount,
        after: StoredAccount,
        actor: str,
        *,
        anew: bool,
    ) -> StoredAccount:
        now = self._clock.now()
        await store.update_accounts(tx, [after], now=now, anew=anew)
        await self._audit.append(tx, [_entry(action, before, after, actor)])
        return replace(after, version=before.version + 1, changed_at=now)

    async def accounts(self, tx: TenantTx, vendors: Sequence[str]) -> dict[str, Account]:
        """The tenant's own, or else the platform's; by vendor."""
        found = chosen(await store.find_accounts(tx, vendors=vendors))
        return {vendor: _shown(account) for vendor, account in found.items()}


def _new(command: ConfigureAccount, now: datetime, *, platform: bool) -> StoredAccount:
    return StoredAccount(
        id=ADAPTER_CONFIG.new(now),
        platform=platform,
        **attributes(command, "vendor handle secret_ref per_second per_day prices"),
    )


def _after(known: StoredAccount, command: ConfigureAccount) -> StoredAccount:
    return replace(
        known,
        secret_ref=command.secret_ref,
        handle=known.handle if command.handle is None else command.handle,
        per_second=known.per_second if command.per_second is None else command.per_second,
        per_day=known.per_day if command.per_day is None else command.per_day,
        prices=known.prices if command.prices is None else command.prices,
    )


def _entry(action: str, before: StoredAccount | None, after: StoredAccount, actor: str) -> Entry:
    return Entry(
        entity_type="adapter_config",
        entity_id=after.id,
        action=action,
        actor=actor,
        before=None if before is None else _told(before),
        after=_told(after),
    )


def _told(account: StoredAccount) -> dict[str, object]:
    return {
        "vendor": account.vendor,
        "secret_ref": account.secret_ref,
        "per_second": account.per_second,
        "per_day": account.per_day,
        "prices": account.prices,
        "active": account.active,
    }


def _shown(account: StoredAccount) -> Account:
    return by_name(Account, account)
