"""The use cases "a vendor account is made, changed, switched off": looked at first, then written in one transaction."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from tidings.contracts.channel_configs import ConfigureAccount, VendorProbe, adapter_of
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.secrets import SecretStoreError
from tidings.router.accounts import store
from tidings.router.accounts.account_faults import REFERENCE
from tidings.router.accounts.errors import PlatformAccountError, SecretsNotAskedError
from tidings.router.accounts.model import StoredAccount
from tidings.router.channel_configs.configure import AccountChange, AdapterConfigs

#: Begins a transaction of the owner.
Begin: TypeAlias = Callable[[], AbstractAsyncContextManager[TenantTx | PlatformTx]]


class AccountChanger:
    """Accounts of a tenant's own, and of the platform; an owner of None is the platform."""

    def __init__(self, configs: AdapterConfigs, desk: VendorProbe) -> None:
        self._configs = configs
        self._desk = desk

    async def add(
        self, begin: Begin, owner: TenantId | None, command: ConfigureAccount, *, actor: str
    ) -> StoredAccount:
        """Make one; refused where no adapter is behind the vendor's name, or it can't read the settings."""
        adapters = self._configs.vendors()
        if adapter_of(command.vendor, adapters) is None:
            raise BadValueError(
                "vendor",
                f"must be one of {', '.join(sorted(adapters))}, or one of them with _ and a name of your own",
            )
        await self._refuse_unreadable(owner, command.vendor, command.secret_ref)
        async with begin() as tx:
            return await self._configs.create(tx, command, actor=actor)

    async def change(
        self,
        begin: Begin,
        owner: TenantId | None,
        account_id: str,
        change: AccountChange,
        *,
        expect: Callable[[StoredAccount], None],
        actor: str,
    ) -> StoredAccount:
        """Change one; `expect` refuses a version that is not the caller's."""
        if change.secret_ref is not None:
            async with begin() as tx:
                known = await store.find_account(tx, account_id)
            if known.platform and owner is not None:
                raise PlatformAccountError
            expect(known)
            await self._refuse_unreadable(owner, known.vendor, change.secret_ref)
        async with begin() as tx:
            return await self._configs.change(tx, account_id, change, expect=expect, actor=actor)

    async def _refuse_unreadable(self, owner: TenantId | None, vendor: str, secret_ref: str) -> None:
        """Before the transaction: it reads files, or asks the secret store."""
        try:
            wrong = await self._desk.wrong_with(owner, vendor, secret_ref)
        except SecretStoreError as error:
            raise SecretsNotAskedError(f"{error}; nothing was changed") from None
        if wrong:
            raise InvalidError([FieldError(_named(one.field), one.remedy) for one in wrong])


def _named(setting: str) -> str:
    """A setting in what the reference leads to: `secret_ref.host`."""
    return REFERENCE if setting in {REFERENCE, ""} else f"{REFERENCE}.{setting}"
