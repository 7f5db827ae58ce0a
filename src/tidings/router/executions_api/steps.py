"""How far a step of a ladder has come; no I/O."""

from typing import Final, Literal

from tidings.router.executions_api.model import Execution

#: `waiting` for its next call, `calling` a vendor, `awaiting_receipt` of one that has accepted, then `reached`, `left` or
#: `skipped`; `not_begun` where its turn has not come, or never came.
StepState = Literal["not_begun", "waiting", "calling", "awaiting_receipt", "reached", "left", "skipped"]

_SKIPPED: Final = "step_skipped"
#: Statuses of calls that a delivery can rest on.
_GOOD: Final = frozenset({"accepted", "sent", "delivered", "delivered_read"})


def state_of_step(execution: Execution, place: int) -> StepState:
    """Where the step with this place stands."""
    active = next((active for active in execution.active_steps if active.step == place), None)
    if active is not None:
        if active.open_attempt is not None:
            return "calling"
        return "awaiting_receipt" if active.awaiting is not None else "waiting"
    happened = [past for past in execution.path if past.step == place]
    if not happened:
        return "not_begun"
    if all(past.status == _SKIPPED for past in happened):
        return "skipped"
    return "reached" if place == _reached(execution) else "left"


def _reached(execution: Execution) -> int | None:
    """The step that a delivery is owed to: the last on its channel that a vendor took."""
    if execution.outcome != "DELIVERED":
        return None
    carried = [
        past.step
        for past in execution.path
        if past.channel == execution.final_channel and past.status in _GOOD
    ]
    return carried[-1] if carried else None
