"""What executions teach about reaching people."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from tidings.contracts.ids import RecipientId
from tidings.kernel.mapping import by_name
from tidings.router.executions.model import ExecutionChange
from tidings.router.profiles.facts import FactName, Value
from tidings.router.profiles.model import Observation, TriState
from tidings.router.state_machine.model import ReachObservation

#: What is known for sure once a message arrived there, or was refused by the owner of the number.
_FACTS: Final[Mapping[str, FactName]] = {"whatsapp": "has_whatsapp_business", "voice": "voice_otp_supported"}


def observations_of(changes: Sequence[ExecutionChange], *, now: datetime) -> list[Observation]:
    """Of the turns that were written; messages of test keys teach nothing."""
    return [
        observation(change.execution.recipient_id, learned, at=now)
        for change in changes
        if change.transition.learned and not change.execution.is_test
        for learned in change.transition.learned
    ]


def observation(recipient_id: RecipientId, learned: ReachObservation, *, at: datetime) -> Observation:
    """One thing that was learned about a recipient."""
    fields: dict[FactName, Value] = {}
    fact = _FACTS.get(learned.channel)
    if fact is not None and (learned.delivered or learned.never):
        fields[fact] = TriState.KNOWN_YES if learned.delivered else TriState.KNOWN_NO
    return by_name(Observation, learned, recipient_id=recipient_id, at=at, fields=fields)
