"""What ladders teach about reaching people."""

from collections.abc import Sequence
from datetime import datetime

from tidings.kernel.ids import RecipientId
from tidings.router.executions.model import Note
from tidings.router.ladder.model import Learned
from tidings.router.profiles.facts import FactName, Value
from tidings.router.profiles.model import Observation, TriState


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
    if learned.channel == "whatsapp" and (learned.delivered or learned.never):
        fields["has_whatsapp_business"] = TriState.KNOWN_YES if learned.delivered else TriState.KNOWN_NO
    return Observation(
        recipient_id=recipient_id,
        channel=learned.channel,
        delivered=learned.delivered,
        at=at,
        fields=fields,
    )
