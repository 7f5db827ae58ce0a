"""What was planned for each message and what came of it: every receipt of the newest messages."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal

import msgspec

from tidings.contracts.callbacks import ReceiptWord
from tidings.kernel.mapping import by_name
from tidings.sandbox.scripts import ScriptedCost, ScriptedReceipt

State = Literal["planned", "sent", "answered", "given_up", "cancelled"]


@dataclass(slots=True, kw_only=True, eq=False)
class SandboxReceipt:
    """One receipt of one message."""

    #: The same when it is sent again, so that a repeat can be recognised.
    id: str
    message_id: str
    vendor: str
    beat: ScriptedReceipt
    #: When it is to be sent, and when it says that it happened.
    planned_at: datetime
    happened_at: datetime
    state: State = "planned"
    #: How often it was sent.
    tries: int = 0
    #: What the hook said to it: a status, 0 for no answer.
    answer: int | None = None
    answered_at: datetime | None = None


class SandboxReceiptView(msgspec.Struct, frozen=True, kw_only=True):
    """A receipt as the API shows it."""

    id: str
    status: ReceiptWord
    state: State
    planned_at: str
    happened_at: str
    tries: int
    answer: int | None
    answered_at: str | None
    code: str | None
    reason: str | None
    cost: ScriptedCost | None
    repeat: int
    forged: bool


@dataclass(slots=True, kw_only=True)
class Course:
    """What a message is in for, and how far it is."""

    message_id: str
    vendor: str
    #: None where its receipts are not wanted.
    script: str | None
    receipts: tuple[SandboxReceipt, ...]
    cancelled: bool = False
    #: Counts up with every change of any.
    change: int = 0

    @property
    def begun(self) -> bool:
        """A receipt has gone out."""
        return any(receipt.tries for receipt in self.receipts)

    @property
    def worth_telling(self) -> bool:
        """More than that it was taken can be said about it."""
        return bool(self.receipts) or self.cancelled

    @property
    def summary(self) -> str:
        """One word on how far it is, as far as was told."""
        if self.cancelled:
            return "cancelled"
        told = [receipt for receipt in self.receipts if receipt.tries and not receipt.beat.forged]
        return max(told, key=lambda receipt: receipt.happened_at).beat.status if told else "accepted"


class ReceiptLog:
    """The courses of the newest messages."""

    def __init__(self, *, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, Course] = OrderedDict()
        self._change = 0

    def add(self, course: Course) -> None:
        """Keep it; the one that changed least recently makes room."""
        self._kept[course.message_id] = course
        self.changed(course.message_id)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def get(self, message_id: str) -> Course | None:
        """The course of a message, if it is still kept."""
        return self._kept.get(message_id)

    def changed(self, message_id: str) -> None:
        """Something of it is another now."""
        course = self._kept.get(message_id)
        if course is not None:
            self._change += 1
            course.change = self._change
            self._kept.move_to_end(message_id)

    @property
    def last_change(self) -> int:
        """How many changes there were."""
        return self._change

    def after(self, change: int, *, limit: int) -> list[Course]:
        """Those that changed since then, at most `limit` of the latest."""
        return list(islice(self._newer(change), limit))[::-1]

    def _newer(self, change: int) -> Iterator[Course]:
        for course in reversed(self._kept.values()):
            if course.change <= change:
                return
            yield course


def show(receipt: SandboxReceipt) -> SandboxReceiptView:
    """All of it."""
    beat = msgspec.structs.asdict(receipt.beat)
    return by_name(
        SandboxReceiptView,
        receipt,
        **{name: beat[name] for name in ("status", "code", "reason", "cost", "repeat", "forged")},
        planned_at=moment(receipt.planned_at),
        happened_at=moment(receipt.happened_at),
        answered_at=moment(receipt.answered_at) if receipt.answered_at else None,
    )


def moment(at: datetime) -> str:
    """As RFC 3339 has it."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
