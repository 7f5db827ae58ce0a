"""Makes recipients known, or brings them up to date: a whole set in a bounded number of statements.

All unchanged: 2 statements (find, keys). All new: 6 (find, three for their keys, recipients, addresses).
The inline object of a notification comes through here too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.profiles import MailboxNews
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.refusals import RefusalError
from tidings.notify.recipients import addresses as address_store
from tidings.notify.recipients import store
from tidings.notify.recipients.errors import (
    ErasedRecipientError,
    SharedAddressError,
    UnknownRecipientError,
)
from tidings.notify.recipients.model import Recipient
from tidings.notify.recipients.plan import (
    Changes,
    HashedAddress,
    addresses_of_new,
    changes_of,
    facts_of_new,
    merge,
    proven_after,
    proven_mailboxes,
)
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.recipients.store import Lookup, MatchedRecipient, Matches


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsertResult:
    """A recipient as it is after its spec."""

    recipient: Recipient
    created: bool
    #: Whether anything was written for it.
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UpsertedSet:
    """What came of a set."""

    #: In the order of the specs; one that can't be met fails alone.
    results: list[UpsertResult | RefusalError]
    #: The keys that were needed on the way; a caller that seals something for the same people needs them next.
    keys: Mapping[str, DataKey]


#: Groups that are known by their addresses: of any recipient who has them, or of one without an identity.
_BY_ADDRESS = ("address", "nameless")


class _Group:
    """All specs of a set for one recipient."""

    __slots__ = ("addresses", "key", "known", "places", "refusal", "result", "spec")

    def __init__(self, key: tuple[str, ...], spec: RecipientSpec, place: int) -> None:
        self.key = key
        self.spec = spec
        self.places = [place]
        self.addresses: list[HashedAddress] = []
        self.known: MatchedRecipient | None = None
        self.result: UpsertResult | None = None
        self.refusal: RefusalError | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecipientUpserter:
    """Applies specs, whole sets at a time."""

    keyring: Keyring
    mailboxes: MailboxNews
    clock: Clock

    async def upsert(
        self, tx: TenantTx, specs: Sequence[RecipientSpec], *, change_known: bool = True
    ) -> UpsertedSet:
        """Each spec applied or refused; nothing is written for those refused.

        Without `change_known` new recipients are made and all others stay as they are: for tests.
        """
        if not specs:
            return UpsertedSet(results=[], keys={})
        pepper = await self.keyring.pepper(tx)
        groups = _grouped(specs, pepper)
        await _find(tx, groups)
        groups = _with_their_owners(groups)
        strangers = [g for g in groups if g.known is None and g.refusal is None]
        nameless = [g for g in strangers if g.key[0] in _BY_ADDRESS]
        if nameless:
            await store.lock_new_addresses(tx, addresses=[a.key for g in nameless for a in g.addresses])
            await _find(tx, nameless)
            strangers = [g for g in strangers if g.known is None and g.refusal is None]
        now = self.clock.now()
        keys, proven = await self._make(tx, strangers, [g for g in groups if g.known], now)
        for group in groups:
            # Erased since they were found: the key went with the commit that says so.
            if group.known is not None and keys[group.known.recipient.id].destroyed:
                group.known, group.refusal = None, ErasedRecipientError()
        groups = _joined(groups)
        if change_known:
            proven |= await self._change(tx, [g for g in groups if g.known], keys, now)
        else:
            for group in groups:
                if group.known is not None and group.refusal is None:
                    group.result = UpsertResult(recipient=group.known.recipient, created=False, changed=False)
        if proven:
            await self.mailboxes.told(tx, proven, at=now)
        results: dict[int, UpsertResult | RefusalError] = {}
        for group in groups:
            outcome = group.refusal or group.result
            if outcome is None:
                raise DatabaseBusyError("a recipient is being made by somebody else; try again")
            results.update(dict.fromkeys(group.places, outcome))
        return UpsertedSet(results=[results[place] for place in range(len(specs))], keys=keys)

    async def _make(
        self, tx: TenantTx, strangers: Sequence[_Group], known: Sequence[_Group], now: datetime
    ) -> tuple[dict[str, DataKey], dict[str, bool]]:
        """Write those who are new; the keys of all, and whose mailbox is proven. Who lost a race is known afterwards."""
        ids = {RECIPIENT.new(now): group for group in strangers}
        known_ids = [g.known.recipient.id for g in known if g.known]
        keys = await self.keyring.data_keys(tx, [*known_ids, *ids])
        if not ids:
            return keys, {}
        made = await store.insert_recipients(
            tx, [facts_of_new(new_id, group.spec, keys[new_id]) for new_id, group in ids.items()]
        )
        fresh = []
        for new_id, recipient in made.items():
            group = ids[new_id]
            group.result = UpsertResult(recipient=recipient, created=True, changed=True)
            fresh += addresses_of_new(new_id, group.addresses, keys[new_id], now=now)
        if fresh:
            await address_store.add_addresses(tx, fresh)
        lost = [new_id for new_id in ids if new_id not in made]
        if lost:
            await self._follow_winners(tx, [ids[new_id] for new_id in lost], lost, keys)
        return keys, proven_mailboxes(fresh)

    async def _follow_winners(
        self, tx: TenantTx, losers: Sequence[_Group], orphans: Sequence[RecipientId], keys: dict[str, DataKey]
    ) -> None:
        # Their keys will never be used.
        await self.keyring.destroy(tx, orphans)
        await _find(tx, losers)
        found = [g.known.recipient.id for g in losers if g.known]
        keys.update(await self.keyring.data_keys(tx, found))

    async def _change(
        self, tx: TenantTx, known: Sequence[_Group], keys: Mapping[str, DataKey], now: datetime
    ) -> dict[str, bool]:
        """Write what is new about those who are known; of whom a mailbox is proven now, or no longer."""
        planned = _plan(known, keys, now)
        if planned:
            # Planned from what was read without a lock: plan again from what is there under it.
            touched = [group for group in known if _id_of(group) in planned]
            for group in touched:
                # It is settled who they are; what was joined on the way must not put it in doubt again.
                group.key = ("id", _id_of(group))
            await store.lock_recipients(tx, ids=sorted(planned))
            await _find(tx, touched)
            planned = _plan([g for g in touched if g.refusal is None], keys, now)
        written = await write_changes(tx, list(planned.values()), now=now) if planned else {}
        for group in known:
            if group.refusal is None and group.known is not None:
                after = written.get(_id_of(group))
                group.result = UpsertResult(
                    recipient=after or group.known.recipient, created=False, changed=after is not None
                )
        return {
            who: proven
            for group in known
            if group.known is not None
            and (who := _id_of(group)) in planned
            and (proven := proven_after(group.known, planned[who])) is not None
        }


async def write_changes(
    tx: TenantTx, changes: Sequence[Changes], *, now: datetime
) -> dict[RecipientId, Recipient]:
    """Write what was planned under the lock of each recipient; the recipients as they are now."""
    written = await store.update_recipients(tx, [c.facts for c in changes], now=now)
    cleared = [pair for c in changes for pair in c.cleared]
    if cleared:
        await address_store.clear_primaries(tx, of=cleared, now=now)
    changed = [change for c in changes for change in c.changed]
    if changed:
        await address_store.change_addresses(tx, changed, now=now)
    added = [address for c in changes for address in c.added]
    if added:
        await address_store.add_addresses(tx, added)
    return written


def _plan(groups: Sequence[_Group], keys: Mapping[str, DataKey], now: datetime) -> dict[RecipientId, Changes]:
    planned: dict[RecipientId, Changes] = {}
    for group in groups:
        if group.known is None:
            continue
        recipient_id = group.known.recipient.id
        changes = changes_of(group.known, group.spec, group.addresses, keys[recipient_id], now=now)
        if changes is not None:
            planned[recipient_id] = changes
    return planned


def _id_of(group: _Group) -> RecipientId:
    return group.known.recipient.id if group.known else RecipientId("")


def _grouped(specs: Sequence[RecipientSpec], pepper: Pepper) -> list[_Group]:
    groups: dict[tuple[str, ...], _Group] = {}
    for place, spec in enumerate(specs):
        key = _key_of(spec)
        group = groups.get(key)
        if group is None:
            groups[key] = _Group(key, spec, place)
        else:
            group.spec = merge(group.spec, spec)
            group.places.append(place)
    for group in groups.values():
        group.addresses = [
            HashedAddress(spec=address, address_hash=pepper.hash(address.address))
            for address in group.spec.addresses
        ]
    return list(groups.values())


def _joined(groups: Sequence[_Group]) -> list[_Group]:
    """Two ways to name one person in one set come together here: by id and by identity, say."""
    first: dict[RecipientId, _Group] = {}
    kept: list[_Group] = []
    for group in groups:
        same = first.setdefault(_id_of(group), group) if group.known else group
        if same is group:
            kept.append(group)
            continue
        _join(same, group)
    return kept


def _with_their_owners(groups: Sequence[_Group]) -> list[_Group]:
    """Addresses alone, of a new recipient, go to the one in the same set who brings them too.

    That is the only one under an identity who has all of them, or the first without one who has any.
    """
    owners: dict[tuple[str, str], set[_Group]] = {}
    for group in groups:
        if group.key[0] == "identity" and group.known is None:
            for address in group.addresses:
                owners.setdefault(address.key, set()).add(group)
    kept: list[_Group] = []
    alike: dict[tuple[str, str], _Group] = {}
    for group in groups:
        if group.key[0] not in _BY_ADDRESS or group.known is not None or group.refusal is not None:
            kept.append(group)
            continue
        found = [owners.get(address.key, set()) for address in group.addresses]
        if group.key[0] == "address" and all(found) and len(set[_Group]().union(*found)) == 1:
            _join(next(iter(found[0])), group)
            continue
        same = next((alike[a.key] for a in group.addresses if a.key in alike), group)
        if same is group:
            kept.append(group)
        else:
            _join(same, group)
        for address in same.addresses:
            alike.setdefault(address.key, same)
    return kept


def _join(same: _Group, group: _Group) -> None:
    same.spec = merge(same.spec, group.spec)
    same.places += group.places
    hashes = {a.spec.address: a.address_hash for a in (*same.addresses, *group.addresses)}
    same.addresses = [HashedAddress(spec=a, address_hash=hashes[a.address]) for a in same.spec.addresses]


def _key_of(spec: RecipientSpec) -> tuple[str, ...]:
    if spec.id is not None:
        return "id", spec.id
    if spec.identity is not None and spec.identity.id is not None:
        return "identity", spec.identity.type.value, spec.identity.id
    spelt = sorted(f"{address.channel} {address.address}" for address in spec.addresses)
    return "address" if spec.identity is None else "nameless", *spelt


async def _find(tx: TenantTx, groups: Sequence[_Group]) -> None:
    """Fill in who is known, and refuse whom nothing can be kept for."""
    lookup = Lookup()
    for place, group in enumerate(groups):
        match group.key[0]:
            case "id":
                lookup.ids.append((place, RecipientId(group.key[1])))
            case "identity":
                lookup.identities.append((place, group.key[1], group.key[2]))
            case kind:
                lookup.addresses += [(place, *address.key) for address in group.addresses]
                if kind == "nameless":
                    lookup.nameless.add(place)
    found = await store.match_recipients(tx, lookup)
    for place, group in enumerate(groups):
        group.known = found.known.get(place)
        if group.known is None and group.key[0] == "id":
            group.refusal = UnknownRecipientError(f"there is no recipient with the id {group.key[1]}")
        elif group.known is not None and group.known.recipient.erased_at is not None:
            group.known, group.refusal = None, ErasedRecipientError()
        elif group.key[0] == "address":
            group.refusal = unsure_of(found, place, [a.key for a in group.addresses])
            group.known = None if group.refusal else group.known


def unsure_of(found: Matches, place: int, addresses: Sequence[tuple[str, str]]) -> SharedAddressError | None:
    """Why addresses alone do not say who is meant; None where they do, or where no recipient has them.

    A recipient with an identity is meant only by addresses that are all theirs: a stranger's number beside a known mail
    address must not become a number of the one who has the mail address.
    """
    if place in found.shared:
        return SharedAddressError(found.shared[place])
    known = found.known.get(place)
    if known is None or known.recipient.identity is None or known.recipient.identity.id is None:
        return None
    return None if known.addresses.keys() >= set(addresses) else SharedAddressError([known.recipient.id])
