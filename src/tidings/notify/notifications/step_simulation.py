"""Answers the router's simulations: by the same checks, gates and words as in earnest, and nothing is written."""

import msgspec

from tidings.contracts.simulation import HypotheticalMessage, SimulatedMessage
from tidings.kernel.db import CallerRole
from tidings.kernel.http.field_errors import explain
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import attributes
from tidings.kernel.refusals import InvalidError
from tidings.notify.accept.order import OrderedBy
from tidings.notify.accept.wire import NotificationInput, order_of
from tidings.notify.decide.model import Defer, Pass
from tidings.notify.notifications.simulate import Simulation, Simulator


class StepSimulator:
    """The contract's `StepSimulation`."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def simulate(
        self, tenant_id: TenantId, spec: HypotheticalMessage, *, role: CallerRole | None = None
    ) -> SimulatedMessage:
        """What would happen; refused wherever accepting would refuse it."""
        plain = msgspec.to_builtins(spec)
        try:
            given = msgspec.convert(plain, NotificationInput)
        except msgspec.ValidationError as error:
            raise InvalidError(explain(plain, NotificationInput, error)) from None
        by = OrderedBy(tenant_id, role, is_test=True)
        return _told(await self._simulator.simulate(order_of(given, by)))


def _told(done: Simulation) -> SimulatedMessage:
    verdict = done.decision.verdict
    passed = isinstance(verdict, Pass)
    return SimulatedMessage(
        would="send" if passed else "defer" if isinstance(verdict, Defer) else "stop",
        # Once it is handed over, what its steps come to is the ladder's business.
        reason=None if passed else done.reason,
        until=None if passed else done.until,
        **attributes(done, "at recipient_known routes"),
        **attributes(done.order, "expires_at use_case priority"),
        recipient_id=done.decision.recipient_id,
        steps=done.prepared,
        not_asked=tuple(gate.value for gate in done.not_asked),
    )
