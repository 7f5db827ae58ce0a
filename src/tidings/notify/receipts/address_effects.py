"""What a vendor says of an address counts for the next message: it is suppressed, at once or after some soft bounces.

The address is the one that the message went to, and no other: its id is kept with the message, or told where that went to
several. Where it was removed since, or its owner was erased, there is nothing to suppress. A person who released an address after
the message had been sent knew better: what is said of that message does not suppress it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, cast, get_args

import msgspec

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.callback_forms import Effect
from tidings.contracts.ids import NotificationId, RecipientAddressId, RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.keys.data_key import DataKey, DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries
from tidings.notify.receipts.soft_bounces import LASTS, SoftBounce, count_bounces
from tidings.notify.recipients.model import address_purpose
from tidings.notify.suppressions.model import (
    CHANNELS,
    SuppressibleChannel,
    SuppressionReason,
    SuppressionSpec,
)
from tidings.notify.suppressions.suppress import Suppressor

QUERIES = Queries.beside(__file__)

ACTOR: Final = "system:receipts"
_EFFECTS: Final = frozenset(get_args(Effect))


class _Kept(msgspec.Struct, frozen=True):
    """What matters here of what is kept of a rendering."""

    to: dict[str, str] = {}


_read_kept = msgspec.json.Decoder(_Kept).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectReport:
    """What a vendor says of the address that a message went to."""

    notification_id: NotificationId
    #: Who was written to.
    recipient_id: RecipientId
    channel: str
    effect: Effect
    #: When the message was sent.
    attempted_at: datetime
    #: When it was found out.
    at: datetime
    #: Which address, where the message went to several; None: the one that is kept with the message.
    address_id: RecipientAddressId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The address that is meant."""

    told: EffectReport
    address_id: RecipientAddressId
    address_hash: str
    ciphertext: bytes = field(repr=False)

    @property
    def place(self) -> tuple[str, str]:
        return self.told.channel, self.address_hash


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AddressEffects:
    """Applies what vendors say of addresses, whole sets at a time; doing it again changes nothing."""

    keyring: Keyring
    suppressor: Suppressor
    clock: Clock

    async def apply(self, tx: TenantTx, told: Sequence[EffectReport]) -> None:
        """Suppress what is to be suppressed; a test's messages say nothing about an address."""
        wanted = [one for one in told if one.channel in CHANNELS and one.effect in _EFFECTS]
        if not wanted:
            return
        found = await _find(tx, wanted)
        if not found:
            return
        released = await _released(tx, sorted({one.place for one in found}))
        counting = [one for one in found if not _forgiven(one, released)]
        full = await count_bounces(tx, [_soft(one) for one in counting if one.told.effect == "soft_bounce"])
        keys = await self.keyring.data_keys(tx, {one.told.recipient_id for one in counting}, create=False)
        specs = [
            spec
            for one in sorted(counting, key=lambda one: (one.told.at, one.told.notification_id))
            if (spec := self._spec(one, full, keys.get(one.told.recipient_id))) is not None
        ]
        await self.suppressor.add(tx, specs, actor=ACTOR)

    def _spec(
        self,
        found: _Found,
        full: Mapping[tuple[str, str], tuple[datetime, NotificationId]],
        key: DataKey | None,
    ) -> SuppressionSpec | None:
        told = found.told
        address = _opened(found, key)
        if address is None:
            return None
        spec = SuppressionSpec(
            channel=cast("SuppressibleChannel", told.channel),
            address=address,
            reason=SuppressionReason(told.effect),
            source_notification_id=told.notification_id,
        )
        if told.effect != "soft_bounce":
            return spec
        if found.place not in full:
            return None
        last_at, last_id = full[found.place]
        ends = last_at + LASTS
        if ends <= self.clock.now():
            return None
        return replace(spec, source_notification_id=last_id, expires_at=ends)


async def _find(tx: TenantTx, told: Sequence[EffectReport]) -> list[_Found]:
    created_ats = [time_of(one.notification_id) for one in told]
    rows = await tx.fetch(
        QUERIES.find_written_to,
        ids=[one.notification_id for one in told],
        created_ats=created_ats,
        recipient_ids=[one.recipient_id for one in told],
        channels=[one.channel for one in told],
        oldest=min(created_ats),
        newest=max(created_ats),
    )
    candidates: dict[int, list[Row]] = {}
    for row in rows:
        candidates.setdefault(row["place"] - 1, []).append(row)
    found = []
    for place, there in candidates.items():
        chosen = _chosen(told[place], there)
        if chosen is not None:
            found.append(
                _Found(
                    told=told[place],
                    address_id=RecipientAddressId(chosen["address_id"]),
                    address_hash=chosen["address_hash"],
                    ciphertext=chosen["address_ciphertext"],
                )
            )
    return found


def _chosen(told: EffectReport, there: Sequence[Row]) -> Row | None:
    """The address that the message went to, of those that are there now; None where that is not certain."""
    if there[0]["is_test"]:
        return None
    then = [row for row in there if time_of(row["address_id"]) <= told.attempted_at]
    kept = there[0]["render_snapshot"]
    named = told.address_id or (_read_kept(kept).to.get(told.channel) if kept is not None else None)
    if named is not None:
        return next((row for row in then if row["address_id"] == named), None)
    return then[0] if len(there) == len(then) == 1 else None


async def _released(tx: TenantTx, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], datetime]:
    rows = await tx.fetch(QUERIES.find_released, **tuple_columns(places, "channels hashes"))
    return {places[row["place"] - 1]: row["released_at"] for row in rows}


def _forgiven(found: _Found, released: Mapping[tuple[str, str], datetime]) -> bool:
    at = released.get(found.place)
    return at is not None and at >= found.told.attempted_at


def _soft(found: _Found) -> SoftBounce:
    return SoftBounce(
        channel=found.told.channel,
        address_hash=found.address_hash,
        address_id=found.address_id,
        notification_id=found.told.notification_id,
        at=found.told.at,
    )


def _opened(found: _Found, key: DataKey | None) -> NormalisedAddress | None:
    if key is None:
        return None
    try:
        opened = key.unseal(found.ciphertext, address_purpose(found.told.channel))
    except DestroyedKeyError:
        return None
    return NormalisedAddress(opened.decode())
