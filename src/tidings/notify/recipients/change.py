"""One known recipient changes by hand: its facts, its addresses; each change under its lock, and audited."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.contracts.profiles import MailboxNews
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.digest_windows.replan import replan_digests
from tidings.notify.quiet_hours.reconsider import reconsider_quiet
from tidings.notify.recipients import addresses as address_store
from tidings.notify.recipients import store
from tidings.notify.recipients.addresses import AddressChange
from tidings.notify.recipients.errors import (
    ErasedRecipientError,
    UnknownAddressError,
    UnknownRecipientError,
)
from tidings.notify.recipients.model import Recipient, StoredAddress
from tidings.notify.recipients.plan import HashedAddress, changes_of, proven_after
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.recipients.store import Lookup, MatchedRecipient
from tidings.notify.recipients.upsert import write_changes
from tidings.notify.refusals import store as refusal_store
from tidings.notify.refusals.model import ChannelAddress, Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRecipient:
    """A recipient with its addresses and its key."""

    recipient: Recipient
    addresses: tuple[StoredAddress, ...]
    #: None where it never had one.
    key: DataKey | None
    #: What was refused from those addresses and holds.
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecipientChanger:
    """Changes one recipient."""

    keyring: Keyring
    mailboxes: MailboxNews
    audit: AuditLog
    clock: Clock

    async def change(
        self,
        tx: TenantTx,
        recipient_id: RecipientId,
        spec: RecipientSpec,
        *,
        expect: Callable[[Recipient], None],
        actor: str,
    ) -> LoadedRecipient:
        """The recipient after the spec; `expect` refuses a version that is not the caller's."""
        known = await self._lock(tx, recipient_id)
        expect(known.recipient)
        key = await self.keyring.data_key(tx, recipient_id)
        pepper = await self.keyring.pepper(tx)
        hashed = [HashedAddress(spec=a, address_hash=pepper.hash(a.address)) for a in spec.addresses]
        now = self.clock.now()
        changes = changes_of(known, spec, hashed, key, now=now)
        if changes is not None:
            await write_changes(tx, [changes], now=now)
            if changes.facts.timezone != known.recipient.timezone:
                await reconsider_quiet(tx, [recipient_id], now=now)
                await replan_digests(tx, [recipient_id], now=now)
            proven = proven_after(known, changes)
            if proven is not None:
                await self.mailboxes.told(tx, {recipient_id: proven}, at=now)
            await self.audit.append(
                tx,
                [
                    Entry(
                        entity_type="recipient",
                        entity_id=recipient_id,
                        action="updated",
                        actor=actor,
                        before=_told(known.recipient),
                        after={
                            "locale": changes.facts.locale,
                            "timezone": changes.facts.timezone,
                            "tags": list(changes.facts.tags),
                            "attributes": changes.facts.attributes,
                            "added_ids": [a.id for a in changes.added],
                            "changed_ids": [a.id for a in changes.changed],
                        },
                    )
                ],
            )
        return await load_whole(tx, recipient_id, self.keyring)

    async def remove_address(
        self, tx: TenantTx, recipient_id: RecipientId, address_id: RecipientAddressId, *, actor: str
    ) -> None:
        """Forget an address; where it was primary, the oldest one of the channel takes its place."""
        known = await self._lock(tx, recipient_id)
        gone = await address_store.remove_addresses(tx, recipient_id=recipient_id, ids=[address_id])
        if not gone:
            raise UnknownAddressError(f"recipient {recipient_id} has no address with the id {address_id}")
        now = self.clock.now()
        if gone[0].is_primary:
            heirs = sorted(
                (
                    a
                    for (channel, _), a in known.addresses.items()
                    if channel == gone[0].channel and a.id != address_id
                ),
                key=lambda a: a.id,
            )
            if heirs:
                heir = AddressChange(id=heirs[0].id, is_primary=True, verified=heirs[0].verified)
                await address_store.change_addresses(tx, [heir], now=now)
        await store.update_recipients(tx, [store.facts_of(known.recipient)], now=now)
        if gone[0].channel == "email" and gone[0].verified and not _still_proven(known, address_id):
            await self.mailboxes.told(tx, {recipient_id: False}, at=now)
        entry = Entry(
            entity_type="recipient",
            entity_id=recipient_id,
            action="address_removed",
            actor=actor,
            before={"id": address_id, "channel": gone[0].channel},
        )
        await self.audit.append(tx, [entry])

    async def reveal(self, tx: TenantTx, recipient_id: RecipientId, *, actor: str) -> None:
        """Audit that the addresses are revealed, before the caller sees them."""
        entry = Entry("recipient", recipient_id, "addresses_revealed", actor)
        await self.audit.append(tx, [entry])

    async def _lock(self, tx: TenantTx, recipient_id: RecipientId) -> MatchedRecipient:
        await store.lock_recipients(tx, ids=[recipient_id])
        known = (await store.match_recipients(tx, Lookup(ids=[(0, tx.tenant_id, recipient_id)]))).known.get(0)
        if known is None:
            raise UnknownRecipientError(f"there is no recipient with the id {recipient_id}")
        if known.recipient.erased_at is not None:
            raise ErasedRecipientError
        return known


async def load_whole(tx: TenantTx, recipient_id: RecipientId, keyring: Keyring) -> LoadedRecipient:
    """One recipient with all that belongs to it."""
    recipient = await store.find_recipient(tx, recipient_id)
    found = await address_store.load_addresses(tx, recipient_ids=[recipient_id])
    keys: Mapping[str, DataKey] = await keyring.data_keys(tx, [recipient_id], create=False)
    refusals = await refusal_store.find_at(tx, [ChannelAddress(a.channel, a.address_hash) for a in found])
    return LoadedRecipient(
        recipient=recipient, addresses=tuple(found), key=keys.get(recipient_id), refusals=tuple(refusals)
    )


def _still_proven(known: MatchedRecipient, without: RecipientAddressId) -> bool:
    return any(
        a.verified for (channel, _), a in known.addresses.items() if channel == "email" and a.id != without
    )


def _told(recipient: Recipient) -> dict[str, object]:
    return {
        "locale": recipient.locale,
        "timezone": recipient.timezone,
        "tags": list(recipient.tags),
        "attributes": recipient.attributes,
    }
