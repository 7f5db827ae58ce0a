"""The effect of STOP and START: which addresses notify suppresses or releases, and which keywords are confirmed.

`keywords.py` recognises them; what suppressing means is in `notify/correspondence/correspondents.py`.
"""

from collections.abc import Sequence

from tidings.contracts.correspondence import Correspondents, KeywordOptOut
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import by_name
from tidings.router.conversations.keywords import Keyword
from tidings.router.conversations.model import Action
from tidings.router.conversations.participant import Participant, SenderAndAddress
from tidings.router.conversations.resolve import ResolvedMessage
from tidings.router.conversations.store import ConversationSides


async def apply_keywords(
    tx: TenantTx, people: Sequence[Participant], correspondents: Correspondents
) -> list[tuple[Participant, ResolvedMessage, Keyword]]:
    """Do what the keywords ask for; returns those that are to be confirmed."""
    asked = [
        (person, message, keyword)
        for person in people
        for message, keyword in person.messages
        if keyword is not None and message.addressable and message.id not in person.overtaken
    ]
    stops = [one for one in asked if one[2].action == "stop"]
    # Of one person's words to one number STOP is the last of a wave; they may have written to another after it.
    last: dict[SenderAndAddress, str] = {}
    for person, message, _ in stops:
        last[person.place] = max(last.get(person.place, ""), message.id)
    starts = [one for one in asked if one[2].action == "start"]
    before = [one for one in starts if last.get(one[0].place, "") > one[1].id]
    after = [one for one in starts if last.get(one[0].place, "") < one[1].id]
    if before:
        await correspondents.start(tx, [opt_out_of(*one) for one in before])
    if stops:
        await correspondents.stop(tx, [opt_out_of(*one) for one in stops])
    if after:
        await correspondents.start(tx, [opt_out_of(*one) for one in after])
    # Each once, however often they say it at once; what was confirmed before not again.
    first: dict[tuple[ConversationSides, Action], tuple[Participant, ResolvedMessage, Keyword]] = {}
    for one in asked:
        if not (one[2].action == "stop" and one[0].again):
            first.setdefault((one[0].between, one[2].action), one)
    return list(first.values())


def opt_out_of(person: Participant, message: ResolvedMessage, keyword: Keyword) -> KeywordOptOut:
    """The opt-out, or its end, as notify takes it."""
    return by_name(
        KeywordOptOut,
        message,
        recipient_id=person.recipient_id,
        keyword=keyword.word,
        language=keyword.language,
        conversation_id=person.conversation.id,
        at=message.received_at,
    )
