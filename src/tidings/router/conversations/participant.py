"""A person who wrote: their conversation, and the lines that what they wrote becomes; no I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from tidings.contracts.conversations import TenantName
from tidings.contracts.ids import RecipientId
from tidings.kernel.keys.data_key import DataKey
from tidings.kernel.mapping import by_name
from tidings.router.conversations.keyword_replies import confirmation
from tidings.router.conversations.keywords import Keyword, read_keyword
from tidings.router.conversations.model import (
    OUTBOUND_LINE,
    Action,
    ConfirmationKind,
    Conversation,
    TranscriptLine,
)
from tidings.router.conversations.resolve import ResolvedMessage
from tidings.router.conversations.sealing import TranscriptText, seal_address, seal_words
from tidings.router.conversations.store import ConversationSides, NewTranscriptLine
from tidings.router.policies.model import Policy

_KINDS: Mapping[Action, ConfirmationKind] = {
    "stop": "stop_confirmation",
    "start": "start_confirmation",
    "help": "help",
}
#: A channel, and an address of theirs by its hash.
SenderAndAddress: TypeAlias = tuple[str, str]

_OPPOSITES: Mapping[Action, Action] = {"stop": "start", "start": "stop"}


@dataclass(slots=True, kw_only=True)
class Participant:
    """A person who wrote, and what they wrote in this wave."""

    between: ConversationSides
    messages: list[tuple[ResolvedMessage, Keyword | None]]
    #: The last conversation with them, as it was before.
    before: Conversation | None
    #: The one that these messages belong to.
    now: Conversation | None = None
    fresh: bool = False
    #: It is over, by STOP, and they say it again.
    again: bool = False
    #: Messages with a STOP or a START that the opposite, said later, has overtaken on its way here: that is their last word.
    overtaken: frozenset[str] = frozenset()
    recipient_id: RecipientId | None = None

    @property
    def conversation(self) -> Conversation:
        """The same, once it is found."""
        if self.now is None:
            raise LookupError("every person has a conversation before anything is written")
        return self.now

    @property
    def place(self) -> SenderAndAddress:
        """Whatever they want holds for this."""
        return self.between.channel, self.between.hashed.hash

    @property
    def last(self) -> ResolvedMessage:
        """What they wrote last."""
        return self.messages[-1][0]

    @property
    def stops(self) -> bool:
        """Whether that was a STOP, which is always the last of a wave, and still holds."""
        message, keyword = self.messages[-1]
        return keyword is not None and keyword.action == "stop" and message.id not in self.overtaken

    @property
    def only_stops(self) -> bool:
        """Whether they said nothing else."""
        return all(keyword is not None and keyword.action == "stop" for _, keyword in self.messages)

    @property
    def opts_in_or_out(self) -> bool:
        """Whether they opted out or in: said STOP or START."""
        return any(keyword is not None and keyword.action != "help" for _, keyword in self.messages)

    def find_overtaken(self, said: Mapping[Action, str]) -> None:
        """`said`: the messages by which they said STOP and START last, of those that were heard before."""
        self.overtaken = frozenset(
            message.id
            for message, keyword in self.messages
            if keyword is not None and said.get(_OPPOSITES.get(keyword.action, "help"), "") > message.id
        )


def keyword_of(
    message: ResolvedMessage, before: Conversation | None, policies: Iterable[Policy]
) -> Keyword | None:
    """What is STOP says the policy of the message that began it; where they began, all of them and our own lists."""
    use_case = before.use_case if before is not None and before.status == "OPEN" else None
    if use_case is None:
        words = [word for policy in policies for word in policy.stop_keywords]
        return read_keyword(message.text, stop_words=words, also_usual=True)
    words = [word for policy in policies if policy.use_case == use_case for word in policy.stop_keywords]
    return read_keyword(message.text, stop_words=words)


def lines_of(person: Participant, key: DataKey) -> list[TranscriptLine]:
    """What they wrote, sealed."""
    return [
        TranscriptLine(
            id=message.id,
            conversation_id=person.conversation.id,
            at=message.received_at,
            occurred_at=message.occurred_at,
            direction="in",
            kind=message.kind,
            status="received",
            keyword=keyword.word if keyword is not None else None,
            action=keyword.action if keyword is not None else None,
            language=keyword.language if keyword is not None else None,
            vendor=message.vendor,
            account_id=message.account_id,
            key_subject=key.subject_id,
            ciphertext=seal_words(key, message.id, TranscriptText(text=message.text, name=message.name)),
        )
        for message, keyword in person.messages
    ]


def confirmation_of(
    person: Participant,
    message: ResolvedMessage,
    keyword: Keyword,
    *,
    key: DataKey,
    name: TenantName | None,
    now: datetime,
) -> TranscriptLine:
    """What is answered to a keyword."""
    kind = _KINDS[keyword.action]
    # English words are known everywhere; another language's word says which one is spoken.
    language = name.language if name is not None and keyword.language == "en" else keyword.language
    text = confirmation(kind, language, name=name.name if name is not None else message.destination)
    # After the message that it answers, whatever the clocks say.
    line_id = OUTBOUND_LINE.new(max(now, message.received_at))
    return TranscriptLine(
        id=line_id,
        conversation_id=person.conversation.id,
        at=max(now, message.received_at),
        occurred_at=None,
        direction="out",
        kind=kind,
        status="queued",
        language=language,
        vendor=message.vendor,
        account_id=message.account_id,
        key_subject=key.subject_id,
        ciphertext=seal_words(key, line_id, TranscriptText(text=text)),
    )


def said_of(person: Participant, key: DataKey) -> NewTranscriptLine:
    """What it means for the conversation."""
    conversation = person.conversation
    return by_name(
        NewTranscriptLine,
        person.last,
        id=conversation.id,
        recipient_id=person.recipient_id,
        turns=len(person.messages),
        last_message_id=person.last.id,
        at=person.last.received_at,
        stopped=person.stops,
        key_subject=key.subject_id,
        address=seal_address(key, conversation.id, person.last.address),
    )
