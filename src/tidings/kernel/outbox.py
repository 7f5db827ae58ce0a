"""Writes events in the transaction of the change that they announce.

A crash after the commit loses nothing: the relay finds the rows. A rollback announces nothing.
"""

from collections.abc import Sequence
from functools import cache
from typing import LiteralString

from tidings.kernel.db import PlatformTx, TenantsTx, TenantTx
from tidings.kernel.events import Event, attributes_of
from tidings.kernel.mapping import columns
from tidings.kernel.sql import Queries


@cache
def _queries(schema: LiteralString) -> Queries:
    return Queries.beside(__file__, schema=schema)


def event_columns(events: Sequence[Event]) -> dict[str, list[str]]:
    """The events of one tenant as columns, for a statement that writes them along with the rows that they tell of.

    Such a statement spares a round trip; tenant and ordering key come from its own rows.
    """
    return {
        "event_ids": [event.id for event in events],
        "event_subjects": [event.subject for event in events],
        "event_payloads": [event.data for event in events],
        "event_envelopes": [attributes_of(event) for event in events],
    }


class Outbox:
    """The outbox of one service."""

    def __init__(self, schema: LiteralString) -> None:
        #: The schema it is in; the relay knows it by that name.
        self.schema = schema
        self._queries = _queries(schema)

    async def append(self, tx: TenantTx | TenantsTx | PlatformTx, events: Sequence[Event]) -> None:
        """Publish these events with whatever else `tx` commits, in this order.

        Two transactions that write events of one lane and don't wait for each other (by a lock on the row
        that both change, say) have no order between them, and their events have none either.
        """
        if not events:
            return
        # A tenant's own events: its id is sent once. All others are sent as they are, and refused where they may not be.
        own = None if isinstance(tx, TenantsTx) else tx.tenant_id
        if any(event.tenant_id != own for event in events):
            own = None
        await tx.execute(
            self._queries.append_events,
            **columns(events, "id subject ordering_key"),
            tenant_id=own,
            tenant_ids=[] if own is not None else [event.tenant_id for event in events],
            payloads=[event.data for event in events],
            envelopes=[attributes_of(event) for event in events],
        )
