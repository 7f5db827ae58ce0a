"""Sets of messages over the binds of one account: one outcome each.

A message of several parts is sent part by part, the next when the one before is taken. As long as none is taken, nothing was
sent. From then on a part that the SMSC does not take now is tried again as long as the message has time; a message of which
some parts were taken and others not is unlearned: what the person will see of it is not known.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, TypeAlias

from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.kernel.logs import get_logger
from tidings.router.adapters.connect import ConnectError
from tidings.router.adapters.pending_outcomes import LATE, UNANSWERED
from tidings.router.adapters.smpp.command_status import OK, WRONG_BIND_STATE, Verdict, outcome_of, verdict_of
from tidings.router.adapters.smpp.pdu import GENERIC_NACK, SUBMIT_SM, BadPduError, Pdu, read_message_id
from tidings.router.adapters.smpp.session import LinkGoneError, NoAnswerError, NotWrittenError
from tidings.router.adapters.smpp.window import (
    BEGUN,
    URGENT,
    USUAL,
    ClosedError,
    Pace,
    SendWindow,
    SmscUnreachableError,
    TooLateError,
)

_log = get_logger("smpp")
_IN_PIECES: Final = Unlearned(reason="the SMSC took some parts of the message, and not the others")
_CLOSED: Final = TryLater(reason="the adapter is closed", code="closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitBodies:
    """A message built for the wire."""

    #: The bodies of its submit_sm, in order.
    bodies: Sequence[bytes] = field(repr=False)
    #: Where an answer of the person will arrive.
    sender: str | None = field(repr=False)


#: A message as the SMSC wants it; a `BadValueError` where it can't be said.
Build: TypeAlias = Callable[[OutboundMessage], SubmitBodies]


class _Message:
    """One message, from its first turn to its outcome."""

    def __init__(self, ready: SubmitBodies, *, urgent: bool, deadline: float, seconds: float) -> None:
        self.ready = ready
        self.urgent = urgent
        #: Until when it may begin.
        self.deadline = deadline
        #: How long it has once it has begun.
        self.seconds = seconds
        self.ends: float | None = None
        #: Parts that the SMSC has.
        self.taken = 0

    @property
    def rank(self) -> int:
        return BEGUN if self.taken else URGENT if self.urgent else USUAL


@dataclass(slots=True, eq=False, repr=False)
class SmppSender:
    """Hands sets to the SMSC as fast as windows and pace allow."""

    turns: SendWindow
    pace: Pace
    _: KW_ONLY
    build: Build
    #: Messages of one set that wait for a turn or an answer.
    at_once: int
    batch_seconds: float
    timeout_seconds: float
    statuses: Mapping[str, Verdict]
    #: An id of a response as receipts have it.
    id_of: Callable[[str], str]
    #: Messages of which something went out, without a known outcome yet.
    under_way: int = field(init=False, default=0)

    async def send(
        self, messages: Sequence[OutboundMessage], *, within: float | None, learned: list[Outcome] | None
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order, as `Adapter.send` wants it."""
        outcomes: list[Outcome] = [] if learned is None else learned
        outcomes[:] = [LATE] * len(messages)
        deadline = asyncio.get_running_loop().time() + self.batch_seconds
        line = iter(sorted(enumerate(messages), key=lambda one: not one[1].urgent))

        async def work() -> None:
            for place, message in line:

                def tell(outcome: Outcome, place: int = place) -> None:
                    outcomes[place] = outcome

                outcomes[place] = await self._send_one(message, deadline, within, tell)

        await asyncio.gather(*(work() for _ in range(min(len(messages), self.at_once))))
        return outcomes

    async def _send_one(
        self, message: OutboundMessage, deadline: float, within: float | None, tell: Callable[[Outcome], None]
    ) -> Outcome:
        try:
            ready = self.build(message)
        except BadValueError as error:
            return Refused(reason=str(error), code="bad_message")
        except Exception as error:  # noqa: BLE001  # our own mistake costs this message, not its whole set
            _log.error("smpp.unbuildable", message_id=message.message_id, error=type(error).__name__)
            return TryLater(reason="the message could not be built", code="internal")
        usual = self.timeout_seconds
        seconds = usual if within is None else min(within, usual)
        one = _Message(ready, urgent=message.urgent, deadline=deadline, seconds=seconds)
        try:
            while True:
                outcome = await self._step(one, within, tell)
                if outcome is not None:
                    return outcome
        except Exception as error:  # noqa: BLE001  # nothing that an SMSC does makes it raise
            _log.error("smpp.failed", message_id=message.message_id, error=type(error).__name__)
            return Unlearned(reason="the sending failed")
        finally:
            self.under_way -= one.ends is not None

    async def _step(
        self, one: _Message, within: float | None, tell: Callable[[Outcome], None]
    ) -> Outcome | None:
        """One part, once; None where there is another step to take."""
        loop = asyncio.get_running_loop()
        begun = one.taken > 0
        try:
            session = await self.turns.take(
                one.rank, deadline=one.ends if begun and one.ends else one.deadline, within=within
            )
        except TooLateError:
            return _IN_PIECES if begun else LATE
        except ClosedError:
            return _IN_PIECES if begun else _CLOSED
        except SmscUnreachableError:
            reason = "the SMSC could not be reached in time"
            return _IN_PIECES if begun else TryLater(reason=reason, code="connection")
        except ConnectError as error:
            return _IN_PIECES if begun else TryLater(reason=error.reason, code=error.code)
        session.release()
        if not begun:
            self.under_way += one.ends is None
            one.ends = loop.time() + one.seconds
            tell(UNANSWERED)
        ends = one.ends or loop.time()
        try:
            answer = await session.ask(
                SUBMIT_SM, one.ready.bodies[one.taken], seconds=max(ends - loop.time(), 0)
            )
        except NotWrittenError:
            if not begun:
                tell(LATE)
            return None
        except (LinkGoneError, NoAnswerError) as error:
            return Unlearned(reason=str(error))
        if answer.status == WRONG_BIND_STATE:
            session.abort("the SMSC does not know of our bind")
        return self._read(one, answer)

    def _read(self, one: _Message, answer: Pdu) -> Outcome | None:
        if answer.status != OK or answer.command == GENERIC_NACK:
            return self._read_refusal(one, answer.status)
        self.pace.taken()
        try:
            message_id = read_message_id(answer)
        except BadPduError as error:
            return Unlearned(reason=str(error))
        one.taken += 1
        if one.taken < len(one.ready.bodies):
            return None
        return Accepted(
            provider_message_id=None if message_id is None else self.id_of(message_id),
            sender=one.ready.sender,
        )

    def _read_refusal(self, one: _Message, status: int) -> Outcome | None:
        verdict = verdict_of(status, self.statuses)
        if verdict == "throttled":
            self.pace.too_much(asyncio.get_running_loop().time())
        if not one.taken:
            return outcome_of(status, verdict)
        # The parts before are on their way: this one goes again as long as there is time.
        return None if verdict == "throttled" else _IN_PIECES
