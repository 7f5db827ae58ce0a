"""The journal of answers: what a vendor has answered is on the local disk before it is recorded in Postgres.

Between the two a worker can be killed. Without the journal the answers of its sets would be lost, and messages that vendors
had accepted would be sent twice; with it, only those whose answer was never read. An entry holds what the state machine
needs of an answer. Of a person it holds nothing but the address of a message that can be answered, under their own key.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from tidings.contracts.adapters import OUR_CODES, Capabilities
from tidings.contracts.delivery import AddressTold
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, RawAnswer, Refused, TryLater
from tidings.kernel.ids import TenantId
from tidings.kernel.journal.journal import FileVersion, Journal
from tidings.router.executions.model import ExecutionId, OutgoingExecution, ReservedAttempt
from tidings.router.vendors.learned_outcomes import OnOutcome

#: What the address in an entry is sealed for.
ADDRESS_PURPOSE: Final = "answer_journal"
#: The outcomes that are journalled: of the others the vendor's answer was not learned.
_KINDS: Final[tuple[type[Outcome], ...]] = (Accepted, Refused, TryLater)

#: So many attempts with answers that can't be recorded are remembered.
_MOST_REFUSED: Final = 10_000


class JournalEntry(msgspec.Struct, frozen=True, array_like=True):
    """An answer as it is written down."""

    tenant_id: TenantId
    execution_id: ExecutionId
    attempt_id: str
    #: Whether this vendor sends receipts, and recognises a repeated message.
    receipts: bool
    idempotent: bool
    #: Which of `_KINDS` it is.
    kind: int
    outcome: msgspec.Raw
    #: What is meant for single addresses, where it went to several.
    others: tuple[AddressTold, ...] = ()
    #: Where it can be answered: the address it went to, under the person's key.
    to: bytes | None = None

    def answer(self) -> Outcome:
        """What the vendor said."""
        kind: type[Outcome] = _KINDS[self.kind]
        return msgspec.msgpack.decode(self.outcome, type=kind)

    @property
    def is_readable(self) -> bool:
        """Whether this release understands the answer."""
        try:
            self.answer()
        except (msgspec.MsgspecError, IndexError):
            return False
        return True


class AnswerJournal:
    """Notes answers as they are read, and finds those that others could not record."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        #: By file: what it looked like when it was read, and what was in it.
        self._read: dict[Path, tuple[FileVersion, dict[str, JournalEntry]]] = {}
        #: Attempts whose answers can't be recorded.
        self._refused: set[str] = set()

    async def get_ready(self) -> None:
        """Await before a vendor is called."""
        await self.journal.get_ready()

    def listener(
        self,
        calls: Sequence[tuple[OutgoingExecution, ReservedAttempt]],
        capabilities: Capabilities,
    ) -> OnOutcome:
        """Hears the answers to these calls, each when it is read, and writes it down at once."""
        return lambda place, outcome: self._note(*calls[place], capabilities, outcome)

    def recorded(self, attempt_ids: Iterable[str]) -> None:
        """Their answers are in Postgres."""
        self.journal.settle(attempt_ids)

    def refused(self, attempt_ids: Iterable[str]) -> None:
        """The database does not take their answers: they are not found any more."""
        self._refused.update(attempt_ids)
        while len(self._refused) > _MOST_REFUSED:
            self._refused.pop()

    async def find(
        self, attempts: Collection[tuple[TenantId, str]]
    ) -> dict[tuple[TenantId, str], JournalEntry]:
        """By tenant and attempt, the answer that a worker of this host had read, alive or dead; each file is looked at once."""
        wanted = {attempt_id: tenant_id for tenant_id, attempt_id in attempts}
        found: dict[tuple[TenantId, str], JournalEntry] = {}
        if not wanted:
            return found
        for path in self.files():
            entries = await self.entries(path) or {}
            for id_ in (wanted.keys() & entries.keys()) - self._refused:
                if (entry := entries[id_]).tenant_id == wanted[id_] and entry.is_readable:
                    found[entry.tenant_id, id_] = entry
        return found

    def files(self) -> list[Path]:
        """All files of the host, the oldest first; what was read of others, which their writers removed, is forgotten."""
        paths = self.journal.files()
        self._read = {path: self._read[path] for path in paths if path in self._read}
        return paths

    async def entries(self, path: Path) -> Mapping[str, JournalEntry] | None:
        """By attempt, what is in a file; None where it can't be read."""
        version = self.journal.version(path)
        if version is None:
            self._read.pop(path, None)
            return {}
        if path in self._read and self._read[path][0] == version:
            return self._read[path][1]
        boxes = await self.journal.read(path)
        if boxes is None:
            return None
        # A message may have been told of twice: the last word counts.
        entries = {entry.attempt_id: entry for entry in map(_decoded, boxes) if entry is not None}
        self._read[path] = version, entries
        return entries

    def drop(self, path: Path) -> None:
        """Remove a file with nothing more to be taken from it."""
        self._read.pop(path, None)
        self.journal.drop(path)

    def _note(
        self,
        outgoing: OutgoingExecution,
        call: ReservedAttempt,
        capabilities: Capabilities,
        outcome: Outcome,
    ) -> None:
        if not _is_answer(outcome):
            return
        message, to = call.message, None
        if isinstance(outcome, Accepted) and outcome.sender is not None:
            key = message.key
            to = key.seal(message.to.encode(), ADDRESS_PURPOSE) if key and not key.destroyed else None
        entry = (
            outgoing.execution.tenant_id,
            outgoing.execution.id,
            call.attempt_id,
            capabilities.receipts,
            capabilities.idempotent,
            _KINDS.index(type(outcome)),
            _without_words(outcome),
            others_told(message, outcome),
            to,
        )
        self.journal.append(call.attempt_id, _ENCODER.encode(entry))


_ENCODER: Final = msgspec.msgpack.Encoder()


def others_told(message: OutboundMessage, outcome: Outcome) -> tuple[AddressTold, ...]:
    """What the vendor's refusals mean for single addresses of several, by the names that their owner gave them."""
    if not isinstance(outcome, Accepted | Refused) or not outcome.others:
        return ()
    ids = message.address_ids
    return tuple(
        AddressTold(address_id=ids[other.place], effect=other.refused.effect)
        for other in outcome.others
        if other.refused.effect is not None and other.place < len(ids)
    )


def _is_answer(outcome: Outcome) -> bool:
    """Whether the vendor said it: what we say ourselves was never sent, and may be tried again."""
    return isinstance(outcome, Accepted | Refused) or (
        isinstance(outcome, TryLater) and outcome.code not in OUR_CODES
    )


def _without_words(outcome: Outcome) -> Outcome:
    """The vendor's own words may hold an address, and are not needed to go on."""
    answer = outcome.answer
    if answer is None:
        return outcome
    return replace(outcome, answer=RawAnswer(content=b"", http_status=answer.http_status))


def _decoded(entry: bytes) -> JournalEntry | None:
    """None for one of another release."""
    try:
        return msgspec.msgpack.decode(entry, type=JournalEntry)
    except msgspec.MsgspecError:
        return None
