"""The use case "vendors share a channel so": checks weights and writes them; the points go home at once."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Final, NewType

from tidings.contracts.channel_configs import adapter_of
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.ids import IdKind
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.router.accounts.store import find_accounts
from tidings.router.traffic import store
from tidings.router.traffic.errors import ContestedError
from tidings.router.traffic.prefixes import prefix_of
from tidings.router.traffic.traffic_state import ChannelWeights
from tidings.router.traffic.weights import ALL_POINTS, Points

WeightsId = NewType("WeightsId", str)
WEIGHTS: Final = IdKind("wgt", WeightsId)

#: Refuses a version that is not the caller's.
Expect = Callable[[ChannelWeights | None], None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightSetter:
    """Writes the homes of weights."""

    adapters: Mapping[str, frozenset[str]]
    _: KW_ONLY
    #: Of the schema `chan`.
    audit: AuditLog
    clock: Clock

    async def put(
        self,
        tx: TenantTx | PlatformTx,
        channel: str,
        home: Points,
        by_prefix: Mapping[str, Points],
        *,
        expect: Expect,
        actor: str,
    ) -> ChannelWeights:
        """The weights after it; an empty home means that there are none."""
        known = {account.vendor for account in await find_accounts(tx)}
        wrong = self._wrong(channel, home, by_prefix, known)
        if wrong:
            raise InvalidError(wrong)
        before = await self.own(tx, channel)
        expect(before)
        now = self.clock.now()
        after = ChannelWeights(
            id=before.id if before else WEIGHTS.new(now),
            tenant_id=tx.tenant_id,
            channel=channel,
            version=before.version + 1 if before else 1,
            home=home,
            by_prefix=by_prefix,
        )
        if before is None:
            written = await store.insert_weights(tx, after, now=now)
        else:
            written = await store.change_weights(tx, after, known_version=before.version, now=now)
        if not written:
            raise ContestedError
        entry = Entry(
            entity_type="vendor_weight",
            entity_id=after.id,
            action="set" if home else "removed",
            actor=actor,
            before=_told(before) if before else None,
            after=_told(after),
        )
        await self.audit.append(tx, [entry])
        return after

    @staticmethod
    async def own(tx: TenantTx | PlatformTx, channel: str) -> ChannelWeights | None:
        """Those of the transaction's owner, also where they were removed."""
        mine = tx.tenant_id
        found = await store.find_weights(tx, channel=channel)
        return next((one for one in found if one.tenant_id == mine), None)

    def _wrong(
        self, channel: str, home: Points, by_prefix: Mapping[str, Points], known: set[str]
    ) -> list[FieldError]:
        wrong: list[FieldError] = []
        if by_prefix and not home:
            wrong.append(FieldError("home", "is required where by_prefix is given: it holds everywhere else"))
        places = [("home", home), *((f"by_prefix.{prefix}", points) for prefix, points in by_prefix.items())]
        for place, points in places:
            if (points or place != "home") and sum(points.values()) != ALL_POINTS:
                wrong.append(FieldError(place, f"must come to {ALL_POINTS} points in all"))
            for vendor in points:
                adapter = adapter_of(vendor, self.adapters)
                if adapter is None or channel not in self.adapters[adapter]:
                    wrong.append(FieldError(f"{place}.{vendor}", f"must be a vendor that serves {channel}"))
                elif vendor not in known:
                    wrong.append(FieldError(f"{place}.{vendor}", "has no account; set one up first"))
        for prefix in by_prefix:
            if prefix_of(prefix) != prefix:
                wrong.append(
                    FieldError(f"by_prefix.{prefix}", "must be the calling code of a country, such as +93")
                )
        return wrong


def _told(weights: ChannelWeights) -> dict[str, object]:
    return {"channel": weights.channel, "home": weights.home, "by_prefix": weights.by_prefix}
