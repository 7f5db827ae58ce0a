"""What the sandbox has received: the newest so many messages, and never more memory than agreed.

A message is kept as it came and read when it is asked for, so that receiving costs next to nothing.
"""

import secrets
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from tidings.kernel.clock import Clock
from tidings.sandbox.bell import Bell

MOST_MESSAGES = 10_000
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageText:
    """What a message says, where its raw form does not say it in a usual way."""

    subject: str | None = field(default=None, repr=False)
    text: str | None = field(default=None, repr=False)
    html: str | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """About so many bytes."""
        return sum(len(part) for part in (self.subject, self.text, self.html) if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedMessage:
    """One message as it came."""

    #: Counts up from one.
    number: int
    #: Of the sandbox that took it: after a new start the same numbers are other messages.
    run: str
    #: Which vendor's protocol it came by.
    adapter: str
    #: What the vendor is called.
    vendor: str
    channel: str
    sender: str = field(repr=False)
    to: tuple[str, ...] = field(repr=False)
    raw: bytes = field(repr=False)
    #: None: they are read from the raw form.
    words: MessageText | None = field(default=None, repr=False)
    received_at: datetime

    @property
    def size(self) -> int:
        """Of what is kept."""
        return len(self.raw) + (self.words.size if self.words is not None else 0)

    @property
    def id(self) -> str:
        """As the API calls it, and the vendor."""
        return f"sbx_{self.run}_{self.number}"


class Store:
    """The last messages, and a bell for those who watch."""

    def __init__(
        self,
        clock: Clock,
        *,
        most_messages: int = MOST_MESSAGES,
        most_bytes: int = MOST_BYTES,
        run: str | None = None,
    ) -> None:
        """`run` is in every id; without one it is drawn by lot, so that no two sandboxes give the same ids."""
        self._clock = clock
        self.run = run or secrets.token_hex(3)
        self._most_messages = most_messages
        self._most_bytes = most_bytes
        self._kept: deque[ReceivedMessage] = deque()
        self._last = 0
        self.bell = Bell()
        #: How many came since the start, by adapter; clearing does not change it.
        self.received: Counter[str] = Counter()
        #: How large the kept ones are.
        self.bytes = 0

    def add(
        self,
        *,
        adapter: str,
        channel: str,
        sender: str,
        to: tuple[str, ...],
        raw: bytes,
        vendor: str | None = None,
        words: MessageText | None = None,
    ) -> ReceivedMessage:
        """Keep a message; the oldest make room."""
        self._last += 1
        message = ReceivedMessage(
            number=self._last,
            run=self.run,
            adapter=adapter,
            vendor=vendor or adapter,
            channel=channel,
            sender=sender,
            to=to,
            raw=raw,
            words=words,
            received_at=self._clock.now(),
        )
        self._kept.append(message)
        self.received[adapter] += 1
        self.bytes += message.size
        while len(self._kept) > self._most_messages or (
            self.bytes > self._most_bytes and len(self._kept) > 1
        ):
            self.bytes -= self._kept.popleft().size
        self.ring()
        return message

    def ring(self) -> None:
        """Tell those who watch that something has changed."""
        self.bell.ring()

    def find(self, *, to: str | None = None, channel: str | None = None) -> list[ReceivedMessage]:
        """Those that are kept, the oldest first; an address matches in any case."""
        wanted = to.lower() if to is not None else None
        return [
            message
            for message in self._kept
            if (channel is None or message.channel == channel)
            and (wanted is None or any(address.lower() == wanted for address in message.to))
        ]

    def get(self, message_id: str) -> ReceivedMessage | None:
        """The message of this id, if it is still kept."""
        number = message_id.removeprefix(f"sbx_{self.run}_")
        if not (number.isascii() and number.isdecimal()) or not self._kept:
            return None
        # Numbers have no gaps, so its place is known.
        place = int(number[:18]) - self._kept[0].number
        found = self._kept[place] if 0 <= place < len(self._kept) else None
        return found if found is not None and found.id == message_id else None

    def after(self, number: int, *, limit: int) -> list[ReceivedMessage]:
        """Those that came after the message of this number, at most `limit` of the newest."""
        return list(islice(self._newer(number), limit))[::-1]

    def _newer(self, number: int) -> Iterator[ReceivedMessage]:
        for message in reversed(self._kept):
            if message.number <= number:
                return
            yield message

    def clear(self) -> int:
        """Forget all; how many there were."""
        count = len(self._kept)
        self._kept.clear()
        self.bytes = 0
        self.ring()
        return count

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def last_number(self) -> int:
        """The number of the newest message, kept or not."""
        return self._last
