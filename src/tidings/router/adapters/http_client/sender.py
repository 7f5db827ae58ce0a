"""Requests to one vendor over one pool of connections: sets of messages, single questions, one clock for each.

What is certain is told as certain: a connection that was never made is `TryLater`; one that ended after the request went
out is `Unlearned`.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

import msgspec

from tidings.contracts.messages import OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.ca_bundle import trusting
from tidings.kernel.egress import Guard
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpPool, HttpRequest
from tidings.kernel.logs import get_logger
from tidings.router.adapters.http_client.answers import checked, outcome_of_failure, with_answer
from tidings.router.adapters.pending_outcomes import LATE, UNANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrustedHostLimits:
    """How much of a pool of connections one of them can have."""

    #: So long a request has its slot; then it waits for its answer beside, and the next one has its turn.
    hold_seconds: float = 0.5
    #: So many wait beside; while there are as many, slots are held.
    most_beside: int = 160


_log = get_logger("http_adapter")
_MOST_HOPS = 2


#: A message as the vendor wants it; a `BadValueError` where it can't be said to this vendor.
Ask: TypeAlias = Callable[[OutboundMessage], HttpRequest]
#: What the vendor's answer means; it may raise, and then the outcome is not known.
Read: TypeAlias = Callable[[HttpAnswer, OutboundMessage], Outcome]


class HttpSender:
    """One pool of connections to one vendor."""

    def __init__(
        self,
        *,
        guard: Guard,
        connections: int = 16,
        connect_seconds: float = 10.0,
        timeout_seconds: float = 30.0,
        batch_seconds: float = 60.0,
        ca_file: str | None = None,
        ca_pem: str | None = None,
        untrusted: UntrustedHostLimits | None = None,
    ) -> None:
        """`batch_seconds`: what has not begun after this is given back. `untrusted`: for hosts that are none of the account's
        choice; None where all requests go to one vendor, who sets the pace."""
        self._connections = connections
        self._timeout_seconds = timeout_seconds
        self._batch_seconds = batch_seconds
        self._pool = HttpPool(
            guard=guard,
            connections=connections + (0 if untrusted is None else untrusted.most_beside),
            connect_seconds=connect_seconds,
            timeout_seconds=timeout_seconds,
            context=True if ca_file is None and ca_pem is None else trusting(ca_file, ca_pem),
            names_apart=untrusted is not None,
            most_hops=_MOST_HOPS,
        )
        #: One for each connection: a request that has none has not begun, and its clock does not run.
        self._slots = asyncio.Semaphore(connections)
        self._untrusted = untrusted
        #: Requests that have given their slot back, and still wait for an answer.
        self._beside = 0
        self._closed = False

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        return timedelta(seconds=self._batch_seconds + self._timeout_seconds + 1)

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        ask: Ask,
        read: Read,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One request for each, side by side; one outcome each, in the same order, as `Adapter.send` wants it."""
        outcomes: list[Outcome] = [] if learned is None else learned
        outcomes[:] = [LATE] * len(messages)
        deadline = asyncio.get_running_loop().time() + self._batch_seconds
        line = iter(enumerate(messages))

        async def turn(place: int, message: OutboundMessage) -> None:
            outcomes[place] = await self._send_one(message, ask, read, within)

        async def work(all_of_it: asyncio.TaskGroup) -> None:
            loop = asyncio.get_running_loop()
            for place, message in line:
                async with self._slots:
                    if self._closed:
                        outcomes[place] = TryLater(reason="the adapter is closed", code="closed")
                    elif loop.time() <= deadline:
                        outcomes[place] = UNANSWERED
                        if self._untrusted is None:
                            await turn(place, message)
                        else:
                            await self._held(all_of_it.create_task(turn(place, message)), self._untrusted)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(len(messages), self._connections)):
                group.create_task(work(group))
        return outcomes

    async def each(self, requests: Sequence[HttpRequest]) -> list[HttpAnswer | None]:
        """One answer each, in the same order; None where none came in time."""
        answers: list[HttpAnswer | None] = [None] * len(requests)
        deadline = asyncio.get_running_loop().time() + self._batch_seconds
        line: Iterator[tuple[int, HttpRequest]] = iter(enumerate(requests))

        async def work() -> None:
            for place, request in line:
                if self._closed or asyncio.get_running_loop().time() > deadline:
                    return
                try:
                    answers[place] = await self.call(request)
                except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, there is no answer
                    _log.info("http.unanswered", error=type(error).__name__)

        await asyncio.gather(*(work() for _ in range(min(len(requests), self._connections))))
        return answers

    async def check(
        self, request: HttpRequest, *, read: Callable[[HttpAnswer], Outcome] | None = None
    ) -> Outcome:
        """Ask something that sends nothing: what the answer says about our credentials."""
        try:
            answer = await self.call(request)
            return checked(answer.status) if read is None else read(answer)
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, it is told
            outcome = outcome_of_failure(error)
            return (
                TryLater(reason=outcome.reason, code="connection")
                if isinstance(outcome, Unlearned)
                else outcome
            )

    async def call(self, request: HttpRequest, *, within: float | None = None) -> HttpAnswer:
        """One request in its turn; raises what the connection raises (`outcome_of_failure` knows what that means)."""
        async with self._slots:
            return await self._pool.ask(request, within=within)

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        await self._pool.close()

    async def _held(self, turn: asyncio.Task[None], untrusted: UntrustedHostLimits) -> None:
        """Hold the slot while a prompt host would answer; a slow one goes on beside, if there is room."""
        await asyncio.wait([turn], timeout=untrusted.hold_seconds)
        if turn.done():
            return
        if self._beside >= untrusted.most_beside:
            await asyncio.wait([turn])
            return
        self._beside += 1
        turn.add_done_callback(self._no_longer_beside)

    def _no_longer_beside(self, _: asyncio.Task[None]) -> None:
        self._beside -= 1

    async def _send_one(
        self, message: OutboundMessage, ask: Ask, read: Read, within: float | None
    ) -> Outcome:
        try:
            request = ask(message)
        except BadValueError as error:
            return Refused(reason=str(error), code="bad_message")
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            return Refused(reason="metadata must be JSON", code="bad_message")
        except Exception as error:  # noqa: BLE001  # our own mistake costs this message, not its whole set
            _log.error("http.unbuildable", message_id=message.message_id, error=type(error).__name__)
            return TryLater(reason="the message could not be built", code="internal")
        answer: HttpAnswer | None = None
        try:
            answer = await self._pool.ask(request, within=within)
            outcome = read(answer, message)
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, one message pays for it
            _log.info("http.unanswered", message_id=message.message_id, error=type(error).__name__)
            outcome = outcome_of_failure(error)
        return outcome if answer is None else with_answer(outcome, answer)
