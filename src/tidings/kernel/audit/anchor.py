"""Closes each finished month of an audit log with a signed anchor.

Before it signs, it walks every stream from where the last anchor left it: what was tampered with is named
and not signed over. A month is closed a little after its end, so that transactions that began in it are
through. After that its partition may be archived and dropped, and verification still passes.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime, timedelta

from tidings.kernel.audit.anchor_record import Anchor, AnchorKind, AnchorLine, AnchorSigner, Root
from tidings.kernel.audit.anchor_verify import AnchorCheck
from tidings.kernel.audit.chain import ChainFinding
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.audit.record import AuditSchema
from tidings.kernel.audit.verify import ANCHOR_STREAM, AuditVerifier
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.errors import AlreadyExistsError, BadValueError, TidingsError
from tidings.kernel.ids import ANCHOR, TENANT, TenantId, time_of
from tidings.kernel.logs import get_logger
from tidings.kernel.mapping import columns
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)
_CHUNK = 5000
#: Ids of tenants may come from elsewhere: by how much the clock there may be ahead at most.
_CLOCKS_DIFFER = timedelta(days=1)
#: How many faults an error carries; `tidings audit verify` tells them all.
_SHOWN = 20
_log = get_logger("audit")


class AuditBrokenError(TidingsError):
    """The audit is not as it was written; it is not signed over."""

    code = "audit_broken"

    def __init__(self, findings: Sequence[ChainFinding]) -> None:
        first = findings[0]
        super().__init__(
            f"the audit of {first.log} is not as it was written: row {first.id} {first.detail}; "
            "see `tidings audit verify`"
        )
        #: The first faults that were found.
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnchorKeeper:
    """Makes the anchors of one log."""

    db: Database
    log: AuditLog
    signer: AnchorSigner
    clock: Clock
    _: KW_ONLY
    grace: timedelta = timedelta(hours=1)
    #: Pause after each tenant, as a multiple of the time that it took: nobody waits for an anchor, and messages do.
    rest: float = 0.0

    async def close_finished_months(self, stop: asyncio.Event | None = None) -> list[Anchor]:
        """Anchor every month that is over and has none; the anchors made. `stop`: begin nothing more, and write no half one."""
        now = self.clock.now()
        last = await self._last()
        made: list[Anchor] = []
        for end in _month_ends(last.covers_until if last else None, now - self.grace):
            anchor = await self._take("month", end, last, stop)
            if anchor is None:
                break
            made.append(anchor)
            last = anchor
        return made

    async def take(self) -> Anchor | None:
        """Anchor what there is now, after any finished month; None where the log was never written to."""
        made = await self.close_finished_months()
        now = self.clock.now()
        # While the last month is not closed yet, an anchor may not reach past its end: each month needs a
        # line of its own, or it could not be archived by itself.
        month = _month_start(now)
        open_month = month if month > now - self.grace else _next_month(month)
        until = min(now + timedelta(milliseconds=1), open_month - timedelta(microseconds=1))
        last = made[-1] if made else await self._last()
        if last is not None and until <= last.covers_until:
            return last
        return await self._take("demand", until, last)

    async def _last(self) -> Anchor | None:
        return await AnchorCheck(self.db, self.log.schema, None).last()

    async def _take(
        self, kind: AnchorKind, until: datetime, last: Anchor | None, stop: asyncio.Event | None = None
    ) -> Anchor | None:
        walked = await self._walk(until, kind, stop or asyncio.Event())
        if walked is None:
            return None
        lines, row_count = walked
        if last is None and not lines:
            return None
        now = self.clock.now()
        root = Root.of(lines)
        unsigned = Anchor(
            log=self.log.schema,
            number=last.number + 1 if last else 1,
            id=ANCHOR.new(now),
            kind=kind,
            covers_from=last.covers_until if last else None,
            covers_until=until,
            taken_at=now,
            stream_count=root.count,
            row_count=row_count,
            root=root.value,
            prev_digest=last.digest if last else None,
            key_id="",
            signature=b"",
        )
        signature = await self.signer.sign(unsigned.signed_bytes())
        key_id = self.signer.key_id_of(signature)
        anchor = replace(unsigned, key_id=key_id, signature=signature)
        await self._write(anchor, lines)
        return anchor

    async def _walk(
        self, until: datetime, kind: AnchorKind, stop: asyncio.Event
    ) -> tuple[list[AnchorLine], int] | None:
        """Every stream to its end; None where it was told to stop before."""
        verifier = AuditVerifier(self.db, self.log.schema, None)
        owners = [_known(tenant, verifier) async for tenant in verifier.tenants()]
        lines: list[AnchorLine] = []
        row_count = 0
        for tenant_id in [*owners, None]:
            if kind == "month" and tenant_id is not None and time_of(tenant_id) >= until + _CLOCKS_DIFFER:
                # Nothing was written for a tenant before it was made.
                continue
            began = self.clock.monotonic()
            for entity_type in await verifier.entity_types(tenant_id):
                check = await verifier.begin(tenant_id, entity_type, from_last_line=True, cutoff=until)
                start = check.seq
                findings = [finding async for finding in verifier.walk(tenant_id, entity_type, check)]
                if findings:
                    raise AuditBrokenError(findings[:_SHOWN])
                row = check.last_before_cutoff
                if row is not None:
                    row_count += row.seq - start
                    lines.append(
                        AnchorLine(
                            tenant_id=tenant_id,
                            entity_type=entity_type,
                            seq=row.seq,
                            record_hash=row.record_hash,
                            last_at=row.occurred_at,
                        )
                    )
            pause = self.rest * (self.clock.monotonic() - began)
            if stop.is_set() or (pause > 0 and await wait_for_stop(stop, pause)):
                return None
        return lines, row_count

    async def _write(self, anchor: Anchor, lines: list[AnchorLine]) -> None:
        async with self.db.platform() as tx:
            await tx.execute(_QUERIES.insert_anchor, anchor)
            for chunk in _chunks(lines):
                await tx.execute(
                    _QUERIES.insert_lines,
                    **columns(chunk, "tenant_id entity_type seq last_at"),
                    log=anchor.log,
                    number=anchor.number,
                    record_hashes=[line.record_hash for line in chunk],
                )
            # The log tells of its own anchors, so that a vanished last one is missed.
            entry = Entry(
                entity_type=ANCHOR_STREAM,
                entity_id=anchor.id,
                action="anchored",
                actor="system",
                after={"number": anchor.number, "digest": anchor.digest, "covers_until": anchor.covers_until},
            )
            await self.log.append(tx, [entry])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnchorJob:
    """Looks every hour whether a month has ended.

    `on_broken` hears which log could not be signed, each time it is tried.
    """

    keepers: Sequence[AnchorKeeper]
    _: KW_ONLY
    every: timedelta = timedelta(hours=1)
    on_broken: Callable[[AuditSchema], None] | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Work until told to stop."""
        while not stop.is_set():
            for keeper in self.keepers:
                await self._close(keeper, stop)
            await wait_for_stop(stop, self.every.total_seconds())

    async def _close(self, keeper: AnchorKeeper, stop: asyncio.Event) -> None:
        try:
            for anchor in await keeper.close_finished_months(stop):
                _log.info("audit_anchored", log=anchor.log, anchor_id=anchor.id, streams=anchor.stream_count)
        except AuditBrokenError as broken:
            # A person has to look; trying again sooner would not help.
            log = broken.findings[0].log
            _log.error("audit_broken", log=log, findings=len(broken.findings))
            if self.on_broken is not None:
                self.on_broken(log)
        except AlreadyExistsError:
            _log.info("audit_anchored_elsewhere")


def _known(tenant: str, verifier: AuditVerifier) -> TenantId | None:
    try:
        return TENANT.parse(tenant)
    except BadValueError:
        raise AuditBrokenError([verifier.finding_of_stranger(tenant)]) from None


def _month_start(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _next_month(start: datetime) -> datetime:
    return _month_start(start + timedelta(days=32))


def _month_ends(covered: datetime | None, now: datetime) -> Iterator[datetime]:
    """The ends of months after `covered` and not after `now`; without a beginning, only the last one."""
    current = _month_start(now)
    end = current if covered is None else _next_month(_month_start(covered))
    while end <= current:
        yield end
        end = _next_month(end)


def _chunks(lines: list[AnchorLine]) -> Iterator[list[AnchorLine]]:
    for start in range(0, len(lines), _CHUNK):
        yield lines[start : start + _CHUNK]
