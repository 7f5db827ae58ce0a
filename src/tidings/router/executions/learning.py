"""What ladders teach about reaching people."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from tidings.contracts.ids import RecipientId
from tidings.router.executions.model import Note
from tidings.router.ladder.model import Learned
from tidings.router.profiles.facts import FactName, Value
from tidings.router.profiles.model import Observation, TriState

#: What is known for sure once a message arrived there, or was refused by whoever has the number.
_FACTS: Final[Mapping[str, FactName]] = {
    "whatsapp": "has_whatsapp_business",
    "voice": "voice_otp_supported",
}


def observations_of(notes: Sequence[Note], *, now: datetime) -> list[Observation]:
    """Of the turns that were written; messages of test keys teach nothing."""
    return [
        observation(note.live.recipient_id, learned, at=now)
        for note in notes
        if note.turn.learned and not note.live.is_test
        for learned in note.turn.learned
    ]


def observation(recipient_id: RecipientId, learned: Learned, *, at: datetime) -> Observation:
    """One thing that was learned about somebody."""
    fields: dict[FactName, Value] = {}
    fact = _FACTS.get(learned.channel)
    if fact is not None and (learned.delivered or learned.never):
        fields[fact] = TriState.KNOWN_YES if learned.delivered else TriState.KNOWN_NO
    return Observation(
        recipient_id=recipient_id,
        channel=learned.channel,
        delivered=learned.delivered,
        at=at,
        fields=fields,
    )
