"""Loads the facts for a whole set of notifications, of one tenant or of many, in a bounded number of statements.

Tenants with their channels, people, and 1 statement more where a recipient has a guardian; deciding a step: suppressions with
refusals too, however many there are. Dispatch remembers tenants, and reads people along with their notifications: that
leaves the suppressions. Which accounts are shared is remembered, and the router asks for the same accounts next.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

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
from tidings.kernel.keys.keyring import Keyring, StoredKey, Subject
from tidings.kernel.keys.platform_pepper import PlatformPepper
from tidings.kernel.logs import get_logger, why
from tidings.notify.categories.model import merged
from tidings.notify.categories.registry import Categories
from tidings.notify.facts import store
from tidings.notify.facts.model import AddressFacts, Facts, PersonFacts, SharedFacts, TenantFacts
from tidings.notify.facts.store import Person, PersonRow, SealedAddress
from tidings.notify.facts.tenants import KnownTenants
from tidings.notify.ids import AddressRefusalId
from tidings.notify.recipients.model import address_purpose
from tidings.notify.suppressions import store as suppression_store
from tidings.notify.suppressions.model import (
    SuppressionLookup,
    SuppressionQuestion,
    domain_hash_of,
    mail_domain_of,
)
from tidings.notify.tenants.model import zone_exists

_log = get_logger("facts")
_NO_ADDRESSES: Final[Mapping[Channel, tuple[AddressFacts, ...]]] = {}
_NOTHING_REFUSED: Final[Mapping[str, AddressRefusalId]] = {}
#: Whose, as it is stored, and the address itself; None where it can't be opened.
_Opened: TypeAlias = tuple[Person, SealedAddress, NormalisedAddress | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FactsLoader:
    """Reads; writes nothing."""

    platform_pepper: PlatformPepper
    keyring: Keyring
    categories: Categories
    accounts: SharedAccounts
    known_tenants: KnownTenants
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
        """The facts about these people of one tenant, and about their guardians, as they are at this moment.

        `channels`: those whose addresses are wanted, decrypted and looked up among the suppressions; None for none
        at all, which is enough to decide once per notification.
        """
        mine, wanted = tx.tenant_id, tuple(dict.fromkeys(channels or ()))
        tenant = await store.load_tenant(tx)
        if not SENDERLESS.issuperset(wanted):
            tenant = replace(tenant, shared=(await self.accounts.shared_by(tx, [mine]))[mine])
        asked = [(mine, recipient_id) for recipient_id in recipient_ids]
        people = await store.load_people(tx, asked, channels=wanted)
        return (await self._facts(tx, shared, {mine: tenant}, people, wanted, guardians=guardians))[mine]

    async def load_set(
        self,
        tx: TenantTx | TenantsTx,
        shared: SharedFacts,
        tenant_ids: Collection[TenantId],
        people: Mapping[Person, PersonRow],
        *,
        channels: Iterable[Channel],
        others: Iterable[Person] = (),
        guardians: bool = True,
        last: bool = False,
    ) -> dict[TenantId, Facts]:
        """The same for several tenants, by tenant: about people who were read, `others` who were not, and guardians.

        What is known of the tenants is remembered until a change of it is announced. `last`: the transaction ends with it.
        """
        wanted = tuple(dict.fromkeys(channels))
        tenants = await self.known_tenants.of(tx, tenant_ids, with_accounts=not SENDERLESS.issuperset(wanted))
        if missing := set(others) - people.keys():
            people = {**people, **await store.load_people(tx, missing, channels=wanted)}
        return await self._facts(tx, shared, tenants, people, wanted, guardians=guardians, last=last)

    async def _facts(
        self,
        tx: TenantTx | TenantsTx,
        shared: SharedFacts,
        tenants: Mapping[TenantId, TenantFacts],
        people: Mapping[Person, PersonRow],
        channels: Sequence[Channel],
        *,
        guardians: bool,
        last: bool = False,
    ) -> dict[TenantId, Facts]:
        if guardians and (named := _guardians(people)):
            people = {**people, **await store.load_people(tx, named, channels=channels)}
        keys: Mapping[Subject, DataKey] = {}
        if channels:
            stored: dict[Subject, Sequence[StoredKey]] = {person: row.keys for person, row in people.items()}
            keys = await self.keyring.open_keys(tx, stored, create=False)
        addresses = await self._addresses(tx, shared, people, keys, last=last)
        found: dict[TenantId, dict[RecipientId, PersonFacts]] = {tenant_id: {} for tenant_id in tenants}
        for person, row in people.items():
            tenant_id = person[0]
            found[tenant_id][row.id] = PersonFacts(
                id=row.id,
                erased=row.erased,
                locale=row.locale,
                # Zones get new names now and then; one that this machine does not know must not stop a whole set.
                timezone=row.timezone if zone_exists(row.timezone) else tenants[tenant_id].timezone,
                choices=row.choices,
                preferences_version=row.preferences_version,
                display_name_ciphertext=row.display_name_ciphertext,
                addresses=addresses.get(person, _NO_ADDRESSES),
                key=keys.get(person),
            )
        return {
            tenant_id: Facts(
                tenant=tenant,
                categories=merged(shared.categories, tenant.categories),
                people=found[tenant_id],
            )
            for tenant_id, tenant in tenants.items()
        }

    async def _addresses(
        self,
        tx: TenantTx | TenantsTx,
        shared: SharedFacts,
        people: Mapping[Person, PersonRow],
        keys: Mapping[Subject, DataKey],
        *,
        last: bool,
    ) -> dict[Person, dict[Channel, tuple[AddressFacts, ...]]]:
        """Opened, and looked up among the suppressions."""
        opened = [
            (person, address, _open(address, keys.get(person)))
            for person, row in people.items()
            for address in row.addresses
        ]
        if not opened:
            return {}
        standing = await self._standing(tx, shared, opened, last=last)
        held, refused = standing.held, standing.refused
        found: dict[Person, dict[Channel, tuple[AddressFacts, ...]]] = {}
        for place, (person, address, value) in enumerate(opened):
            facts = AddressFacts(
                id=address.id,
                channel=address.channel,
                value=value,
                is_primary=address.is_primary,
                held=held.get(place),
                address_hash=address.address_hash,
                refused=refused.get(place, _NOTHING_REFUSED),
            )
            whose = found.setdefault(person, {})
            whose[address.channel] = (*whose.get(address.channel, ()), facts)
        return found

    async def _standing(
        self, tx: TenantTx | TenantsTx, shared: SharedFacts, opened: Sequence[_Opened], *, last: bool
    ) -> SuppressionLookup:
        peppers = await self.keyring.peppers(tx, {person[0] for person, _, _ in opened})
        platform_hash = shared.platform_pepper.hash
        #: The addresses of a set have few domains.
        domains: dict[tuple[TenantId, str], str | None] = {}
        questions: list[SuppressionQuestion] = []
        for (tenant_id, _), address, value in opened:
            domain = None if value is None else mail_domain_of(address.channel, value)
            domain_hash = None
            if value is not None and domain is not None:
                domain_hash = domains.get((tenant_id, domain))
                if domain_hash is None:
                    domain_hash = domains[tenant_id, domain] = domain_hash_of(
                        address.channel, value, peppers[tenant_id]
                    )
            questions.append(
                SuppressionQuestion(
                    tenant_id=tenant_id,
                    channel=address.channel,
                    address_hash=address.address_hash,
                    platform_hash=None if value is None else platform_hash(value),
                    mail_domain=domain,
                    domain_hash=domain_hash,
                )
            )
        if last:
            tx.commit_with_next()
        return await suppression_store.find_held(tx, questions, now=self.clock.now())


def _guardians(people: Mapping[Person, PersonRow]) -> set[Person]:
    """Those who are not among them. A guardian's own guardian is not asked: the rule is applied once."""
    return {
        (tenant_id, RecipientId(row.choices.guardian_routing.guardian_id))
        for (tenant_id, _), row in people.items()
        if row.choices.guardian_routing is not None
    } - people.keys()


def _open(address: SealedAddress, key: DataKey | None) -> NormalisedAddress | None:
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
