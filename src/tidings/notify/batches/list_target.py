"""A file as the list of a batch: each row is a recipient, who is made known and put on the list with variables of their own."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tidings.contracts.ids import RecipientId
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.batches import store
from tidings.notify.batches.errors import BatchStateError
from tidings.notify.batches.list_variables import PREFIX, ListVariables
from tidings.notify.batches.model import BatchStatus, StoredBatch
from tidings.notify.imports.errors import UnreadableFileError
from tidings.notify.imports.model import ImportedRow, LineProblem
from tidings.notify.imports.recipient_target import RecipientTarget
from tidings.notify.imports.rows import RowReader
from tidings.notify.imports.target import Author, WriteResult
from tidings.notify.recipients.model import LIST_VARIABLES_PURPOSE
from tidings.notify.recipients.recipient_input import RecipientSpec
from tidings.notify.recipients.upsert import RecipientUpserter

_VARIABLES = "variables"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPerson:
    """Somebody on a list."""

    recipient: RecipientSpec
    variables: Mapping[str, Any] = field(repr=False)


class BatchListTarget(RecipientTarget):
    """Reads rows of recipients as an import does, and puts each on the list of a batch."""

    def __init__(
        self,
        upserter: RecipientUpserter,
        seen: StoredBatch,
        variables: ListVariables,
        *,
        keyring: Keyring,
        clock: Clock,
    ) -> None:
        """`variables` are read for the batch as it was `seen`."""
        super().__init__(upserter)
        self._seen = seen
        self._variables = variables
        self._keyring = keyring
        self._clock = clock

    def begin(self, reader: RowReader) -> str:
        """Refuse a file that lacks what the words need: each of its lines would be refused for that."""
        form = super().begin(reader)
        missing = [] if form == "json lines" else self._variables.missing()
        if missing:
            raise UnreadableFileError(
                f"must have a column for each variable that the template needs and the batch does not have: {', '.join(missing)}"
            )
        return form

    def means(self, heading: str) -> bool:
        """Columns of recipients, and of variables."""
        return super().means(heading) or self._variables.knows(heading)

    def known_headings(self) -> str:
        """The same, in words."""
        return f"{super().known_headings()}, the template's variables and {PREFIX}<name>"

    def check(self, row: ImportedRow) -> ListedPerson | list[LineProblem]:
        """Who it is and what is theirs, or all that is wrong."""
        own: Any
        if self.reads_json:
            values = dict(row.values)
            own = values.pop(_VARIABLES, {})
            if not isinstance(own, dict):
                return [LineProblem(row.line, _VARIABLES, "bad_variable", "must be an object")]
        else:
            values = {name: cell for name, cell in row.values.items() if not self._variables.is_one(name)}
            own = self._variables.of_cells(row.values)
        recipient = self.recipient_in(ImportedRow(line=row.line, values=values))
        problems = self._variables.problems(row.line, own)
        if isinstance(recipient, list):
            return [*recipient, *problems]
        return problems or ListedPerson(recipient=recipient, variables=own)

    def recipient_of(self, spec: Any) -> RecipientSpec:
        """Who it is."""
        found: RecipientSpec = spec.recipient
        return found

    async def write(self, tx: TenantTx, specs: Sequence[tuple[int, Any]], by: Author) -> WriteResult:
        """Upsert them all, and list them; who can't be is reported."""
        batch = await store.lock_batch(tx, self._seen.id)
        if batch.status is not BatchStatus.DRAFT:
            raise BatchStateError(f"{batch.id} is {batch.status.value}: the list of a draft alone is changed")
        if _words_of(batch) != _words_of(self._seen):
            raise BatchStateError(
                f"{batch.id} was changed while the file was read, and its lines were held against other words; send the file again"
            )
        # Every set of a file, not the first list alone: whom an approval was for is not who is on it now.
        brought = self._variables.declared({name for _, spec in specs for name in spec.variables})
        names = sorted({*batch.audience.variables, *brought})
        await store.set_listed(tx, batch.id, variables=names, changed_by=by.actor, now=self._clock.now())
        return await super().write(tx, specs, by)

    async def written(self, tx: TenantTx, people: Mapping[RecipientId, Any]) -> None:
        """Put them on the list. What their last line says is theirs."""
        keys = await self._keyring.data_keys(tx, [id_ for id_, one in people.items() if one.variables])
        sealed: dict[RecipientId, bytes | None] = {}
        for id_, one in people.items():
            # Who is erased at this moment is not written to any more.
            with suppress(DestroyedKeyError):
                sealed[id_] = (
                    keys[id_].seal(msgspec.json.encode(one.variables), LIST_VARIABLES_PURPOSE)
                    if one.variables
                    else None
                )
        await store.add_to_list(tx, self._seen.id, sealed)


def _words_of(batch: StoredBatch) -> tuple[object, ...]:
    """What says which words are said; sealed anew whenever a draft is written."""
    return batch.template_key, batch.channel, batch.variants, batch.variables_ciphertext
