"""The port between notify and the router, as it is when they run in different processes: all that passes goes through bytes."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from tidings.contracts.delivery import (
    Answered,
    DeliveryPlan,
    HandOff,
    InProcessRouter,
    PlannedDelivery,
    PreparedStep,
    SendFirstSteps,
    StepAsk,
    StepPreparer,
)
from tidings.kernel.db import TenantsTx, TenantTx
from tidings.kernel.keys.data_key import DataKey

T = TypeVar("T")


def through_bytes(value: T, kind: Any) -> T:
    """The value, encoded and decoded again; a key is the only thing that is left behind."""
    decoded: T = msgspec.msgpack.decode(msgspec.msgpack.encode(value, enc_hook=_without_keys), type=kind)
    return decoded


def _without_keys(value: object) -> None:
    if not isinstance(value, DataKey):
        raise NotImplementedError(f"{type(value).__name__} can't pass the port")


class EncodedPreparer:
    """Notify as the router sees it from another process."""

    def __init__(self, inner: StepPreparer) -> None:
        self._inner = inner
        self.asked = 0

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """One answer each."""
        self.asked += len(asks)
        answers = await self._inner.prepare(through_bytes(list(asks), list[StepAsk]))
        return through_bytes(answers, list[PreparedStep])


class EncodedRouter:
    """The router in the same process, which knows nothing but bytes."""

    def __init__(self, inner: InProcessRouter) -> None:
        self.inner = inner

    async def plan(self, hand_offs: Sequence[HandOff]) -> Sequence[DeliveryPlan]:
        """As the inner one."""
        plans = await self.inner.plan(through_bytes(list(hand_offs), list[HandOff]))
        return through_bytes(list(plans), list[DeliveryPlan])

    async def start(self, hand_offs: Sequence[HandOff]) -> None:
        """As the inner one."""
        await self.inner.start(through_bytes(list(hand_offs), list[HandOff]))

    async def reserve(self, deliveries: Sequence[PlannedDelivery]) -> Sequence[PlannedDelivery]:
        """As the inner one."""
        given = through_bytes(list(deliveries), list[PlannedDelivery])
        return through_bytes(list(await self.inner.reserve(given)), list[PlannedDelivery])

    async def start_in(
        self, tx: TenantTx | TenantsTx, deliveries: Sequence[PlannedDelivery], *, last: bool = False
    ) -> SendFirstSteps:
        """As the inner one: the transaction is all that is shared."""
        given = through_bytes(list(deliveries), list[PlannedDelivery])
        return await self.inner.start_in(tx, given, last=last)


class RemoteRouter(EncodedRouter):
    """The router in another process: hand-offs are all that it gets, after notify's commit, and it gets them twice."""

    async def reserve(self, deliveries: Sequence[PlannedDelivery]) -> Sequence[PlannedDelivery]:
        """Nothing is reserved from afar."""
        return deliveries

    async def start_in(
        self, tx: TenantTx | TenantsTx, deliveries: Sequence[PlannedDelivery], *, last: bool = False
    ) -> SendFirstSteps:
        """What a handover table would keep."""
        kept = [delivery.hand_off for delivery in deliveries]

        async def hand_over(answered: Answered | None = None) -> None:
            for _ in range(2):
                await self.start(kept)

        return hand_over
