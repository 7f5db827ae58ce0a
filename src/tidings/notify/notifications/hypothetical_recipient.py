"""A recipient as a spec would make them, in memory: known ones are read and changed on paper, new ones are imagined.

Nothing is written. What is personal is sealed with a key that is not kept, so that all that follows runs exactly
as it does for a stored recipient.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from msgspec import UnsetType, structs

from tidings.contracts.ids import RECIPIENT, RECIPIENT_ADDRESS, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.ciphers import Key
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.model import AddressFacts, Facts, PersonFacts, SharedFacts
from tidings.notify.recipients import store as recipient_store
from tidings.notify.recipients.errors import ErasedRecipientError, UnknownRecipientError
from tidings.notify.recipients.model import NAME_PURPOSE
from tidings.notify.recipients.preferences_model import NO_CHOICES
from tidings.notify.recipients.recipient_input import AddressSpec, RecipientSpec
from tidings.notify.recipients.store import Lookup, MatchedRecipient
from tidings.notify.recipients.upsert import unsure_of
from tidings.notify.suppressions import store as suppression_store
from tidings.notify.suppressions.model import SuppressionQuestion, domain_hash_of, mail_domain_of


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalRecipient:
    """A recipient as they would be."""

    facts: Facts
    recipient_id: RecipientId
    #: Whether there is such a recipient already.
    known: bool
    #: The tenant's, for digests.
    pepper: Pepper
    key: DataKey = field(repr=False)


async def hypothetical_recipient(
    tx: TenantTx,
    spec: RecipientSpec,
    *,
    channels: Sequence[Channel],
    shared: SharedFacts,
    loader: FactsLoader,
    keyring: Keyring,
    clock: Clock,
) -> HypotheticalRecipient:
    """The recipient that the spec means, known or new; refused as sending would refuse it."""
    pepper = await keyring.pepper(tx)
    known = await find_known(tx, spec, pepper)
    ids = [known.recipient.id] if known is not None else []
    facts = await loader.load(tx, shared, ids, channels=channels)
    if known is None:
        person = _imagined(facts, RECIPIENT.new(clock.now()), tx.tenant_id)
    else:
        person = facts.people[known.recipient.id]
    there = set(known.addresses) if known is not None else set()
    fresh = [a for a in spec.addresses if (a.channel, pepper.hash(a.address)) not in there]
    added = await _added(tx, fresh, pepper, shared, clock)
    person, key = _sealed(_as_specified(person, spec), spec, tx.tenant_id)
    person = structs.replace(person, addresses=_merged(person, added, spec))
    return HypotheticalRecipient(
        facts=replace(facts, people={**facts.people, person.id: person}),
        recipient_id=person.id,
        known=known is not None,
        pepper=pepper,
        key=key,
    )


async def find_known(tx: TenantTx, spec: RecipientSpec, pepper: Pepper) -> MatchedRecipient | None:
    """The recipient that the spec means, if there is one; refused as sending would refuse it."""
    lookup = Lookup()
    if spec.id is not None:
        lookup.ids.append((0, tx.tenant_id, spec.id))
    elif spec.identity is not None and spec.identity.id is not None:
        lookup.identities.append((0, tx.tenant_id, spec.identity.type.value, spec.identity.id))
    else:
        nameless = spec.identity is not None
        lookup.addresses += [
            (0, tx.tenant_id, a.channel, pepper.hash(a.address), nameless) for a in spec.addresses
        ]
    found = await recipient_store.match_recipients(tx, lookup)
    known = found.known.get(0)
    if lookup.addresses and spec.identity is None:
        addresses = [(channel, address_hash) for _, _, channel, address_hash, _ in lookup.addresses]
        unsure = unsure_of(found, 0, addresses)
        if unsure is not None:
            raise unsure
    if known is None and spec.id is not None:
        raise UnknownRecipientError(f"there is no recipient with the id {spec.id}")
    if known is not None and known.recipient.erased_at is not None:
        raise ErasedRecipientError
    return known


def _imagined(facts: Facts, new_id: RecipientId, tenant_id: str) -> PersonFacts:
    return PersonFacts(
        id=new_id,
        erased=False,
        locale=facts.tenant.locale,
        timezone=facts.tenant.timezone,
        choices=NO_CHOICES,
        preferences_version=0,
        display_name_ciphertext=None,
        addresses={},
        key=DataKey(tenant_id, new_id, {1: Key.new(1)}, 1),
    )


def _as_specified(person: PersonFacts, spec: RecipientSpec) -> PersonFacts:
    """With the spec's own locale and time zone, where the preferences have none of theirs."""
    locale, timezone = person.locale, person.timezone
    if not isinstance(spec.locale, UnsetType) and person.choices.locale is None:
        locale = spec.locale
    if not isinstance(spec.timezone, UnsetType) and person.choices.timezone is None:
        timezone = spec.timezone
    return structs.replace(person, locale=locale, timezone=timezone)


def _sealed(person: PersonFacts, spec: RecipientSpec, tenant_id: str) -> tuple[PersonFacts, DataKey]:
    # A known recipient who never had anything to seal has no key yet.
    key = person.key or DataKey(tenant_id, person.id, {1: Key.new(1)}, 1)
    name = spec.display_name
    if isinstance(name, UnsetType):
        return structs.replace(person, key=key), key
    box = key.seal(name.encode(), NAME_PURPOSE) if name is not None else None
    return structs.replace(person, key=key, display_name_ciphertext=box), key


async def _added(
    tx: TenantTx, fresh: Sequence[AddressSpec], pepper: Pepper, shared: SharedFacts, clock: Clock
) -> list[AddressFacts]:
    if not fresh:
        return []
    now = clock.now()
    questions = [
        SuppressionQuestion(
            tenant_id=tx.tenant_id,
            channel=a.channel,
            address_hash=pepper.hash(a.address),
            platform_hash=shared.platform_pepper.hash(a.address),
            mail_domain=mail_domain_of(a.channel, a.address),
            domain_hash=domain_hash_of(a.channel, a.address, pepper),
        )
        for a in fresh
    ]
    standing = await suppression_store.find_held(tx, questions, now=now)
    return [
        AddressFacts(
            id=RECIPIENT_ADDRESS.new(now),
            channel=a.channel,
            value=a.address,
            is_primary=a.primary is True,
            held=standing.held.get(place),
            address_hash=questions[place].address_hash,
            refused=standing.refused.get(place, {}),
        )
        for place, a in enumerate(fresh)
    ]


def _merged(
    person: PersonFacts, added: Sequence[AddressFacts], spec: RecipientSpec
) -> dict[Channel, tuple[AddressFacts, ...]]:
    """Primaries first, then the oldest: as they would be after the spec."""
    chosen = {(a.channel, a.address) for a in spec.addresses if a.primary is True}
    handed_over = {channel for channel, _ in chosen}
    merged = {
        channel: [
            structs.replace(
                a,
                is_primary=(channel, a.value) in chosen if channel in handed_over else a.is_primary,
            )
            for a in known
        ]
        for channel, known in person.addresses.items()
    }
    for address in added:
        merged.setdefault(address.channel, []).append(address)
    return {
        channel: tuple(sorted(found, key=lambda a: not a.is_primary)) for channel, found in merged.items()
    }
