"""The queue of executions that are due, and how its job paces itself."""

from typing import Final

from tidings.kernel.durable.claims import ClaimSettings, TableClaims
from tidings.router.executions.model import ExecutionId
from tidings.router.executions.store import QUERIES

#: What a dead worker was calling stays noted in its rows: the next worker writes that the answer was never learned, and
#: the execution goes on from there (`advance.py`). Among the `window` oldest of each priority tenants take turns.
DUE_EXECUTIONS: Final = TableClaims[ExecutionId](
    claim=QUERIES.claim_due, next_due=QUERIES.next_due, free_orphans=QUERIES.free_orphans, window=2_000
)
#: The job is woken for whatever this process leaves waiting.
DUE_SETTINGS: Final = ClaimSettings(limit=200, most_in_hand=2_000, most_of_a_tenant=None, locked_pause=0.02)
