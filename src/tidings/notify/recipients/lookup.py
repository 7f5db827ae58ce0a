"""The use case "who has this address?": an address in, recipients out; the audit keeps who asked, and the hash."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidings.contracts.addresses import normalise, sharing
from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.recipients import addresses as address_store
from tidings.notify.recipients import store
from tidings.notify.recipients.change import LoadedRecipient

#: Recipients with one address that are found at most.
MOST_FOUND: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Owners:
    """Those who have an address, the oldest first."""

    address_hash: str
    ids: list[RecipientId]
    #: There are more than are named here.
    more: bool


class AddressFinder:
    """Finds people by an address of theirs."""

    def __init__(self, *, keyring: Keyring, audit: AuditLog) -> None:
        self._keyring = keyring
        self._audit = audit

    async def owners(
        self, tx: TenantTx, *, channel: Channel, address: str, actor: str, field: str = "address"
    ) -> Owners:
        """Who has the address now; noted in the audit with its hash. A `BadValueError` names `field` where it is none."""
        spelt = normalise(channel, address, field=field)
        address_hash = (await self._keyring.pepper(tx)).hash(spelt)
        ids = await store.find_by_address(
            tx, channels=sharing(channel), address_hash=address_hash, limit=MOST_FOUND + 1
        )
        entry = Entry(
            entity_type="recipient",
            entity_id=address_hash,
            action="looked_up",
            actor=actor,
            after={"channel": channel, "found_count": len(ids[:MOST_FOUND])},
        )
        await self._audit.append(tx, [entry])
        return Owners(address_hash=address_hash, ids=ids[:MOST_FOUND], more=len(ids) > MOST_FOUND)

    async def load(self, tx: TenantTx, ids: Sequence[RecipientId]) -> list[LoadedRecipient]:
        """They with all that belongs to them, in the same order; three statements, however many."""
        if not ids:
            return []
        found = await store.find_recipients(tx, ids=ids)
        addresses = await address_store.load_addresses(tx, recipient_ids=list(ids))
        keys = await self._keyring.data_keys(tx, list(ids), create=False)
        return [
            LoadedRecipient(
                recipient=found[one],
                addresses=tuple(address for address in addresses if address.recipient_id == one),
                key=keys.get(one),
            )
            for one in ids
            if one in found
        ]
