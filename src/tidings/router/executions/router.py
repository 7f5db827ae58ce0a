"""What the router offers notify: hand-offs begin here."""

from collections.abc import Sequence

from tidings.contracts import delivery
from tidings.contracts.delivery import Begin, HandOff
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.in_hand import InHand
from tidings.router.executions.alarm import Alarm
from tidings.router.executions.begin import begin
from tidings.router.executions.call import Caller
from tidings.router.executions.model import Begun, Note, WorkerId, moment
from tidings.router.ladder.model import Call
from tidings.router.vendors.accounts import Accounts


class ExecutionRouter:
    """The contract's `Router`."""

    def __init__(
        self,
        accounts: Accounts,
        caller: Caller,
        *,
        worker_id: WorkerId,
        clock: Clock,
        alarm: Alarm,
        in_hand: InHand | None = None,
    ) -> None:
        """`worker_id` names the living worker that has the work in hand."""
        self._in_hand = in_hand or InHand()
        self._accounts = accounts
        self._caller = caller
        self._worker_id = worker_id
        self._clock = clock
        self._alarm = alarm

    def first_step(self, hand_off: HandOff) -> Channel | None:
        """The channel of the first step; None where there is no way at all."""
        return hand_off.routes[0].channel if hand_off.routes else None

    async def begin(self, tx: TenantTx, begins: Sequence[Begin]) -> Begun:
        """Write the ladders in the transaction that hands them over."""
        return await begin(
            tx,
            begins,
            accounts=self._accounts,
            ladder=self._caller.ladder,
            worker=self._worker_id(),
            now=moment(self._clock),
        )

    async def carry_out(self, begun: delivery.Begun) -> None:
        """After that transaction's commit: send what was prepared, record what came of it."""
        if not isinstance(begun, Begun):
            raise TypeError("carry_out takes what begin gave")
        lives = [*begun.without_steps, *(live for live, _ in begun.calls)]
        with self._in_hand.holding([live.id for live in lives]):
            await self._carry_out(begun)

    async def _carry_out(self, begun: Begun) -> None:
        if begun.some_wait:
            self._alarm.expect(self._clock.now())
        if begun.without_steps:
            look = self._caller.ladder.look
            now = self._clock.now()
            notes = [
                Note(live=live, decision=decision)
                for live in begun.without_steps
                if not isinstance(decision := look(live.here, now=now), Call)
            ]
            await self._caller.recorder.record(begun.tenant_id, begun.worker, notes)
        if begun.calls:
            await self._caller.call(begun.tenant_id, begun.worker, begun.calls)
