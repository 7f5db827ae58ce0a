"""Messages that were taken and that people can answer, as conversations hear of them."""

from collections.abc import Mapping, Sequence

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.enums import UseCase
from tidings.contracts.messages import Accepted
from tidings.kernel.ids import time_of
from tidings.router.executions.model import OutgoingExecution, ReservedAttempt
from tidings.router.executions.sent_message import SentMessage
from tidings.router.policies.model import DEFAULT_SESSION_TTL_SECONDS, Policy
from tidings.router.state_machine.model import CallSkipped, VendorAnswered


def can_be_answered(answer: VendorAnswered | CallSkipped) -> bool:
    """Whether the vendor has said where an answer will arrive."""
    return (
        isinstance(answer, VendorAnswered)
        and isinstance(answer.outcome, Accepted)
        and answer.outcome.sender is not None
    )


def turns_of(
    outgoing: OutgoingExecution,
    answers: Sequence[VendorAnswered | CallSkipped],
    policies: Mapping[UseCase, Policy],
) -> tuple[SentMessage, ...]:
    """The messages of one outgoing that can be answered; their conversations last as long as its policy says."""
    calls = {call.attempt_id: call for call in outgoing.attempts}
    return tuple(
        _turn(outgoing, calls[answer.attempt_id], answer, answer.outcome.sender, policies)
        for answer in answers
        if isinstance(answer, VendorAnswered)
        and isinstance(answer.outcome, Accepted)
        and answer.outcome.sender is not None
        and answer.attempt_id in calls
    )


def _turn(
    outgoing: OutgoingExecution,
    call: ReservedAttempt,
    answer: VendorAnswered,
    sender: str,
    policies: Mapping[UseCase, Policy],
) -> SentMessage:
    execution = outgoing.execution
    policy = policies.get(execution.state.use_case)
    return SentMessage(
        channel=execution.state.steps[call.step - 1].channel,
        sender_id=sender,
        to=NormalisedAddress(call.message.to),
        recipient_id=execution.recipient_id,
        notification_id=execution.notification_id,
        account_id=answer.account,
        vendor=call.reservation.vendor,
        use_case=execution.state.use_case,
        ttl_seconds=policy.session_ttl_seconds if policy else DEFAULT_SESSION_TTL_SECONDS,
        at=time_of(call.attempt_id),
    )
