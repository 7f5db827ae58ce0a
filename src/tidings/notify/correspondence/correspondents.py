"""What notify offers for what people write: who they are, and what follows when they want no more, or want it again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from msgspec import UNSET

from tidings.contracts.correspondence import Correspondent, KeywordOptOut
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import RecipientAddressId, RecipientId
from tidings.contracts.suppressions import AddressOptOutRecorded
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.notify.correspondence.store import find_address, find_writers
from tidings.notify.recipients.model import Identity, IdentityType
from tidings.notify.recipients.recipient_input import AddressSpec, RecipientSpec
from tidings.notify.recipients.upsert import RecipientUpserter, UpsertResult
from tidings.notify.suppressions import store as suppression_store
from tidings.notify.suppressions.model import (
    CHANNELS,
    SuppressibleChannel,
    SuppressionReason,
    SuppressionSpec,
    asked_notes,
)
from tidings.notify.suppressions.suppress import Suppressor, SuppressResult

ACTOR: Final = "system:conversations"
#: What a vendor found out about an address says less than its owner: an opt-out takes its place. What the tenant's own
#: people or a rule decided stays, and no word of the person lifts it.
_GIVES_WAY: Final = frozenset(
    {
        SuppressionReason.HARD_BOUNCE,
        SuppressionReason.SOFT_BOUNCE,
        SuppressionReason.COMPLAINT,
        SuppressionReason.INVALID_ADDRESS,
        SuppressionReason.RATE_LIMIT,
    }
)
_NAME_MOST: Final = 200
#: The channels' own words for an unknown sender.
_ANONYMOUS: Final = Identity(type=IdentityType.ANONYMOUS, id=None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StoredCorrespondents:
    """The contract's `Correspondents`."""

    keyring: Keyring
    upserter: RecipientUpserter
    suppressor: Suppressor
    outbox: Outbox
    clock: Clock

    async def find(self, tx: TenantTx, wrote: Sequence[Correspondent]) -> list[RecipientId | None]:
        """Who has that address, in the same order; where several have it, the one that was written to last."""
        pepper = await self.keyring.pepper(tx)
        found = await find_writers(tx, [(one.channel, pepper.hash(one.address)) for one in wrote])
        return [found.get(place) for place in range(len(wrote))]

    async def ensure(self, tx: TenantTx, wrote: Sequence[Correspondent]) -> list[RecipientId]:
        """The same; one who is not known is made, as an anonymous recipient with that address."""
        found = await self.find(tx, wrote)
        strangers = [place for place, known in enumerate(found) if known is None]
        made = await self.upserter.upsert(tx, [_stranger(wrote[place]) for place in strangers])
        for place, result in zip(strangers, made.results, strict=True):
            if not isinstance(result, UpsertResult):
                raise result
            found[place] = result.recipient.id
        return [known for known in found if known is not None]

    async def address_of(
        self, tx: TenantTx, recipient_id: RecipientId, *, channel: Channel, address_hash: str
    ) -> RecipientAddressId | None:
        """Which of their addresses has this hash; None where it is not theirs any more."""
        return await find_address(tx, recipient_id, channel=channel, address_hash=address_hash)

    async def stop(self, tx: TenantTx, opt_outs: Sequence[KeywordOptOut]) -> None:
        """Suppress each address for its channel, reason `opt_out`, and announce `optout.recorded.v1`; doing it again changes nothing."""
        wanted = [opt_out for opt_out in opt_outs if opt_out.channel in CHANNELS]
        if not wanted:
            return
        places = await self._places(tx, wanted)
        in_force = await suppression_store.lock_in_force(tx, sorted(set(places)), now=self.clock.now())
        await self.suppressor.release_found(
            tx,
            [held for held in in_force.values() if held.reason in _GIVES_WAY],
            actor=ACTOR,
            reason="its owner opted out, which takes its place",
        )
        done = await self.suppressor.add(tx, [_suppression(opt_out) for opt_out in wanted], actor=ACTOR)
        first: dict[str, tuple[KeywordOptOut, SuppressResult]] = {}
        for opt_out, result in zip(wanted, done, strict=True):
            if result.created:
                first.setdefault(result.suppression.id, (opt_out, result))
        await self.outbox.append(
            tx, [_event(tx.tenant_id, opt_out, result, self.clock) for opt_out, result in first.values()]
        )

    async def start(self, tx: TenantTx, opt_outs: Sequence[KeywordOptOut]) -> list[bool]:
        """Release what was suppressed as `opt_out` until then; whether there was anything. Nothing else is released by it."""
        places = await self._places(tx, opt_outs)
        in_force = await suppression_store.lock_in_force(tx, sorted(set(places)), now=self.clock.now())
        asked = {
            place: held
            for place, opt_out in sorted(zip(places, opt_outs, strict=True), key=lambda one: one[1].at)
            if (held := in_force.get(place)) is not None
            and held.reason is SuppressionReason.OPT_OUT
            and held.since <= opt_out.at
        }
        await self.suppressor.release_found(
            tx, list(asked.values()), actor=ACTOR, reason="its owner wants to hear again"
        )
        return [place in asked for place in places]

    async def _places(self, tx: TenantTx, opt_outs: Sequence[KeywordOptOut]) -> list[tuple[str, str]]:
        pepper = await self.keyring.pepper(tx)
        return [(opt_out.channel, pepper.hash(opt_out.address)) for opt_out in opt_outs]


def _stranger(wrote: Correspondent) -> RecipientSpec:
    name = " ".join((wrote.name or "").split())[:_NAME_MOST]
    return RecipientSpec(
        identity=_ANONYMOUS,
        display_name=name if name and name.isprintable() else UNSET,
        addresses=(AddressSpec(channel=wrote.channel, address=wrote.address, primary=None, verified=None),),
    )


def _suppression(opt_out: KeywordOptOut) -> SuppressionSpec:
    return SuppressionSpec(
        channel=cast("SuppressibleChannel", opt_out.channel),
        address=opt_out.address,
        reason=SuppressionReason.OPT_OUT,
        occurred_at=opt_out.at,
        notes=asked_notes(
            keyword=opt_out.keyword, language=opt_out.language, conversation_id=opt_out.conversation_id
        ),
    )


def _event(tenant_id: TenantId, opt_out: KeywordOptOut, done: SuppressResult, clock: Clock) -> Event:
    return new_event(
        "optout.recorded.v1",
        by_name(AddressOptOutRecorded, opt_out, suppression_id=done.suppression.id),
        tenant_id=tenant_id,
        ordering_key=done.suppression.id,
        source=NOTIFY_SOURCE,
        clock=clock,
    )
