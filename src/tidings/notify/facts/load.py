"""Loads the facts for a whole set of notifications of one tenant, in a bounded number of statements.

Deciding once per notification: 2 (tenant with channels, people), and 1 more where a recipient has a guardian.
Deciding a step: 3 more (addresses, keys, suppressions with refusals), however many there are. Which accounts are shared is
remembered for a second, and the router asks for the same accounts next.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.channel_configs import SharedAccounts
from tidings.contracts.ids import RecipientId
from tidings.contracts.senders import SENDERLESS
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.platform_pepper import PlatformPepper
from tidings.kernel.mapping import by_name
from tidings.notify.categories.model import merged
from tidings.notify.categories.registry import Categories
from tidings.notify.facts import store
from tidings.notify.facts.model import AddressFacts, Facts, PersonFacts, SharedFacts
from tidings.notify.facts.store import PersonRow
from tidings.notify.recipients import addresses as address_store
from tidings.notify.recipients.model import StoredAddress, address_purpose
from tidings.notify.suppressions import store as suppression_store
from tidings.notify.suppressions.model import (
    SuppressionLookup,
    SuppressionQuestion,
    domain_hash_of,
    mail_domain_of,
)
from tidings.notify.tenants.model import zone_exists


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FactsLoader:
    """Reads; writes nothing."""

    platform_pepper: PlatformPepper
    keyring: Keyring
    categories: Categories
    accounts: SharedAccounts
    clock: Clock

    async def shared(self) -> SharedFacts:
        """What all tenants share; remembered. Ask before a transaction begins: it may take a connection of its own."""
        categories = await self.categories.all()
        return SharedFacts(categories=categories, platform_pepper=await self.platform_pepper.get())

    async def load(
        self,
        tx: TenantTx,
        shared: SharedFacts,
        recipient_ids: Iterable[RecipientId],
        *,
        channels: Iterable[Channel] | None = None,
        guardians: bool = True,
    ) -> Facts:
        """The facts about these people, and about their guardians.

        `channels`: those whose addresses are wanted, decrypted and looked up among the suppressions; None for none
        at all, which is enough to decide once per notification.
        """
        tenant = await store.load_tenant(tx)
        people = await store.load_people(tx, recipient_ids=sorted(set(recipient_ids)))
        if guardians:
            people |= await self._guardians(tx, people)
        wanted = tuple(dict.fromkeys(channels)) if channels is not None else ()
        addresses: dict[RecipientId, dict[Channel, list[AddressFacts]]] = {}
        keys: dict[str, DataKey] = {}
        if not SENDERLESS.issuperset(wanted):
            tenant = replace(tenant, shared=await self.accounts.shared(tx))
        if wanted:
            stored = await address_store.load_addresses(tx, recipient_ids=list(people), channels=wanted)
            # Rows first, then their keys: a key can be rotated in between, and the newer one opens older rows.
            keys = await self.keyring.data_keys(tx, list(people), create=False)
            addresses = await self._addresses(tx, shared, stored, keys)
        return Facts(
            tenant=tenant,
            categories=merged(shared.categories, tenant.categories),
            people={
                row.id: _person(row, addresses.get(row.id, {}), keys.get(row.id), tenant.timezone)
                for row in people.values()
            },
        )

    async def _guardians(
        self, tx: TenantTx, people: dict[RecipientId, PersonRow]
    ) -> dict[RecipientId, PersonRow]:
        # A guardian's own guardian is not asked: the rule is applied once.
        named = {
            RecipientId(person.choices.guardian_routing.guardian_id)
            for person in people.values()
            if person.choices.guardian_routing is not None
        }
        missing = sorted(named - people.keys())
        return await store.load_people(tx, recipient_ids=missing) if missing else {}

    async def _addresses(
        self, tx: TenantTx, shared: SharedFacts, stored: Sequence[StoredAddress], keys: dict[str, DataKey]
    ) -> dict[RecipientId, dict[Channel, list[AddressFacts]]]:
        opened = [_open(address, keys.get(address.recipient_id)) for address in stored]
        standing = SuppressionLookup(held={}, refused={})
        if stored:
            pepper = await self.keyring.pepper(tx)
            questions = [
                SuppressionQuestion(
                    channel=address.channel,
                    address_hash=address.address_hash,
                    platform_hash=None if value is None else shared.platform_pepper.hash(value),
                    mail_domain=None if value is None else mail_domain_of(address.channel, value),
                    domain_hash=None if value is None else domain_hash_of(address.channel, value, pepper),
                )
                for address, value in zip(stored, opened, strict=True)
            ]
            standing = await suppression_store.find_held(tx, questions, now=self.clock.now())
        found: dict[RecipientId, dict[Channel, list[AddressFacts]]] = {}
        for place, (address, value) in enumerate(zip(stored, opened, strict=True)):
            facts = by_name(
                AddressFacts,
                address,
                value=value,
                held=standing.held.get(place),
                refused=standing.refused.get(place, {}),
            )
            found.setdefault(address.recipient_id, {}).setdefault(address.channel, []).append(facts)
        return found


def _open(address: StoredAddress, key: DataKey | None) -> NormalisedAddress | None:
    if key is None:
        return None
    try:
        return NormalisedAddress(key.unseal(address.ciphertext, address_purpose(address.channel)).decode())
    except DestroyedKeyError:
        return None


def _person(
    row: PersonRow,
    addresses: dict[Channel, list[AddressFacts]],
    key: DataKey | None,
    tenant_timezone: str,
) -> PersonFacts:
    return by_name(
        PersonFacts,
        row,
        # Zones get new names now and then; one that this machine does not know must not stop a whole set.
        timezone=row.timezone if zone_exists(row.timezone) else tenant_timezone,
        addresses={channel: tuple(found) for channel, found in addresses.items()},
        key=key,
    )
