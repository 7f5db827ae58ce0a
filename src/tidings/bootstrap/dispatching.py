"""From the queue to the router."""

from typing import TYPE_CHECKING

from tidings.bootstrap.stripes import Stripe, stripe
from tidings.notify.dispatch.claim import Turns
from tidings.notify.dispatch.job import DispatchJob
from tidings.notify.dispatch.schedule import ScheduleJob
from tidings.notify.dispatch.turn import TurnTaker

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Dispatching:
    """Whoever takes what was accepted out of the queue, now or at its time."""

    def __init__(self, system: "System") -> None:
        self.dispatch = DispatchJob(
            db=system.db,
            turns=Turns(system.db),
            taker=TurnTaker(
                db=system.db,
                loader=system.composing.facts,
                keyring=system.keyring,
                limits=system.hot_state.limits,
                steps=system.composing.steps,
                router=system.climbing.router,
                clock=system.clock,
                stripe=stripe(Stripe.DISPATCH),
            ),
            router=system.climbing.router,
            presence=system.presence,
            wakeups=system.bus.wakeups,
            wake=system.accepting.dispatch_wake,
            express=system.accepting.express_wake,
            metrics=system.metrics,
            held_up=lambda: system.renderer.held_up,
        )
        self.schedule = ScheduleJob(
            system.db,
            clock=system.clock,
            presence=system.presence,
            wake=system.accepting.schedule_wake,
            wake_dispatcher=system.accepting.dispatch_wake.set,
        )
