"""What there is when no step is left: a second chance, or the end."""

from collections.abc import Container, Sequence
from datetime import datetime
from typing import Final

from tidings.contracts.delivery import DeliveryResult
from tidings.router.ladder.model import EXPIRED, NO_ROUTE, NOT_IN_TIME, End, Leg, Past, Step
from tidings.router.ladder.statuses import ARRIVED, EVIDENCE, LOST, REACHED
from tidings.router.ladder.waits import waiting

#: Where all steps were skipped, the result that tells most about why.
_MOST_TELLING: Final[tuple[DeliveryResult, ...]] = (
    "REFUSED_CONSENT",
    "REFUSED_SENDER_UNAUTHORIZED",
    "REFUSED_COST_CAP",
    "FAILED",
    "REFUSED_NO_CHANNEL",
)


def second_chance(
    done: Sequence[Past], *, had: Container[int], expires_at: datetime, now: datetime
) -> Leg | None:
    """A step that was only passed over because another one seemed quicker: there is nothing better left now."""
    passed = [past for past in done if past.again_at is not None and past.step not in had]
    for past in sorted(passed, key=lambda one: (one.again_at or now, one.step)):
        due_at = max(past.again_at or now, now)
        if due_at < expires_at and not any(
            other.step == past.step and other.vendor is not None for other in done
        ):
            leg = Leg(step=past.step, due_at=due_at)
            if due_at <= now or past.reason is None:
                return leg
            return waiting(leg, past.reason, now=now, until=due_at)
    return None


def exhausted(steps: Sequence[Step], done: Sequence[Past], *, expired: bool) -> End:
    """How it ends, by all that was tried."""
    for past in done:
        rank = REACHED.get(past.receipt or "", 0)
        if rank >= ARRIVED:
            # It was to be read, and it did arrive.
            channel = steps[past.step - 1].channel
            return End(result="DELIVERED", evidence=EVIDENCE[rank], final_channel=channel)
    calls = [past for past in done if past.result is None]
    if calls:
        return End(result="FAILED", reason=EXPIRED if expired else _why(calls[-1]))
    skipped = [past for past in done if past.result is not None]
    if not steps:
        return End(result="REFUSED_NO_CHANNEL", reason=NO_ROUTE)
    if expired or not skipped:
        return End(result="FAILED", reason=EXPIRED)
    telling = min(reversed(skipped), key=lambda past: _rank(past.result))
    return End(result=telling.result or "FAILED", reason=telling.reason)


def _why(past: Past) -> str | None:
    """Why a call came to nothing."""
    if past.receipt in LOST:
        return past.receipt
    return NOT_IN_TIME if past.status == "accepted" else past.reason


def _rank(result: DeliveryResult | None) -> int:
    return _MOST_TELLING.index(result) if result in _MOST_TELLING else len(_MOST_TELLING)
