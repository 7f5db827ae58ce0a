"""The use cases "a secret is entered, replaced, removed": what reads it is looked at first and reads it anew at once."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from tidings.contracts.channel_configs import VendorProbe
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.signed_webhooks.secrets import SIGNING_FORM, signs
from tidings.router.accounts.model import StoredAccount
from tidings.router.accounts.store import find_accounts
from tidings.router.channel_configs.change_account import Begin
from tidings.router.channel_configs.configure import AccountChange, AdapterConfigs
from tidings.router.sealed_secrets import store
from tidings.router.sealed_secrets.errors import SecretInUseError, UnknownSecretError
from tidings.router.sealed_secrets.model import SCHEME, SealedSecret, reference, subject_of
from tidings.router.sealed_secrets.resolve import trying
from tidings.router.sealed_secrets.sealing import seal


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretWithReaders:
    """A secret, and the accounts that read it."""

    secret: SealedSecret
    used_by: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SecretChanger:
    """Secrets of a tenant, and of the platform; an owner of None is the platform."""

    configs: AdapterConfigs
    desk: VendorProbe
    keyring: Keyring
    _: KW_ONLY
    audit: AuditLog
    clock: Clock

    async def list(self, tx: TenantTx | PlatformTx) -> list[SecretWithReaders]:
        """All, by name; never what is in them."""
        readers, webhooks = await _readers(tx), await _webhooks(tx)
        return [
            SecretWithReaders(secret=secret, used_by=_named(name, readers, webhooks))
            for name, secret in (await store.find_secrets(tx)).items()
        ]

    async def put(
        self, begin: Begin, owner: TenantId | None, name: str, text: str, *, actor: str
    ) -> SecretWithReaders:
        """Enter it, or another in its place. Where an account could not use it the old one stays."""
        async with begin() as tx:
            readers = (await _readers(tx)).get(name, [])
            signed = (await _webhooks(tx)).get(reference(name), [])
        if signed and not signs(text):
            raise BadValueError("value", f"{SIGNING_FORM} (for {', '.join(signed)})")
        await self._refuse_unusable(owner, name, text, readers)
        now = self.clock.now()
        async with begin() as tx:
            await store.lock_secret(tx, name)
            known = (await store.find_secrets(tx, [name])).get(name)
            box = await seal(self.keyring, tx, name, text)
            write = store.insert_secret if known is None else store.update_secret
            await write(tx, name, box, actor=actor, now=now)
            readers = (await _readers(tx)).get(name, [])
            for account in readers:
                # Its reference stays what it is: another transaction may be changing it at this moment.
                await self.configs.change(
                    tx, account.id, AccountChange(renew=True), expect=lambda _: None, actor=actor
                )
            action = "created" if known is None else "replaced"
            await self.audit.append(tx, [_entry(name, action, actor, readers)])
            written = (await store.find_secrets(tx, [name]))[name]
            webhooks = await _webhooks(tx)
        return SecretWithReaders(secret=written, used_by=_named(name, {name: readers}, webhooks))

    async def remove(self, tx: TenantTx | PlatformTx, name: str, *, actor: str) -> None:
        """Remove it, and destroy its key; refused while an account reads it."""
        await store.lock_secret(tx, name)
        if name not in await store.find_secrets(tx, [name]):
            raise UnknownSecretError
        if users := _named(name, await _readers(tx), await _webhooks(tx)):
            raise SecretInUseError(users)
        await store.delete_secret(tx, name)
        if isinstance(tx, TenantTx):
            await self.keyring.destroy(tx, [subject_of(name)])
        await self.audit.append(tx, [_entry(name, "removed", actor, ())])

    async def _refuse_unusable(
        self, owner: TenantId | None, name: str, text: str, readers: Sequence[StoredAccount]
    ) -> None:
        with trying(owner, name, text):
            for account in readers:
                wrong = await self.desk.wrong_with(owner, account.vendor, reference(name))
                if wrong:
                    raise InvalidError(
                        [
                            FieldError(
                                f"value.{one.field}" if one.field else "value",
                                f"{one.remedy} (for {account.id})",
                            )
                            for one in wrong
                        ]
                    )


async def _readers(tx: TenantTx | PlatformTx) -> dict[str, list[StoredAccount]]:
    """The owner's accounts by the name of the secret that they read."""
    platform = isinstance(tx, PlatformTx)
    found: dict[str, list[StoredAccount]] = {}
    for account in await find_accounts(tx):
        scheme, _, name = account.secret_ref.partition("://")
        if account.platform == platform and scheme == SCHEME:
            found.setdefault(name, []).append(account)
    return found


async def _webhooks(tx: TenantTx | PlatformTx) -> dict[str, list[str]]:
    return await store.find_webhooks(tx) if isinstance(tx, TenantTx) else {}


def _named(
    name: str, readers: Mapping[str, Sequence[StoredAccount]], webhooks: Mapping[str, Sequence[str]]
) -> list[str]:
    return [*(one.id for one in readers.get(name, ())), *webhooks.get(reference(name), ())]


def _entry(name: str, action: str, actor: str, readers: Sequence[StoredAccount]) -> Entry:
    return Entry(
        entity_type="account_secret",
        entity_id=name,
        action=action,
        actor=actor,
        after={"used_by": [one.id for one in readers]},
    )
