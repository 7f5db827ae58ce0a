"""Loads the facts for a whole set of notifications, of one tenant or of many, in a bounded number of statements.

Deciding once per notification: 2 (tenants with channels, people), and 1 more where a recipient has a guardian.
Deciding a step: 3 more (addresses, keys, suppressions with refusals), however many there are. Which accounts are shared is
remembered, and the router asks for the same accounts next.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.channel_configs import SharedAccounts
from tidings.contracts.ids import RecipientId
from tidings.contracts.senders import SENDERLESS
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.ciphers import UnreadableError
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring, Subject
from tidings.kernel.keys.platform_pepper import PlatformPepper
from tidings.kernel.logs import get_logger, why
from tidings.kernel.mapping import by_name
from tidings.notify.categories.model import merged
from tidings.notify.categories.registry import Categories
from tidings.notify.facts import store
from tidings.notify.facts.model import AddressFacts, Facts, PersonFacts, SharedFacts
from tidings.notify.facts.store import Person, PersonRow
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

_log = get_logger("facts")


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
        """The facts about these people of one tenant, and about their guardians."""
        mine = tx.tenant_id
        people = [(mine, recipient_id) for recipient_id in recipient_ids]
        return (
            await self.load_set(tx, shared, people, owners=(mine,), channels=channels, guardians=guardians)
        )[mine]

    async def load_set(
        self,
        tx: TenantTx | TenantsTx,
        shared: SharedFacts,
        people: Iterable[Person],
        *,
        owners: Iterable[TenantId] = (),
        channels: Iterable[Channel] | None = None,
        guardians: bool = True,
    ) -> dict[TenantId, Facts]:
        """The facts about these people and their guardians, by tenant; of `owners` also where none of theirs is asked for.

        `channels`: those whose addresses are wanted, decrypted and looked up among the suppressions; None for none
        at all, which is enough to decide once per notification.
        """
        asked = set(people)
        tenants = await store.load_tenants(tx, {*owners, *(tenant_id for tenant_id, _ in asked)})
        known = await store.load_people(tx, asked)
        if guardians:
            known |= await self._guardians(tx, known)
        wanted = tuple(dict.fromkeys(channels)) if channels is not None else ()
        addresses: dict[Person, dict[Channel, list[AddressFacts]]] = {}
        keys: dict[Subject, DataKey] = {}
        if not SENDERLESS.issuperset(wanted):
            accounts = await self.accounts.shared_by(tx, tenants)
            tenants = {
                tenant_id: replace(tenant, shared=accounts[tenant_id])
                for tenant_id, tenant in tenants.items()
            }
        if wanted:
            stored = await address_store.load_addresses_of(tx, list(known), channels=wanted)
            # Rows first, then their keys: a key can be rotated in between, and the newer one opens older rows.
            keys = await self.keyring.data_keys_of(tx, list(known), create=False)
            addresses = await self._addresses(tx, shared, stored, keys)
        found: dict[TenantId, dict[RecipientId, PersonFacts]] = {tenant_id: {} for tenant_id in tenants}
        for person, row in known.items():
            found[person[0]][row.id] = _person(
                row, addresses.get(person, {}), keys.get(person), tenants[person[0]].timezone
            )
        return {
            tenant_id: Facts(
                tenant=tenant,
                categories=merged(shared.categories, tenant.categories),
                people=found[tenant_id],
            )
            for tenant_id, tenant in tenants.items()
        }

    async def _guardians(
        self, tx: TenantTx | TenantsTx, people: Mapping[Person, PersonRow]
    ) -> dict[Person, PersonRow]:
        # A guardian's own guardian is not asked: the rule is applied once.
        named = {
            (tenant_id, RecipientId(person.choices.guardian_routing.guardian_id))
            for (tenant_id, _), person in people.items()
            if person.choices.guardian_routing is not None
        }
        missing = named - people.keys()
        return await store.load_people(tx, missing) if missing else {}

    async def _addresses(
        self,
        tx: TenantTx | TenantsTx,
        shared: SharedFacts,
        stored: Sequence[tuple[TenantId, StoredAddress]],
        keys: Mapping[Subject, DataKey],
    ) -> dict[Person, dict[Channel, list[AddressFacts]]]:
        opened = [
            _open(address, keys.get((tenant_id, address.recipient_id))) for tenant_id, address in stored
        ]
        standing = SuppressionLookup(held={}, refused={})
        if stored:
            peppers = await self.keyring.peppers(tx, {tenant_id for tenant_id, _ in stored})
            questions = [
                SuppressionQuestion(
                    tenant_id=tenant_id,
                    channel=address.channel,
                    address_hash=address.address_hash,
                    platform_hash=None if value is None else shared.platform_pepper.hash(value),
                    mail_domain=None if value is None else mail_domain_of(address.channel, value),
                    domain_hash=None
                    if value is None
                    else domain_hash_of(address.channel, value, peppers[tenant_id]),
                )
                for (tenant_id, address), value in zip(stored, opened, strict=True)
            ]
            standing = await suppression_store.find_held(tx, questions, now=self.clock.now())
        found: dict[Person, dict[Channel, list[AddressFacts]]] = {}
        for place, ((tenant_id, address), value) in enumerate(zip(stored, opened, strict=True)):
            facts = by_name(
                AddressFacts,
                address,
                value=value,
                held=standing.held.get(place),
                refused=standing.refused.get(place, {}),
            )
            whose = found.setdefault((tenant_id, address.recipient_id), {})
            whose.setdefault(address.channel, []).append(facts)
        return found


def _open(address: StoredAddress, key: DataKey | None) -> NormalisedAddress | None:
    if key is None:
        return None
    try:
        return NormalisedAddress(key.unseal(address.ciphertext, address_purpose(address.channel)).decode())
    except DestroyedKeyError:
        return None
    except UnreadableError as error:
        # One row that is damaged is no fault of the others of its set.
        _log.error("address_unreadable", address_id=address.id, **why(error))
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
