"""Asks notify in another process to prepare steps: the contract's `StepPreparer`, by request and reply."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import msgspec

from tidings.contracts.delivery import PreparedStep, StepAsk, WaitStep
from tidings.contracts.delivery_requests import PREPARE_STEPS, PrepareSteps, StepsPrepared
from tidings.kernel.clock import Clock
from tidings.kernel.durable.retry_policy import Backoff, RandomUnit
from tidings.kernel.logs import get_logger
from tidings.kernel.requests import NoReplyError, RequestFailedError, Requests

#: What a step waits for while no process of notify answers.
NOTIFY_AWAY: Final = "notify_away"
#: Steps of one request: those of a set are spread over the processes of notify, and one slow template holds up few.
_STEPS: Final = 50
#: Seconds; rendering may take some.
_TIMEOUT: Final = 30.0
#: Seconds until a step is asked for again, at first and at most.
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 15.0

_log = get_logger("executions")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(StepsPrepared).decode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RemoteStepPreparer:
    """Where no process of notify answers, the steps wait and are asked for again; nothing is lost."""

    requests: Requests
    clock: Clock
    jitter: RandomUnit
    timeout: float = _TIMEOUT
    _backoff: Backoff = field(
        default_factory=lambda: Backoff(first=_FIRST_PAUSE, longest=_LONGEST_PAUSE), init=False
    )

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """One answer each, in the same order, whatever their tenants."""
        parts = [asks[start : start + _STEPS] for start in range(0, len(asks), _STEPS)]
        prepared = await asyncio.gather(*map(self._part, parts))
        unanswered = sum(steps is None for steps in prepared)
        if not unanswered:
            self._backoff.after_success()
            return [step for steps in prepared for step in steps or ()]
        # Spread out, so that they do not all come back at once; none sooner than half of it.
        pause = self._backoff.after_failure()
        _log.warning("notify_away", requests=unanswered, retry_seconds=pause)
        return [
            step
            for part, steps in zip(parts, prepared, strict=True)
            for step in (steps if steps is not None else [self._wait(pause) for _ in part])
        ]

    async def _part(self, asks: Sequence[StepAsk]) -> list[PreparedStep] | None:
        """One answer each; None where nobody answers."""
        found: list[PreparedStep] = []
        while len(found) < len(asks):
            payload = _encode(PrepareSteps(asks=tuple(asks[len(found) :])))
            try:
                reply = await self.requests.call(PREPARE_STEPS, payload, timeout=self.timeout)
            except NoReplyError:
                return None
            steps = _decode(reply).steps
            if not 0 < len(steps) <= len(asks) - len(found):
                raise RequestFailedError("answers_do_not_fit")
            found += steps
        return found

    def _wait(self, pause: float) -> WaitStep:
        seconds = pause * (0.5 + self.jitter() / 2)
        return WaitStep(until=self.clock.now() + timedelta(seconds=seconds), reason=NOTIFY_AWAY)
