"""When no step is left: a second chance for a step that was passed over, or the final result."""

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Final

from tidings.contracts.delivery import DeliveryResult
from tidings.contracts.ladder import LadderStep
from tidings.router.state_machine.model import (
    EXPIRED,
    NO_ROUTE,
    NOT_IN_TIME,
    ActiveStep,
    ClosedAttempt,
    ExecutionEnd,
)
from tidings.router.state_machine.statuses import ARRIVED, EVIDENCE, LOST, REACHED
from tidings.router.state_machine.waits import waiting

#: Where all steps were skipped, the result that tells most about why.
_MOST_TELLING: Final[tuple[DeliveryResult, ...]] = (
    "REFUSED_CONSENT",
    "REFUSED_SENDER_UNAUTHORIZED",
    "REFUSED_COST_CAP",
    "FAILED",
    "REFUSED_NO_CHANNEL",
)


def second_chance(
    done: Sequence[ClosedAttempt], *, had: Container[int], expires_at: datetime, now: datetime
) -> ActiveStep | None:
    """A step that was passed over because another one seemed quicker: nothing better is left now."""
    passed = [attempt for attempt in done if attempt.again_at is not None and attempt.step not in had]
    for attempt in sorted(passed, key=lambda one: (one.again_at or now, one.step)):
        due_at = max(attempt.again_at or now, now)
        if due_at < expires_at and not any(
            other.step == attempt.step and other.vendor is not None for other in done
        ):
            active = ActiveStep(step=attempt.step, due_at=due_at)
            if due_at <= now or attempt.reason is None:
                return active
            return waiting(active, attempt.reason, now=now, until=due_at)
    return None


def exhausted(steps: Sequence[LadderStep], done: Sequence[ClosedAttempt], *, expired: bool) -> ExecutionEnd:
    """The end of an execution, by all of its attempts."""
    for attempt in done:
        rank = REACHED.get(attempt.receipt or "", 0)
        if rank >= ARRIVED:
            # It was to be read, and it did arrive.
            channel = steps[attempt.step - 1].channel
            return ExecutionEnd(result="DELIVERED", evidence=EVIDENCE[rank], final_channel=channel)
    calls = [attempt for attempt in done if attempt.result is None]
    if calls:
        return ExecutionEnd(result="FAILED", reason=EXPIRED if expired else _why(calls[-1]))
    skipped = [attempt for attempt in done if attempt.result is not None]
    if not steps:
        return ExecutionEnd(result="REFUSED_NO_CHANNEL", reason=NO_ROUTE)
    if expired or not skipped:
        return ExecutionEnd(result="FAILED", reason=EXPIRED)
    telling = min(reversed(skipped), key=lambda attempt: _rank(attempt.result))
    return ExecutionEnd(result=telling.result or "FAILED", reason=telling.reason)


def _why(attempt: ClosedAttempt) -> str | None:
    """Why an attempt failed."""
    if attempt.receipt in LOST:
        return attempt.receipt
    return NOT_IN_TIME if attempt.status == "accepted" else attempt.reason


def _rank(result: DeliveryResult | None) -> int:
    return _MOST_TELLING.index(result) if result in _MOST_TELLING else len(_MOST_TELLING)
