"""Suppresses and releases, whole sets at a time: row, event and audit in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tidings.contracts.addresses import NormalisedAddress, normalise, sharing
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.suppressions import SuppressionAdded, SuppressionReleased
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.events import Event, new_event
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent
from tidings.notify.ids import SUPPRESSION, ImportId, SuppressionId
from tidings.notify.suppressions import platform_store, store
from tidings.notify.suppressions.errors import AlreadyReleasedError, UnknownSuppressionError
from tidings.notify.suppressions.model import (
    SEALED_FOR,
    SuppressibleChannel,
    Suppression,
    SuppressionReason,
    SuppressionSpec,
    brought_notes,
    domain_hash_of,
    sealing_purpose,
)

#: Suppressions of one address that are shown at most.
_MOST_FOUND = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressResult:
    """What came of a spec."""

    suppression: Suppression
    #: False: it was suppressed before.
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Suppressor:
    """Adds and releases suppressions."""

    keyring: Keyring
    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def add(
        self, tx: TenantTx, specs: Sequence[SuppressionSpec], *, actor: str
    ) -> list[SuppressResult]:
        """Each address suppressed, in the order of the specs; doing it again changes nothing but a longer expiry."""
        if not specs:
            return []
        now = self.clock.now()
        pepper = await self.keyring.pepper(tx)
        key = await self.keyring.data_key(tx, SEALED_FOR)
        fresh: dict[tuple[str, str], Suppression] = {}
        places: list[tuple[str, str]] = []
        for spec in specs:
            place = (spec.channel, pepper.hash(spec.address))
            places.append(place)
            if place not in fresh:
                fresh[place] = by_name(
                    Suppression,
                    spec,
                    id=SUPPRESSION.new(now),
                    address_hash=place[1],
                    address_ciphertext=key.seal(spec.address.encode(), sealing_purpose(spec.channel)),
                    released_at=None,
                    released_by=None,
                )
        stored = await store.add_suppressions(tx, list(fresh.values()), now=now)
        made = [stored[place] for place, wanted in fresh.items() if stored[place].id == wanted.id]
        await self._tell(tx, made, "added", actor, None)
        new_ids = {suppression.id for suppression in made}
        return [
            SuppressResult(suppression=stored[place], created=stored[place].id in new_ids) for place in places
        ]

    async def import_set(
        self, tx: TenantTx, specs: Sequence[SuppressionSpec], *, source: ImportId, emit_events: bool
    ) -> tuple[int, int]:
        """Each address suppressed, in one statement where all were before, in a few where not.

        How many were not, and how many of the others last longer now.

        No audit of each: a file is audited as a whole, by the import that it came with.
        """
        now = self.clock.now()
        pepper = await self.keyring.pepper(tx)
        fresh: dict[tuple[str, str], SuppressionSpec] = {}
        for spec in specs:
            place = (spec.channel, pepper.hash(spec.address))
            known = fresh.get(place)
            fresh[place] = spec if known is None else replace(known, expires_at=_longer(known, spec))
        known_places = await store.find_places(tx, list(fresh))
        wanted = {place: spec for place, spec in fresh.items() if _adds(spec, place, known_places)}
        if not wanted:
            return 0, 0
        key = await self.keyring.data_key(tx, SEALED_FOR)
        made, moved = await store.import_suppressions(
            tx,
            [
                by_name(
                    Suppression,
                    spec,
                    id=SUPPRESSION.new(now),
                    address_hash=address_hash,
                    address_ciphertext=key.seal(spec.address.encode(), sealing_purpose(spec.channel)),
                    source_notification_id=None,
                    notes=brought_notes(source, spec.notes),
                    released_at=None,
                    released_by=None,
                )
                for (_, address_hash), spec in wanted.items()
            ],
            retire=any(ends is not None and ends <= now for ends in known_places.values()),
            now=now,
        )
        if emit_events:
            await self.outbox.append(tx, [self._event(tx, suppression, "added") for suppression in made])
        return len(made), moved

    async def release(
        self, tx: TenantTx, suppression_id: SuppressionId, *, actor: str, reason: str | None
    ) -> Suppression:
        """The address may be written to again."""
        known = (await store.lock_suppressions(tx, ids=[suppression_id])).get(suppression_id)
        if known is None:
            raise UnknownSuppressionError(f"there is no suppression with the id {suppression_id}")
        if known.released_at is not None:
            raise AlreadyReleasedError
        now = self.clock.now()
        await store.release_suppressions(tx, ids=[suppression_id], released_by=actor, now=now)
        await self._tell(tx, [known], "released", actor, reason)
        return known

    async def release_many(
        self, tx: TenantTx, ids: Sequence[SuppressionId], *, actor: str, reason: str | None
    ) -> int:
        """Those of these that hold something back, released now; how many."""
        known = await store.lock_suppressions(tx, ids=ids)
        held = [one for one in known.values() if one.released_at is None]
        await self.release_found(tx, held, actor=actor, reason=reason)
        return len(held)

    async def release_found(
        self, tx: TenantTx, found: Sequence[Suppression], *, actor: str, reason: str | None
    ) -> None:
        """Those that were locked before, released now."""
        if found:
            ids = [suppression.id for suppression in found]
            await store.release_suppressions(tx, ids=ids, released_by=actor, now=self.clock.now())
            await self._tell(tx, found, "released", actor, reason)

    async def tell_expired(self, tx: TenantTx, gone: Sequence[Suppression], *, actor: str) -> None:
        """Those that ran out were released just now, in this transaction."""
        if gone:
            await self._tell(tx, gone, "released", actor, "its time was over")

    async def look_up(
        self, tx: TenantTx, *, channel: SuppressibleChannel, address: str, actor: str
    ) -> list[Suppression]:
        """All suppressions of an address and of its domain; noted in the audit with the hash."""
        spelt = normalise(channel, address)
        pepper = await self.keyring.pepper(tx)
        hashes = [pepper.hash(spelt)]
        domain = domain_hash_of(channel, spelt, pepper)
        found = await store.find_by_target(
            tx,
            channels=sharing(channel),
            hashes=hashes if domain is None else [*hashes, domain],
            limit=_MOST_FOUND,
        )
        entry = Entry(
            entity_type="suppression",
            entity_id=hashes[0],
            action="looked_up",
            actor=actor,
            after={"channel": channel, "found_count": len(found)},
        )
        await self.audit.append(tx, [entry])
        return found

    async def note_export(self, tx: TenantTx, *, actor: str, channel: str | None) -> None:
        """Addresses are about to be shown: the audit names the caller before they see them."""
        entry = Entry("suppression", channel or "all", "exported", actor)
        await self.audit.append(tx, [entry])

    async def add_for_platform(
        self,
        tx: PlatformTx,
        *,
        channel: str,
        address: NormalisedAddress | None = None,
        mail_domain: str | None = None,
        reason: SuppressionReason,
        actor: str,
        notes: str | None = None,
    ) -> bool:
        """No tenant may write to this address, or to this mail domain; whether that is new."""
        pepper = await self.keyring.platform_pepper(tx)
        row = store.PlatformSuppression(
            id=SUPPRESSION.new(self.clock.now()),
            channel=channel,
            address_hash=None if address is None else pepper.hash(address),
            mail_domain=mail_domain,
            reason=reason,
            notes=notes,
        )
        made = await store.add_platform_suppressions(tx, [row], created_by=actor)
        if made:
            entry = Entry(
                entity_type="suppression",
                entity_id=row.id,
                action="added",
                actor=actor,
                after={"channel": channel, "reason": reason.value, "domain": mail_domain},
            )
            await self.audit.append(tx, [entry])
        return bool(made)

    async def release_for_platform(
        self, tx: PlatformTx, suppression_id: SuppressionId, *, actor: str, reason: str | None
    ) -> None:
        """All tenants may write there again."""
        released = await platform_store.release_for_all(
            tx, suppression_id, released_by=actor, now=self.clock.now()
        )
        if released is None:
            raise UnknownSuppressionError(f"there is no suppression in force with the id {suppression_id}")
        entry = Entry(
            entity_type="suppression",
            entity_id=suppression_id,
            action="released",
            actor=actor,
            after={"channel": released.channel, "domain": released.mail_domain},
            reason=reason,
        )
        await self.audit.append(tx, [entry])

    async def _tell(
        self, tx: TenantTx, changed: Sequence[Suppression], what: str, actor: str, reason: str | None
    ) -> None:
        await self.outbox.append(tx, [self._event(tx, s, what) for s in changed])
        entries = [
            Entry(
                entity_type="suppression",
                entity_id=s.id,
                action=what,
                actor=actor,
                after={"channel": s.channel, "reason": s.reason.value, "expires_at": s.expires_at},
                reason=reason,
            )
            for s in changed
        ]
        await self.audit.append(tx, entries)

    def _event(self, tx: TenantTx, suppression: Suppression, what: str) -> Event:
        payload = (
            SuppressionAdded(
                suppression_id=suppression.id,
                channel=suppression.channel,
                reason=suppression.reason.value,
                expires_at=suppression.expires_at,
            )
            if what == "added"
            else SuppressionReleased(
                suppression_id=suppression.id, channel=suppression.channel, reason=suppression.reason.value
            )
        )
        return new_event(
            f"suppression.{what}.v1",
            payload,
            tenant_id=tx.tenant_id,
            ordering_key=suppression.id,
            source=NOTIFY_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )


def _longer(one: SuppressionSpec, other: SuppressionSpec) -> datetime | None:
    if one.expires_at is None or other.expires_at is None:
        return None
    return max(one.expires_at, other.expires_at)


def _adds(
    spec: SuppressionSpec, place: tuple[str, str], known: Mapping[tuple[str, str], datetime | None]
) -> bool:
    """Whether there is anything to write: the address has no suppression, or none for as long."""
    if place not in known:
        return True
    ends = known[place]
    return ends is not None and (spec.expires_at is None or spec.expires_at > ends)
