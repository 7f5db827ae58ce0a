"""Makes recipients known, or brings them up to date: a whole set in a bounded number of statements.

One statement finds them with their keys, or makes them with their keys and addresses; a second one makes those who were
not expected to be new.
The inline object of a notification comes through here too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.profiles import MailboxNews
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.keys.keyring import Keyring, StoredKey, Subject
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.refusals import RefusalError
from tidings.notify.digest_windows.replan import replan_digests
from tidings.notify.quiet_hours.reconsider import reconsider_quiet
from tidings.notify.recipients import addresses as address_store
from tidings.notify.recipients import store
from tidings.notify.recipients.errors import (
    ErasedRecipientError,
    SharedAddressError,
    UnknownRecipientError,
)
from tidings.notify.recipients.model import Recipient
from tidings.notify.recipients.newcomers import IdentityKey, Newcomers
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
from tidings.notify.recipients.store import Lookup, MatchedRecipient, Matches, NewRecipient


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
#: To make somebody whom others make, or whose tenant's wrapping key is rotated, at the same moment.
_ATTEMPTS = 5
_BEING_MADE = "a recipient is being made by somebody else; try again"


class _Group:
    """All specs of a set for one recipient."""

    __slots__ = ("addresses", "key", "known", "places", "refusal", "result", "spec", "tenant_id")

    def __init__(self, tenant_id: TenantId, key: tuple[str, ...], spec: RecipientSpec, place: int) -> None:
        self.tenant_id = tenant_id
        self.key = key
        self.spec = spec
        self.places = [place]
        self.addresses: list[HashedAddress] = []
        self.known: MatchedRecipient | None = None
        self.result: UpsertResult | None = None
        self.refusal: RefusalError | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody was found or made for it, and nothing speaks against making them."""
        return self.known is None and self.refusal is None and self.result is None

    @property
    def identity(self) -> IdentityKey | None:
        """The identity that it is known by, if it is."""
        return (self.tenant_id, self.key[1], self.key[2]) if self.key[0] == "identity" else None

    def address_keys(self) -> list[tuple[TenantId, str, str]]:
        """What its addresses are known by among all tenants'."""
        return [(self.tenant_id, *address.key) for address in self.addresses]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecipientUpserter:
    """Applies specs, whole sets at a time."""

    keyring: Keyring
    mailboxes: MailboxNews
    clock: Clock
    newcomers: Newcomers = field(default_factory=Newcomers)

    async def upsert(
        self, tx: TenantTx, specs: Sequence[RecipientSpec], *, change_known: bool = True
    ) -> UpsertedSet:
        """Each spec applied or refused; nothing is written for those refused.

        Without `change_known` new recipients are made and all others stay as they are: for tests.
        """
        return await self.upsert_of(tx, [(tx.tenant_id, spec) for spec in specs], change_known=change_known)

    async def upsert_of(
        self,
        tx: TenantTx | TenantsTx,
        specs: Sequence[tuple[TenantId, RecipientSpec]],
        *,
        change_known: bool = True,
    ) -> UpsertedSet:
        """The same for specs of several tenants. What changes about known recipients is written tenant by tenant."""
        if not specs:
            return UpsertedSet(results=[], keys={})
        peppers = await self.keyring.peppers(tx, [tenant_id for tenant_id, _ in specs])
        groups = _grouped(specs, peppers)
        now = self.clock.now()
        new = await self._meet(tx, groups, now)
        groups = _with_their_owners(groups)
        strangers = [g for g in groups if g.is_open]
        nameless = [g for g in strangers if g.key[0] in _BY_ADDRESS]
        if nameless:
            await store.lock_new_addresses(tx, addresses=[key for g in nameless for key in g.address_keys()])
            await _find(tx, nameless)
            strangers = [g for g in strangers if g.is_open]
        new += await self._make(tx, strangers, now)
        keys = await self._keys_of(tx, groups)
        keys |= {one.facts.id: one.key.key for one in new}
        proven = proven_mailboxes(address for one in new for address in one.addresses)
        for group in groups:
            # Erased since they were found: the key went with the commit that says so.
            if group.known is not None and keys[group.known.recipient.id].destroyed:
                group.known, group.refusal = None, ErasedRecipientError()
        groups = _joined(groups)
        if change_known:
            for tenant_id, some in _by_tenant(g for g in groups if g.known):
                proven |= await self._change(tx.of(tenant_id), some, keys, now)
        else:
            for group in groups:
                if group.known is not None and group.refusal is None:
                    group.result = UpsertResult(recipient=group.known.recipient, created=False, changed=False)
        for tenant_id, some in _by_tenant(groups if proven else ()):
            theirs: dict[str, bool] = {
                who: proven[who] for g in some if g.result and (who := g.result.recipient.id) in proven
            }
            await self.mailboxes.told(tx.of(tenant_id), theirs, at=now)
        results: dict[int, UpsertResult | RefusalError] = {}
        for group in groups:
            outcome = group.refusal or group.result
            if outcome is None:
                raise DatabaseBusyError(_BEING_MADE)
            results.update(dict.fromkeys(group.places, outcome))
        return UpsertedSet(results=[results[place] for place in range(len(specs))], keys=keys)

    async def _meet(
        self, tx: TenantTx | TenantsTx, groups: Sequence[_Group], now: datetime
    ) -> list[NewRecipient]:
        """Find everybody, and make who is new of those with an identity, in the same trip where that was expected.

        Not where a spec of the same tenant has addresses alone: it may bring somebody with an identity another address.
        """
        later = {group.tenant_id for group in groups if group.key[0] in _BY_ADDRESS}
        named = {identity: g for g in groups if (identity := g.identity) is not None}
        at_once = [g for g in named.values() if g.tenant_id not in later]
        expected = [g for who, g in named.items() if g.tenant_id not in later and self.newcomers.is_new(who)]
        new = await self._find_or_make(tx, groups, expected, now)
        for identity, group in named.items():
            self.newcomers.learn(identity, was_new=group.known is None)
        return new + await self._make(tx, [g for g in at_once if g.is_open], now)

    async def _make(
        self, tx: TenantTx | TenantsTx, strangers: Sequence[_Group], now: datetime
    ) -> list[NewRecipient]:
        """Make those who are new. Who lost a race is known afterwards."""
        new: list[NewRecipient] = []
        for _ in range(_ATTEMPTS):
            if not strangers:
                return new
            named = [g for g in strangers if g.key[0] == "identity"]
            new += await self._find_or_make(tx, named, strangers, now)
            strangers = [g for g in strangers if g.is_open]
        raise DatabaseBusyError(_BEING_MADE)

    async def _find_or_make(
        self, tx: TenantTx | TenantsTx, asked: Sequence[_Group], making: Sequence[_Group], now: datetime
    ) -> list[NewRecipient]:
        """One trip; those that were made."""
        ids = {RECIPIENT.new(now): group for group in making}
        keys = await self.keyring.new_keys(tx, [(group.tenant_id, new_id) for new_id, group in ids.items()])
        fresh: list[NewRecipient] = []
        for new_id, group in ids.items():
            key = keys[group.tenant_id, new_id]
            facts = facts_of_new(new_id, group.spec, key.key)
            addresses = addresses_of_new(new_id, group.addresses, key.key, now=now)
            fresh.append(NewRecipient(group.tenant_id, facts, key, addresses))
        found = await _find(tx, asked, fresh)
        for new_id, recipient in found.made.items():
            ids[new_id].known = None
            ids[new_id].result = UpsertResult(recipient=recipient, created=True, changed=True)
        # Somebody else made them just now, or a wrapping key was rotated away.
        self.keyring.forget_newest({group.tenant_id for group in making if group.is_open})
        return [one for one in fresh if one.facts.id in found.made]

    async def _keys_of(self, tx: TenantTx | TenantsTx, groups: Iterable[_Group]) -> dict[str, DataKey]:
        """The keys that came with those who were found."""
        stored: dict[Subject, Sequence[StoredKey]] = {
            (g.tenant_id, g.known.recipient.id): g.known.keys for g in groups if g.known
        }
        return _by_recipient(await self.keyring.open_keys(tx, stored)) if stored else {}

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
        if elsewhere := [
            who
            for group in known
            if group.known is not None
            and (who := _id_of(group)) in planned
            and planned[who].facts.timezone != group.known.recipient.timezone
        ]:
            await reconsider_quiet(tx, elsewhere, now=now)
            await replan_digests(tx, elsewhere, now=now)
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


def _by_recipient(keys: Mapping[Subject, DataKey]) -> dict[str, DataKey]:
    """Ids of recipients are unique among all tenants: we make them."""
    return {subject: key for (_, subject), key in keys.items()}


def _by_tenant(groups: Iterable[_Group]) -> list[tuple[TenantId, list[_Group]]]:
    """In the order of tenants: two sets that lock rows of the same tenants never wait for each other crosswise."""
    found: dict[TenantId, list[_Group]] = {}
    for group in groups:
        found.setdefault(group.tenant_id, []).append(group)
    return sorted(found.items())


def _grouped(
    specs: Sequence[tuple[TenantId, RecipientSpec]], peppers: Mapping[TenantId, Pepper]
) -> list[_Group]:
    groups: dict[tuple[str, ...], _Group] = {}
    for place, (tenant_id, spec) in enumerate(specs):
        key = _key_of(spec)
        group = groups.get((tenant_id, *key))
        if group is None:
            groups[tenant_id, *key] = _Group(tenant_id, key, spec, place)
        else:
            group.spec = merge(group.spec, spec)
            group.places.append(place)
    for group in groups.values():
        group.addresses = [
            HashedAddress(spec=address, address_hash=peppers[group.tenant_id].hash(address.address))
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
    owners: dict[tuple[TenantId, str, str], set[_Group]] = {}
    for group in groups:
        if group.key[0] == "identity" and group.known is None:
            for key in group.address_keys():
                owners.setdefault(key, set()).add(group)
    kept: list[_Group] = []
    alike: dict[tuple[TenantId, str, str], _Group] = {}
    for group in groups:
        if group.key[0] not in _BY_ADDRESS or group.known is not None or group.refusal is not None:
            kept.append(group)
            continue
        found = [owners.get(key, set()) for key in group.address_keys()]
        if group.key[0] == "address" and all(found) and len(set[_Group]().union(*found)) == 1:
            _join(next(iter(found[0])), group)
            continue
        same = next((alike[key] for key in group.address_keys() if key in alike), group)
        if same is group:
            kept.append(group)
        else:
            _join(same, group)
        for key in same.address_keys():
            alike.setdefault(key, same)
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


async def _find(
    tx: TenantTx | TenantsTx, groups: Sequence[_Group], fresh: Sequence[NewRecipient] = ()
) -> Matches:
    """Fill in who is known, and refuse whom nothing can be kept for; the fresh ones are made in the same trip."""
    lookup = Lookup()
    for place, group in enumerate(groups):
        match group.key[0]:
            case "id":
                lookup.ids.append((place, group.tenant_id, RecipientId(group.key[1])))
            case "identity":
                lookup.identities.append((place, group.tenant_id, group.key[1], group.key[2]))
            case kind:
                lookup.addresses += [(place, *key, kind == "nameless") for key in group.address_keys()]
    found = await store.find_or_make_recipients(tx, lookup, fresh)
    for place, group in enumerate(groups):
        group.known = found.known.get(place)
        if group.known is None and group.key[0] == "id":
            group.refusal = UnknownRecipientError(f"there is no recipient with the id {group.key[1]}")
        elif group.known is not None and group.known.recipient.erased_at is not None:
            group.known, group.refusal = None, ErasedRecipientError()
        elif group.key[0] == "address":
            group.refusal = unsure_of(found, place, [a.key for a in group.addresses])
            group.known = None if group.refusal else group.known
    return found


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
