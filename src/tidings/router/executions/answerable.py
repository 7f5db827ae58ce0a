"""Messages that were taken and that people can answer, as conversations hear of them."""

from collections.abc import Mapping, Sequence

from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.messages import Accepted
from tidings.contracts.words import UseCase
from tidings.kernel.ids import time_of
from tidings.router.conversations.model import DEFAULT_TTL
from tidings.router.conversations.sent import SentTurn
from tidings.router.executions.model import Booked, Called
from tidings.router.ladder.model import Answered, NotCalled
from tidings.router.policies.model import Policy


def can_be_answered(answer: Answered | NotCalled) -> bool:
    """Whether the vendor has said where an answer will arrive."""
    return (
        isinstance(answer, Answered)
        and isinstance(answer.outcome, Accepted)
        and answer.outcome.sender is not None
    )


def turns_of(
    ladder: Called, answers: Sequence[Answered | NotCalled], policies: Mapping[UseCase, Policy]
) -> tuple[SentTurn, ...]:
    """The messages of one ladder that can be answered; their conversations last as long as its policy says."""
    calls = {call.call_id: call for call in ladder.calls}
    return tuple(
        _turn(ladder, calls[answer.call_id], answer, answer.outcome.sender, policies)
        for answer in answers
        if isinstance(answer, Answered)
        and isinstance(answer.outcome, Accepted)
        and answer.outcome.sender is not None
        and answer.call_id in calls
    )


def _turn(
    ladder: Called, call: Booked, answer: Answered, sender: str, policies: Mapping[UseCase, Policy]
) -> SentTurn:
    live = ladder.live
    policy = policies.get(live.here.use_case)
    return SentTurn(
        channel=live.here.steps[call.step - 1].channel,
        sender_id=sender,
        to=NormalisedAddress(call.message.to),
        recipient_id=live.recipient_id,
        notification_id=live.notification_id,
        account_id=answer.account,
        vendor=call.vendor,
        use_case=live.here.use_case,
        ttl_seconds=policy.session_ttl_seconds if policy else int(DEFAULT_TTL.total_seconds()),
        at=time_of(call.call_id),
    )
