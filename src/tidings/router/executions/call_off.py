"""Has vendors cancel messages that are not needed any more: the losers of a race."""

from collections.abc import Sequence
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseError
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.router.executions import store
from tidings.router.executions.model import ExecutionClaim, moment
from tidings.router.state_machine.model import ClosedAttempt
from tidings.router.vendors.vendors import Vendors

_REASON: Final = "delivered_elsewhere"

_log = get_logger("executions")


async def call_off(
    db: Database,
    vendors: Vendors,
    needless: Sequence[tuple[ExecutionClaim, ClosedAttempt]],
    *,
    clock: Clock,
) -> None:
    """Ask each vendor of a tenant once; what it called off is noted. Their outcome is announced already: this is a courtesy."""
    by_vendor: dict[tuple[TenantId, str], dict[str, tuple[ExecutionClaim, str]]] = {}
    for execution, attempt in needless:
        if attempt.vendor is not None and attempt.provider_message_id is not None:
            of_vendor = by_vendor.setdefault((execution.tenant_id, attempt.vendor), {})
            of_vendor[attempt.provider_message_id] = (execution, attempt.id)
    for (tenant_id, vendor), messages in by_vendor.items():
        gone = await vendors.cancel(tenant_id, vendor, list(messages))
        told = [messages[message_id] for message_id in messages if message_id in gone]
        if told:
            try:
                async with db.tenants([tenant_id], by_index=True) as tx:
                    await store.note_clock_events(
                        tx, told, status="cancelled", reason=_REASON, now=moment(clock)
                    )
            except DatabaseError as error:
                _log.info("not_noted_as_called_off", count=len(told), error=error.code)
