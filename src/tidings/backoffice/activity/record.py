"""Records what operators do: requests that end at the same moment, of whatever tenants, share a transaction.

A row is committed before its answer is sent. Where the database takes none it goes to a sealed journal on the disk of this
host, from which it is written as soon as the database is back, by this process or, after a kill, by the next one here.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import msgspec

from tidings.backoffice.activity.model import (
    Activity,
    category_of,
    is_worth_a_row,
    outcome_of,
    property_of,
    resource_of,
)
from tidings.backoffice.activity.store import insert_activity
from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.ids import ACTIVITY
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import TidingsError
from tidings.kernel.gather import Gatherer
from tidings.kernel.http.operator_requests import OperatorRequest
from tidings.kernel.ids import time_of
from tidings.kernel.journal.file import is_left
from tidings.kernel.journal.journal import Journal
from tidings.kernel.logs import get_logger
from tidings.kernel.metrics import Metrics
from tidings.kernel.origin import current_origin

#: Rows of one transaction, and rows that wait for theirs: more go to the journal.
MOST_AT_ONCE: Final = 500
MOST_WAITING: Final = 5_000
#: Seconds that an answer waits for its row at most, before the journal takes it.
PATIENCE: Final = 2.0
#: Seconds between two attempts to write what is in the journal.
_AGAIN: Final = 5.0
#: Seconds in which an open page that asks itself anew is recorded once.
_OPEN_PAGE: Final = 600.0
_MOST_REMEMBERED: Final = 10_000
_LONGEST_MS: Final = 2**31 - 1

_log = get_logger("backoffice")


class ActivityRecorder:
    """One in each process that serves the API."""

    def __init__(
        self, db: Database, pepper: OperatorPepper, journal: Journal, *, clock: Clock, metrics: Metrics
    ) -> None:
        self._db = db
        self._pepper = pepper
        self._journal = journal
        self._clock = clock
        self._metrics = metrics
        # There before the first row: Prometheus sees no increase in a counter that is new to it.
        for where in ("database", "journal", "missed"):
            metrics.activity.labels(where)
        # The platform's own rows are written under another role.
        self._gatherer: Gatherer[bool, Activity, None] = Gatherer(
            self._write, most_at_once=MOST_AT_ONCE, most_waiting=MOST_WAITING
        )
        self._contexts: OrderedDict[tuple[str | None, str | None], str] = OrderedDict()
        self._open_pages: OrderedDict[tuple[str, str, str | None], float] = OrderedDict()
        #: In the journal and not written yet, by id.
        self._left: dict[str, Activity] = {}

    async def note(self, request: OperatorRequest) -> None:
        """Write a request down; returns when the row is committed, or on the disk."""
        if not is_worth_a_row(request) or self._is_known_page(request):
            return
        row = await self._row(request)
        try:
            async with asyncio.timeout(PATIENCE):
                await self._gatherer.do(row.tenant_id is None, row)
        except (TidingsError, TimeoutError):
            # A row that is committed after all is not written twice: its id is known.
            await self._keep([row])

    async def run(self, stop: asyncio.Event) -> None:
        """Write what is in journals: of this process, and of those that were killed. A job."""
        while not stop.is_set():
            await self.write_left()
            await wait_for_stop(stop, _AGAIN)
        await self.write_left()

    async def write_left(self) -> int:
        """One attempt; how many rows were written."""
        written = await self._write_own()
        for path in self._journal.files():
            if not is_left(path):
                continue
            entries = await self._journal.read(path)
            if entries is None:
                continue
            rows = [msgspec.json.decode(entry, type=Activity) for entry in entries]
            if not await self._try(rows):
                return written
            written += len(rows)
            self._journal.drop(path)
        return written

    async def close(self) -> None:
        """Nothing more comes."""
        await self._gatherer.close()

    async def _write_own(self) -> int:
        rows = list(self._left.values())
        if not rows or not await self._try(rows):
            return 0
        self._journal.settle([row.id for row in rows])
        for row in rows:
            del self._left[row.id]
        return len(rows)

    async def _try(self, rows: Sequence[Activity]) -> bool:
        try:
            for first in range(0, len(rows), MOST_AT_ONCE):
                some = rows[first : first + MOST_AT_ONCE]
                for of_platform in (False, True):
                    mine = [row for row in some if (row.tenant_id is None) is of_platform]
                    if mine:
                        await self._write(of_platform, mine)
        except TidingsError as error:
            _log.warning("activity_not_written", rows=len(rows), code=error.code)
            return False
        return True

    async def _write(self, of_platform: bool, rows: Sequence[Activity]) -> list[None]:  # noqa: FBT001  # the lane
        if of_platform:
            async with self._db.platform() as tx:
                await insert_activity(tx, rows)
        else:
            tenants = {row.tenant_id for row in rows if row.tenant_id is not None}
            async with self._db.tenants(tenants) as tx_of_set:
                await insert_activity(tx_of_set, rows)
        self._metrics.activity.labels("database").inc(len(rows))
        return [None] * len(rows)

    async def _keep(self, rows: Sequence[Activity]) -> None:
        await self._journal.get_ready()
        if len(self._left) >= MOST_WAITING or not self._journal.is_writing:
            self._metrics.activity.labels("missed").inc(len(rows))
            _log.error("activity_missed", rows=len(rows))
            return
        for row in rows:
            self._journal.append(row.id, msgspec.json.encode(row))
            self._left[row.id] = row
        self._metrics.activity.labels("journal").inc(len(rows))

    def _is_known_page(self, request: OperatorRequest) -> bool:
        """A page that is left open asks itself anew every few seconds: it has a row every ten minutes."""
        if not request.of_open_page or request.operation.method != "GET" or outcome_of(request) != "success":
            return False
        now = self._clock.monotonic()
        page = (request.caller.session_id or "", request.operation.path, resource_of(request)[1])
        known = self._open_pages.get(page)
        if known is not None and now - known < _OPEN_PAGE:
            return True
        self._open_pages[page] = now
        self._open_pages.move_to_end(page)
        if len(self._open_pages) > _MOST_REMEMBERED:
            self._open_pages.popitem(last=False)
        return False

    async def _row(self, request: OperatorRequest) -> Activity:
        id_ = ACTIVITY.new(self._clock.now())
        kind, resource_id = resource_of(request)
        caller = request.caller
        return Activity(
            id=id_,
            tenant_id=caller.tenant_id,
            occurred_at=time_of(id_),
            property_id=property_of(request),
            operator_id=caller.id,
            device_id=caller.device_id or "",
            session_id=caller.session_id or "",
            category=category_of(request),
            action=request.operation.name,
            resource_kind=kind,
            resource_id=resource_id,
            outcome=outcome_of(request),
            status=request.status,
            error_code=request.error_code,
            latency_ms=min(round(request.seconds * 1000), _LONGEST_MS),
            context_hash=await self._context(),
        )

    async def _context(self) -> str | None:
        origin = current_origin()
        if origin is None:
            return None
        place = (origin.client, origin.user_agent)
        known = self._contexts.get(place)
        if known is None:
            try:
                known = await self._pepper.hash("context", *place)
            except TidingsError:
                return None
            self._contexts[place] = known
            if len(self._contexts) > _MOST_REMEMBERED:
                self._contexts.popitem(last=False)
        return known
