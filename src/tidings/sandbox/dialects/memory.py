"""What a dialect remembers of the messages that it has taken: callbacks name sender and recipient again."""

from collections import OrderedDict
from dataclasses import replace
from typing import Final

from tidings.sandbox.dialects.dialect import SubmittedMessage

_MOST: Final = 50_000


class Memory:
    """The newest messages, without their words."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, SubmittedMessage] = OrderedDict()

    def keep(self, message_id: str, asked: SubmittedMessage) -> None:
        """Remember whom it is for; the oldest makes room."""
        self._kept[message_id] = replace(asked, subject=None, text=None, html=None)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)

    def get(self, message_id: str) -> SubmittedMessage | None:
        """What was asked, if it is still known."""
        return self._kept.get(message_id)
